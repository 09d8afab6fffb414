//go:build linux || darwin

package proof

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// moveSteps are the steps of a move after which a machine is killed: first those of the one that has the shard, then
// those of the other one.
var moveSteps = [2][]string{
	{"copied", "stopped", "copied whole", "marked", "released", "claimed"},
	{"begun", "equal", "whole", "taken"},
}

// moveByCommand moves a shard to a machine, as "ripple shard move" does, over the wire of that machine.
func (ms *machines) moveByCommand(ctx context.Context, shard int, to *machine) error {
	conn, err := hub.Connect(ctx, hub.Dial{
		URL: "nats://" + to.wire.Addr(), Node: "command", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = node.Move(ctx, conn, shard, to.folder, crawltest.Timing(30), func(node.Progress) {})
	return err
}

// moveAny moves a shard that is being crawled to another machine, whatever happens to both meanwhile. The move may
// fail.
func (ms *machines) moveAny() error {
	ms.places.Lock()
	defer ms.places.Unlock()
	nodes := len(ms.all) - 1
	at := ms.below(nodes)
	from, to := ms.all[at], ms.all[(at+1+ms.below(nodes-1))%nodes]
	shards := from.shards()
	if len(shards) == 0 {
		return nil
	}
	shard := shards[ms.below(len(shards))]
	ctx, cancel := context.WithTimeout(ms.t.Context(), 10*time.Second)
	defer cancel()
	err := ms.moveByCommand(ctx, shard, to)
	if err == nil {
		ms.moved.Add(1)
	}
	ms.note(fmt.Sprintf("shard %d from %s to %s: %v", shard, from.folder, to.folder, err))
	return ms.onePlace(shard)
}

// onePlace waits until a move is over: the shard has one file, and no copy, unless that is left from a move that failed
// while the machine with the copy was away.
func (ms *machines) onePlace(shard int) error {
	single := time.Time{}
	for began := time.Now(); time.Since(began) < patience; time.Sleep(20 * time.Millisecond) {
		files := 0
		for _, m := range ms.all {
			if slices.Contains(m.shards(), shard) {
				files++
			}
		}
		copies := partials(ms, shard)
		switch {
		case files != 1:
			single = time.Time{}
		case len(copies) == 0:
			return nil
		case single.IsZero():
			single = time.Now()
		case time.Since(single) > 8*time.Second:
			ms.note(fmt.Sprintf("left: %v", copies))
			return nil
		}
	}
	said := fmt.Sprintf("shard %d has not one file", shard)
	for _, m := range ms.all {
		text := m.words()
		said += fmt.Sprintf("\n%s with shards %v: %s", m.folder, m.shards(), text[max(0, len(text)-2000):])
	}
	return errors.New(said)
}

// TestMoveKilled kills one of the two machines of a move between each two of its steps, and wipes the hub meanwhile, or
// not. The map is that of one crawl, and no host is requested by two machines at once.
func TestMoveKilled(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	r, schedule := rand.New(rand.NewPCG(seed, 8)), uint64(0)
	for dies, steps := range moveSteps {
		for _, step := range steps {
			for _, wiped := range []bool{false, true} {
				schedule++
				seed := seed + schedule
				if !crawltest.Full() && r.IntN(10) > 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s/wiped=%t", strings.ReplaceAll(step, " ", "-"), wiped), func(t *testing.T) {
					t.Parallel()
					moveKilled(t, seed, dies, step, wiped)
				})
			}
		}
	}
}

// moveKilled kills the machine from which a shard is moved, or with dies = 1 the one to which it is.
func moveKilled(t *testing.T, seed uint64, dies int, step string, wiped bool) {
	const shards, gap = 3, 300 * time.Millisecond
	web := crawltest.Serve(t)
	crawltest.Sites(web, seed, 12)
	text := func(gap time.Duration) string { return fmt.Sprintf(machinesConfig, gap.Milliseconds(), "") }
	want := alone(t, crawltest.Parse(t, crawltest.Config(t, web, text(100*time.Millisecond))))
	web.ResetLog()
	ms := newMachines(t, rand.New(rand.NewPCG(seed, 9)), web, text(gap), 3, shards)
	pair := ms.all[:2]
	for i, m := range ms.all {
		var env []string
		if i == dies {
			env = append(env, envMoves+"="+step)
		}
		if err := ms.start(m, env...); err != nil {
			t.Fatal(err)
		}
	}
	shard, err := ms.crawls(pair[0])
	if err == nil {
		err = ms.crawlsAny(pair[1])
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	moved := make(chan error, 1)
	go func() { moved <- ms.moveByCommand(ctx, shard, pair[1]) }()
	victim := pair[dies]
	if err := victim.end(); err == nil || strings.Contains(victim.words(), "panic") {
		t.Fatalf("it is not killed: %v", err)
	}
	ms.dies(victim)
	if wiped {
		if err := ms.wipeTheHub(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ms.start(victim); err != nil {
		t.Fatal(err)
	}
	if err := ms.onePlace(shard); err != nil {
		t.Fatal(err)
	}
	cancel()
	there := slices.Contains(pair[1].shards(), shard)
	t.Logf("seed %d: the move ends with %v; the shard is at its new place: %t", seed, <-moved, there)
	if given := slices.Contains([]string{"marked", "released", "claimed", "taken"}, step); given && !there {
		t.Errorf("seed %d: a shard whose file is marked has not moved", seed)
	}
	got, _, err := ms.end()
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("seed %d: digest %s, want %s", seed, got, want)
	}
	ms.polite(gap)
}

// gave reports whether a machine has the file of a shard only because it was given to another one, which may crawl it:
// it has said so, or it has not crawled the shard since it was started, and another one has a file of it.
func (ms *machines) gave(m *machine, shard int) bool {
	words := m.words()
	at := func(state string) int { return strings.LastIndex(words, fmt.Sprintf("shard %d: %s\n", shard, state)) }
	crawled := at("crawling")
	if crawled >= 0 {
		return max(at("given"), at("moved")) > crawled
	}
	return slices.ContainsFunc(ms.all, func(o *machine) bool { return o != m && slices.Contains(o.shards(), shard) })
}

// crawls returns a shard that a machine crawls, once it does.
func (ms *machines) crawls(m *machine) (shard int, err error) {
	if err := ms.crawlsAny(m); err != nil {
		return 0, err
	}
	for _, n := range m.shards() {
		if strings.Contains(m.words(), fmt.Sprintf("shard %d: crawling\n", n)) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s crawls none of %v", m.folder, m.shards())
}

func (ms *machines) crawlsAny(m *machine) error {
	var lines []string
	for n := range 10 {
		lines = append(lines, fmt.Sprintf("shard %d: crawling", n))
	}
	return m.says(lines...)
}

// partials returns the copies of a shard's file that may still be used.
func partials(ms *machines, shard int) (left []string) {
	for _, m := range ms.all {
		for _, state := range []string{"part", "whole"} {
			files, _ := filepath.Glob(m.file(shard) + ".*." + state) // the pattern is well formed
			left = append(left, files...)
		}
	}
	return left
}
