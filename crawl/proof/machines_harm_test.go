//go:build linux || darwin

package proof

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// machinesConfig is the configuration of a crawl that is harmed. The crawl takes longer than most
// of the harm.
const machinesConfig = `
[crawler]
max-depth = 3
minimum-time-on-page = %d
%s[politeness]
minimum-time-per-address = "2ms"
` + crawltest.SeedsOfSites

// A harm is something that goes wrong with machines.
type harm struct {
	name  string
	do    func(*machines) error
	times int // per schedule
}

// harms returns the kinds of harm, as often as a full schedule has them.
func harms() []harm {
	return []harm{
		{"nodes killed", (*machines).killNode, 7},
		{"hubs killed", (*machines).killTheHub, 2},
		{"hubs wiped", (*machines).wipeTheHub, 1},
		{"nodes stopped", (*machines).stopNode, 2},
		{"shards taken from stopped nodes", (*machines).moveShard, 1},
		{"shards moved", (*machines).moveAny, 3},
		{"wires cut", (*machines).cutWire, 2},
		{"wires silenced", (*machines).silenceWire, 1},
	}
}

// stopped is how long a process is stopped: longer than a lease in these tests.
const stopped = 1200 * time.Millisecond

// any locks one of the nodes that may be harmed: not the last one, which is away.
func (ms *machines) any() *machine {
	m := ms.all[ms.below(len(ms.all)-1)]
	m.Lock()
	return m
}

func (ms *machines) killNode() error {
	m := ms.any()
	defer m.Unlock()
	if err := ms.kill(m); err != nil {
		return err
	}
	ms.rest(500 * time.Millisecond)
	return ms.start(m)
}

func (ms *machines) killTheHub() error { return ms.hubAnew(func() error { return nil }) }

// wipeTheHub wipes the hub while no shard has two files: the hub alone knows which of two is older.
func (ms *machines) wipeTheHub() error {
	ms.places.RLock()
	defer ms.places.RUnlock()
	return ms.hubAnew(func() error { return os.RemoveAll(ms.store) })
}

func (ms *machines) hubAnew(between func() error) error {
	ms.hub.Lock()
	defer ms.hub.Unlock()
	ms.killHub()
	if err := between(); err != nil {
		return err
	}
	ms.rest(500 * time.Millisecond)
	return ms.startHub()
}

// stopNode stops a process for longer than its leases are trusted.
func (ms *machines) stopNode() error {
	ms.places.RLock()
	defer ms.places.RUnlock()
	m := ms.any()
	defer m.Unlock()
	if err := m.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return alive(err)
	}
	time.Sleep(stopped)
	return alive(m.cmd.Process.Signal(syscall.SIGCONT))
}

// alive returns the error of a signal, unless the process had already ended.
func alive(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil // its exit is checked at the end
	}
	return err
}

// moveShard stops a process, and makes another one take a shard of it. When the first process
// resumes, it must notice that. moveShard does nothing if all nodes wait for the node that is away:
// they were killed while the hub was being wiped, before they had crawled anything.
func (ms *machines) moveShard() error {
	ms.places.Lock()
	defer ms.places.Unlock()
	for began := time.Now(); time.Since(began) < patience; ms.rest(50 * time.Millisecond) {
		if moved, err := ms.tryMove(); moved || err != nil {
			return err
		}
		waits := func(m *machine) bool { return strings.Contains(m.words(), "waiting for a machine that has a shard") }
		if time.Since(began) > patience/12 && slices.ContainsFunc(ms.all, waits) {
			ms.note("no shard is taken: nobody knows the terrain")
			return nil
		}
	}
	told := "nobody crawls a shard"
	for _, m := range ms.all {
		text := m.words()
		told += fmt.Sprintf("\n%s with shards %v: %s", m.folder, m.shards(), text[max(0, len(text)-2000):])
	}
	return errors.New(told)
}

