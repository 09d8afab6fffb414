package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/crawl/node"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// pace is the time on a page with which a crawl takes a while, so that it goes on when a busy machine does something to
// it.
const pace = 500 * time.Millisecond

// slow is a terrain that takes a while, with leases that a busy machine can keep. Its shards are shared out evenly,
// whichever node comes first.
func slow(t *testing.T, seed uint64, nodes, shards int) *terrain {
	t.Helper()
	cfg := web(t, seed, "")
	cfg.Crawler.MinimumTimeOnPage, cfg.Politeness.MaxSuspension = pace, 4*pace
	tr := newTerrain(t, cfg, nodes, shards)
	tr.faster = 8
	tr.even()
	return tr
}

// even has no node make more files than its share, also where another one comes late.
func (tr *terrain) even() {
	tr.most = map[int]int{}
	for n := range tr.folders {
		tr.most[n] = (tr.shards + len(tr.folders) - 1) / len(tr.folders)
	}
}

// released has the node let a shard go that has it, again where a busy machine has lost it just then. A node whose
// answer is late has nothing more to say of it.
func (tr *terrain) released(conn *hub.Conn, n, shard int) {
	tr.t.Helper()
	var r node.Released
	for r.Path == "" && tr.stateOf(n, shard) != "released" {
		err := patient(func() (err error) {
			r, err = node.Release(tr.t.Context(), conn, shard, tr.timing())
			return err
		}, node.ErrSilent)
		if err != nil || r.Node != tr.name(n) || r.Path != "" && r.Path != tr.file(n, shard) {
			tr.t.Fatalf("%+v, %v", r, err)
		}
	}
	for tr.stateOf(n, shard) != "released" {
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// release has a shard let go that nobody has, and returns what is said of it.
func (tr *terrain) release(conn *hub.Conn, shard int) (r node.Released, err error) {
	err = patient(func() (err error) { r, err = node.Release(tr.t.Context(), conn, shard, tr.timing()); return err })
	return r, err
}

// A shard that is released is taken by the running node that its file is moved to, once; and
// nobody loses anything.
func TestRelease(t *testing.T) {
	t.Parallel()
	tr := slow(t, 21, 2, 3)
	var mu sync.Mutex
	var told []string
	tr.onShard = func(_, shard int, state string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, string(rune('0'+shard))+" "+state)
	}
	_, first := tr.start(0)
	_, second := tr.start(1)
	tr.works(10)
	conn, shard := tr.connect(), tr.shardOf(0)
	tr.released(conn, 0, shard)
	again, err := tr.release(conn, shard)
	if err != nil || again.Path != "" || again.Node != "node 0" {
		t.Errorf("released again: %+v, %v", again, err)
	}
	tr.move(tr.file(0, shard), tr.file(1, shard))
	tr.ends(first, second)
	if left, err := os.Stat(tr.file(0, shard)); err == nil {
		t.Errorf("node 0 has %s again", left.Name())
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(told, string(rune('0'+shard))+" released") {
		t.Errorf("shard %d was not released: %v", shard, told)
	}
	tr.same(1)
}

// A shard that is moved to a node whose own configuration file does not say the same as the terrain's yet waits there
// until it does.
func TestReleaseToOneThatIsBehind(t *testing.T) {
	t.Parallel()
	tr := slow(t, 8, 2, 4)
	other := *tr.cfg
	tr.cfg.Crawler.MaxDepth--
	_, first := tr.start(0)
	_, second := tr.start(1)
	tr.works(8)
	conn, shard := tr.connect(), tr.shardOf(0)
	tr.write(0, &other)
	if number, err := tr.reload(conn, &other); err != nil || number != 2 {
		t.Fatal(number, err)
	}
	tr.comesTo(shard, 2)
	tr.released(conn, 0, shard)
	tr.move(tr.file(0, shard), tr.file(1, shard))
	tr.until("the shard waits", conn, func(s node.Shard) bool {
		select {
		case err := <-second:
			t.Fatalf("the node ends, with all of its shards: %v", err)
		default:
		}
		return s.Number == shard && s.Node == tr.name(1) && s.Report != nil && s.Report.Status.Status == "waiting"
	})
	tr.write(1, &other)
	tr.ends(first, second)
	tr.cfg = &other
	tr.same(1)
}

// comesTo waits until the file of a shard that is crawled says that the terrain has come to a configuration.
func (tr *terrain) comesTo(shard int, number uint64) {
	tr.t.Helper()
	for {
		tr.mu.Lock()
		walk := tr.walks[shard].Crawl
		tr.mu.Unlock()
		if walk != nil {
			if r, err := walk.Reading(tr.t.Context()); err == nil && r.Configuration == number {
				return
			}
		}
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// A released shard whose file is not moved is left alone until the node is started again.
func TestReleasedIsLeftAlone(t *testing.T) {
	t.Parallel()
	tr := slow(t, 22, 1, 2)
	end, _ := tr.start(0)
	conn := tr.connect()
	tr.until("shard 1 is held", conn, func(s node.Shard) bool { return s.Number == 1 && s.Report != nil })
	for _, shard := range []int{7, -1} {
		if _, err := tr.release(conn, shard); !errors.Is(err, node.ErrShard) {
			t.Errorf("shard %d: %v", shard, err)
		}
	}
	tr.released(conn, 0, 1)
	tr.until("shard 0 is done and waits", conn, func(s node.Shard) bool {
		return s.Number == 0 && s.Report != nil && len(s.Report.Backlog) > 0 && !s.Report.Backlog[0].Silent.IsZero()
	})
	tr.until("shard 1 is nobody's", conn, func(s node.Shard) bool {
		return s.Number == 1 && s.Node == "" && s.Maker == "node 0"
	})
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if r, err := tr.release(conn, 1); err != nil || r.Path != "" || r.Silent || r.Node != "node 0" {
		t.Errorf("of a node that is off: %+v, %v", r, err)
	}
	tr.all()
	tr.same(1)
}

// A node whose shards were moved away leaves it to others to tell a hub of their terrain that
// has lost everything, however long they take.
func TestNodeWithoutShards(t *testing.T) {
	t.Parallel()
	for _, empty := range []bool{false, true} {
		t.Run(fmt.Sprintf("empty=%t", empty), func(t *testing.T) {
			t.Parallel()
			testNodeWithoutShards(t, empty)
		})
	}
}

func testNodeWithoutShards(t *testing.T, empty bool) {
	tr := slow(t, 28, 2, 2)
	tr.most = map[int]int{0: 1, 1: 1}
	first, _ := tr.start(0)
	second, _ := tr.start(1)
	tr.works(10)
	for _, end := range []func() error{first, second} {
		if err := end(); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	shard := tr.shardOf(0)
	tr.move(tr.file(0, shard), tr.file(1, shard))
	tr.lose()
	if empty { // as it is left where a node is killed right after it has made one
		if err := crawltest.Open(t, tr.file(0, shard)).Close(); err != nil {
			t.Fatal(err)
		}
	}
	tr.onShard = func(n, of int, state string) { // it comes long after one that does not wait for it
		if empty && n == 1 && of == shard && state == "waiting" {
			time.Sleep(2 * tr.timing().Watch)
		}
	}
	_, ended := tr.start(0)
	time.Sleep(3 * tr.timing().Renew)
	if _, err := node.Look(t.Context(), tr.connect()); !errors.Is(err, node.ErrNone) {
		t.Errorf("a hub that nobody has told of a terrain: %v", err)
	}
	_, also := tr.start(1)
	tr.ends(ended, also)
	tr.same(1)
}

// Where a hub has lost everything, a file that was made and never crawled does not come before
// that of the shard, though its node waits for longer.
func TestEmptyFileComesSecond(t *testing.T) {
	t.Parallel()
	for range 4 { // a machine that is busy for longer than that one waits may let it come first
		if comesSecond(t) {
			return
		}
	}
	t.Error("the file that was never crawled comes first")
}

func comesSecond(t *testing.T) bool {
	tr := slow(t, 29, 3, 2)
	tr.faster = 4 // so that the second one comes in time
	tr.most = map[int]int{0: 1, 1: 1}
	first, _ := tr.start(0)
	second, _ := tr.start(1)
	tr.works(10)
	if err := errors.Join(first(), second()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	shard := tr.shardOf(1)
	tr.lose()
	if err := crawltest.Open(t, tr.file(2, shard)).Close(); err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{})
	waiting := sync.OnceFunc(func() { close(waits) })
	tr.onShard = func(n, _ int, state string) {
		if n == 2 && state == "waiting" {
			waiting()
		}
	}
	end, tells := tr.start(0)
	tr.until("the terrain is known", tr.connect(), func(node.Shard) bool { return true })
	endEmpty, empty := tr.start(2)
	<-waits
	_, has := tr.start(1)
	err := <-has
	if first := new(lease.WrittenError); errors.As(err, &first) && first.Node == tr.name(2) {
		_ = errors.Join(end(), endEmpty()) // they would wait for it
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	tr.ends(tells, empty)
	tr.same(1)
	return true
}

// recreate has a node make shards anew.
func (tr *terrain) recreate(conn *hub.Conn, n int, shards ...int) (next bool, err error) {
	err = patient(func() (err error) {
		next, err = node.Recreate(tr.t.Context(), conn, node.Recreation{
			Node: tr.name(n), Shards: shards, Timing: tr.timing(), Clock: lease.MachineClock(),
		})
		return err
	})
	return next, err
}

// recreated has a node make shards anew, from this run on or from the next, again where another shard was slow to
// answer.
func (tr *terrain) recreated(conn *hub.Conn, n int, next bool, shards ...int) {
	tr.t.Helper()
	var got bool
	err := patient(func() (err error) { got, err = tr.recreate(conn, n, shards...); return err }, node.ErrSilent)
	if err != nil || got != next {
		tr.t.Fatalf("recreate: %t, %v", got, err)
	}
}

// lost has a node lose the file of a shard in mid-run, and start again without it. It returns
// where the old file is, and how the node ends.
func (tr *terrain) lost(n, shard int, end func() error) (old string, again func() error, ended <-chan error) {
	tr.t.Helper()
	if err := end(); !errors.Is(err, context.Canceled) {
		tr.t.Fatal(err)
	}
	old = filepath.Join(tr.t.TempDir(), "old.bolt")
	tr.move(tr.file(n, shard), old)
	again, ended = tr.start(n)
	return old, again, ended
}

// A file that is gone in mid-run is made anew by another node: all others tell it what they
// know, and the map is that of one machine. The old one is refused afterwards, also where the
// hub has lost everything and the node that has the new one is off.
func TestRecreate(t *testing.T) {
	t.Parallel()
	for _, wiped := range []bool{false, true} {
		t.Run(fmt.Sprintf("wiped=%t", wiped), func(t *testing.T) {
			t.Parallel()
			testRecreate(t, wiped)
		})
	}
}

func testRecreate(t *testing.T, wiped bool) {
	tr := slow(t, 23, 2, 4)
	endFirst, first := tr.start(0)
	end, _ := tr.start(1)
	tr.works(20)
	shard := tr.shardOf(1)
	old, endSecond, second := tr.lost(1, shard, end)
	conn := tr.connect()
	tr.settle(conn, shard)
	tr.recreated(conn, 0, false, shard)
	tr.until("the new file is crawled", conn, func(s node.Shard) bool {
		return s.Number == shard && s.Node == "node 0" && s.Report != nil
	})
	if wiped {
		tr.wiped(shard, old, endFirst, endSecond)
		_, first = tr.start(0)
		_, second = tr.start(1)
		tr.ends(first, second)
		tr.same(1)
		return
	}
	tr.move(old, tr.file(1, shard)) // to a node that runs, which leaves it alone
	tr.ends(first, second)
	err := tr.run(t.Context(), 1, tr.cfg)
	if !errors.Is(err, lease.ErrAnew) || !strings.Contains(err.Error(), tr.file(1, shard)) {
		t.Errorf("the old file at the next start: %v", err)
	}
	tr.move(tr.file(1, shard), old)
	tr.same(1)
}

// settle waits until all shards but one answer.
func (tr *terrain) settle(conn *hub.Conn, but int) {
	tr.t.Helper()
	for n := range tr.shards {
		if n != but {
			tr.until("every other shard answers", conn, func(s node.Shard) bool {
				return s.Number == n && s.Report != nil
			})
		}
	}
}

// knows waits until the file of a shard knows of a shard that was made anew.
func (tr *terrain) knows(shard int) {
	tr.t.Helper()
	for range 6000 {
		tr.mu.Lock()
		walk := tr.walks[shard]
		tr.mu.Unlock()
		var known []byte
		err := walk.Crawl.View(func(tx *kv.Tx) (err error) { known, err = tx.Meta.Value("epochs"); return err })
		// one that has ended since is followed by another
		if _, epochs, ok := bytes.Cut(known, []byte(`"epochs":`)); err == nil && ok && bytes.ContainsRune(epochs, '1') {
			return
		}
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
	tr.t.Fatalf("the file of shard %d knows of no other", shard)
}

// wiped stops both nodes, has the hub lose everything, and shows that the files of node 1 know
// that the old file was given up.
func (tr *terrain) wiped(shard int, old string, ends ...func() error) {
	tr.t.Helper()
	tr.knows(tr.shardOf(1))
	for _, end := range ends {
		if err := end(); !errors.Is(err, context.Canceled) {
			tr.t.Fatal(err)
		}
	}
	tr.lose()
	tr.move(old, tr.file(1, shard))
	if err := tr.run(tr.t.Context(), 1, tr.cfg); !errors.Is(err, lease.ErrAnew) {
		tr.t.Errorf("the old file at a hub that has lost everything: %v", err)
	}
	tr.move(tr.file(1, shard), old)
	tr.lose() // what it was told by that
}

// What cannot be made anew, or let go, is refused, and nothing has changed by that.
func TestRecreateRefused(t *testing.T) {
	t.Parallel()
	unlost(t, func() bool { return recreateRefused(t) })
}

func recreateRefused(t *testing.T) (lost bool) {
	tr := slow(t, 24, 2, 3)
	tr.most = map[int]int{0: 1, 1: 1}
	end, _ := tr.start(0)
	endSecond, _ := tr.start(1)
	conn := tr.connect()
	for n := range 2 {
		tr.until("a shard of each node answers", conn, func(s node.Shard) bool {
			return s.Maker == tr.name(n) && s.Report != nil
		})
	}
	if _, err := tr.recreate(conn, 0, 2); !errors.Is(err, node.ErrUnmade) {
		t.Errorf("a shard without a file: %v", err)
	}
	if _, err := tr.release(conn, 2); !errors.Is(err, node.ErrUnmade) {
		t.Errorf("a shard without a file is let go: %v", err)
	}
	for _, shards := range [][]int{{3}, {0, -1}} {
		if _, err := tr.recreate(conn, 0, shards...); !errors.Is(err, node.ErrShard) {
			t.Errorf("shards %v: %v", shards, err)
		}
	}
	shard := tr.shardOf(0)
	var held *lease.HeldError
	err := patient(func() error { _, err := tr.recreate(conn, 1, shard); return err }, node.ErrSilent)
	if ended := errors.Join(end(), endSecond()); err == nil && tr.lapsed() {
		return true
	} else if !errors.Is(ended, context.Canceled) {
		t.Fatal(ended)
	}
	if !errors.As(err, &held) || held.Node != tr.name(0) {
		t.Errorf("a shard that a node holds: %v", err)
	}
	if _, err := tr.recreate(conn, 1, shard); !errors.Is(err, node.ErrSilent) {
		t.Errorf("while another shard is silent: %v", err)
	}
	tr.most = nil
	tr.all()
	tr.same(1)
	return false
}

// A shard whose file is lost after the run was over, or when it is over for others already,
// is made anew for the next run, and says that it knows nothing of those before.
func TestRecreateForTheNextRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"after the run", "while it ends"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := web(t, 25, "")
			cfg.Politeness.MaxSuspension = time.Second
			tr := newTerrain(t, cfg, 2, 4)
			tr.faster = 5
			tr.even()
			tr.all()
			shard := tr.shardOf(1)
			if err := os.Remove(tr.file(1, shard)); err != nil {
				t.Fatal(err)
			}
			conn := tr.connect()
			if name == "while it ends" {
				tr.lose() // and is told that it is over by one node after the other
				_, first := tr.start(0)
				tr.until("shards of node 0 are over", conn, func(s node.Shard) bool {
					return s.Report != nil && s.Report.Over
				})
				tr.recreated(conn, 0, true, shard)
				_, second := tr.start(1)
				tr.ends(first, second)
			} else {
				tr.recreated(conn, 0, true, shard)
			}
			for tr.runs(0) < 2 {
				tr.all()
			}
			if got, end := tr.runs(0), tr.endOf(0, shard); got != 2 || end.Kind != schema.EndAnew {
				t.Errorf("%d runs, the first of which ended: %s", got, end)
			}
			tr.same(2)
		})
	}
}

// endOf is why the first run of a shard ended.
func (tr *terrain) endOf(n, shard int) (end schema.End) {
	tr.read(tr.file(n, shard), func(runs []schema.Run) { end = runs[0].End })
	return end
}

// runs is how many runs the files of a node know of, which must be all the same.
func (tr *terrain) runs(n int) (count int) {
	tr.t.Helper()
	files, err := filepath.Glob(filepath.Join(tr.folders[n], "shard-*.bolt"))
	if err != nil {
		tr.t.Fatal(err)
	}
	for i, path := range files {
		tr.read(path, func(runs []schema.Run) {
			if i > 0 && len(runs) != count {
				tr.t.Errorf("%s knows of %d runs, another file of %d", path, len(runs), count)
			}
			count = len(runs)
		})
	}
	return count
}

func (tr *terrain) read(path string, f func([]schema.Run)) {
	tr.t.Helper()
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		tr.t.Fatal(err)
	}
	defer store.Close()
	err = store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		f(runs)
		return err
	})
	if err != nil {
		tr.t.Fatal(err)
	}
}