// tryMove moves a shard that is being crawled from one node to another. moved is false if the node
// crawls none just now.
func (ms *machines) tryMove() (moved bool, err error) {
	nodes := len(ms.all) - 1
	from := ms.below(nodes)
	to := (from + 1 + ms.below(nodes-1)) % nodes
	for _, n := range []int{min(from, to), max(from, to)} { // always in this order, to avoid a deadlock
		ms.all[n].Lock()
		defer ms.all[n].Unlock()
	}
	m := ms.all[from]
	// A shard that was never crawled may stay with the node that created it.
	shards := slices.DeleteFunc(m.shards(), func(n int) bool {
		return !strings.Contains(m.words(), fmt.Sprintf("shard %d: crawling\n", n))
	})
	if len(shards) == 0 {
		return false, nil
	}
	return true, ms.move(m, ms.all[to], shards[ms.below(len(shards))])
}

// move makes a node take a shard of another one, which is stopped meanwhile.
func (ms *machines) move(from, to *machine, shard int) error {
	if err := from.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	text, err := os.ReadFile(from.file(shard))
	if err == nil {
		err = ms.kill(to)
	}
	if err == nil {
		err = os.WriteFile(to.file(shard), text, 0o600)
	}
	if err == nil {
		err = ms.start(to)
	}
	if err == nil {
		err = to.says(fmt.Sprintf("shard %d: crawling", shard), fmt.Sprintf("shard %d: over", shard))
	}
	if err != nil {
		return err
	}
	if err := from.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	// A node that has other shards crawls them; one that has none ends.
	if err := from.says(fmt.Sprintf("shard %d: stale", shard)); err == nil {
		if err := errors.Join(os.Remove(from.file(shard)), ms.kill(from)); err != nil {
			return err
		}
	} else if err := from.end(); err == nil || !strings.Contains(err.Error(), from.file(shard)) {
		return fmt.Errorf("whose shard %d another has taken ends with %v", shard, err)
	}
	// The node removes an empty file itself.
	if err := os.Remove(from.file(shard)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return ms.start(from)
}

func (ms *machines) cutWire() error {
	ms.places.RLock()
	defer ms.places.RUnlock()
	m := ms.all[ms.below(len(ms.all)-1)]
	m.wire.Cut(true)
	ms.rest(stopped)
	m.wire.Cut(false)
	return nil
}

func (ms *machines) silenceWire() error {
	ms.places.RLock()
	defer ms.places.RUnlock()
	m := ms.all[ms.below(len(ms.all)-1)]
	m.wire.Silence()
	ms.rest(2 * stopped)
	m.wire.Cut(false)
	return nil
}

// suffer does all the harm, two at a time, in random order.
func (ms *machines) suffer(all []harm) error {
	var list []harm
	for _, h := range all {
		for range h.times {
			list = append(list, h)
		}
	}
	ms.r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var g errgroup.Group
	for _, half := range [][]harm{list[:len(list)/2], list[len(list)/2:]} {
		g.Go(func() error {
			for _, h := range half {
				ms.rest(300 * time.Millisecond)
				ms.note(h.name)
				if err := h.do(ms); err != nil {
					return fmt.Errorf("%s: %w", h.name, err)
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// TestMachines crawls a web with a hub and nodes as processes. Nodes are killed, stopped for longer
// than their leases, and cut off, while the hub is killed and loses its store. The map is that of
// one crawl, no host is requested by two nodes at once, and none early.
func TestMachines(t *testing.T) {
	t.Parallel()
	seed, schedules, all := crawltest.Seed(t), 1, harms()
	if crawltest.Full() {
		schedules = 8 // with more, two processors are too busy to keep leases
	} else {
		for i := range all {
			all[i].times = (all[i].times + 2) / 3
		}
	}
	var requests atomic.Int64
	t.Run("schedules", func(t *testing.T) {
		for i := range schedules {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				requests.Add(int64(oneSchedule(t, seed+uint64(i), all)))
			})
		}
	})
	done := fmt.Sprintf("%d away", schedules)
	for _, h := range all {
		done += fmt.Sprintf(", %d %s", schedules*h.times, h.name)
	}
	t.Logf("seed %d: %d schedules of kills: %s; %d requests", seed, schedules, done, requests.Load())
}

// oneSchedule returns the number of requests that the web has seen.
func oneSchedule(t *testing.T, seed uint64, all []harm) int {
	const shards, gap = 7, 300 * time.Millisecond
	web := crawltest.Serve(t)
	crawltest.Sites(web, seed, 20)
	listed := sitemapsOver(t, web, shards, "h0.test")
	text := func(gap time.Duration) string { return fmt.Sprintf(machinesConfig, gap.Milliseconds(), readsSitemaps) }
	want := alone(t, crawltest.Parse(t, crawltest.Config(t, web, text(100*time.Millisecond))))
	web.ResetLog()
	ms := newMachines(t, rand.New(rand.NewPCG(seed, 4)), web, text(gap), 4, shards)
	away := ms.all[len(ms.all)-1] // so that the run does not end before all harm is done
	for _, m := range ms.all {
		var env []string
		if m == away {
			env = append(env, envDies+"=1")
		}
		if err := ms.start(m, env...); err != nil {
			t.Fatal(err)
		}
	}
	if err := away.end(); err == nil {
		t.Fatal("it is not killed when it crawls")
	}
	ms.dies(away)
	err := ms.suffer(all)
	if err == nil {
		err = ms.start(away)
	}
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	got, merged, err := ms.end()
	if err != nil {
		t.Fatalf("seed %d: %v\nafter %s", seed, err, strings.Join(ms.harmed, "\n"))
	}
	if got != want {
		t.Errorf("seed %d: digest %s, want %s, after %s", seed, got, want, strings.Join(ms.harmed, "\n"))
	}
	requireListed(t, merged, listed)
	t.Logf("%d shards were moved by command", ms.moved.Load())
	requests := ms.polite(gap)
	if t.Failed() {
		t.Logf("seed %d: after %s", seed, strings.Join(ms.harmed, "\n"))
	}
	return requests
}

// TestTakeOver makes a node take a shard of a killed one, with real leases: it takes half a minute,
// and no host is requested by both.
func TestTakeOver(t *testing.T) {
	if !crawltest.Full() {
		t.Skip("takes two minutes: RIPPLE_PROOF=full")
	}
	t.Parallel()
	const shards, gap = 4, 300 * time.Millisecond
	seed := crawltest.Seed(t)
	web := crawltest.Serve(t)
	crawltest.Sites(web, seed, 20)
	text := fmt.Sprintf(machinesConfig, gap.Milliseconds(), "")
	want := alone(t, crawltest.Parse(t, crawltest.Config(t, web, text)))
	web.ResetLog()
	ms := newMachines(t, rand.New(rand.NewPCG(seed, 5)), web, text, 2, shards)
	ms.faster = "1"
	from, to := ms.all[0], ms.all[1]
	took, err := ms.takeOver(from, to, shards)
	if err != nil {
		t.Fatal(err)
	}
	if least := crawltest.Timing(1).Watch; took < least {
		t.Errorf("a shard is taken %v after its node was killed, want %v", took, least)
	}
	got, _, err := ms.end()
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("seed %d: digest %s, want %s", seed, got, want)
	}
	t.Logf("taken after %v; %d requests", took, ms.polite(gap))
}

// takeOver starts two nodes, kills one of them, and makes the other one take a shard of it. It
// returns the time from the kill until the shard is crawled.
func (ms *machines) takeOver(from, to *machine, shards int) (took time.Duration, err error) {
	for _, m := range ms.all {
		if err := ms.start(m); err != nil {
			return 0, err
		}
	}
	for _, m := range ms.all {
		var lines []string
		for n := range shards {
			lines = append(lines, fmt.Sprintf("shard %d: crawling", n))
		}
		if err := m.says(lines...); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(ms.kill(from), ms.kill(to)); err != nil {
		return 0, err
	}
	killed, shard := time.Now(), from.shards()[0]
	if err := os.Rename(from.file(shard), to.file(shard)); err != nil {
		return 0, err
	}
	if err := errors.Join(ms.start(to), ms.start(from)); err != nil {
		return 0, err
	}
	err = to.says(fmt.Sprintf("shard %d: crawling", shard))
	return time.Since(killed), err
}
