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

// slow is a terrain that takes a while, as each host is asked no more often than twice in a
// second, with leases that a busy machine can keep.
func slow(t *testing.T, seed uint64, nodes, shards int) *terrain {
	t.Helper()
	cfg := web(t, seed, "")
	cfg.Crawler.MinimumTimeOnPage = 500 * time.Millisecond
	tr := newTerrain(t, cfg, nodes, shards)
	tr.faster = 8
	return tr
}

// A shard that is released is taken by the running node that its file is moved to, once; and
// nobody loses anything.
func TestRelease(t *testing.T) {
	t.Parallel()
	tr := slow(t, 21, 2, 3)
	var mu sync.Mutex
	var told []string
	tr.onShard = func(shard int, state string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, string(rune('0'+shard))+" "+state)
	}
	_, first := tr.start(0)
	_, second := tr.start(1)
	tr.works(10)
	conn, shard := tr.connect(), tr.shardOf(0)
	r, err := node.Release(t.Context(), conn, shard, tr.timing())
	if err != nil || r.Node != "node 0" || r.Path != tr.file(0, shard) || r.Silent {
		t.Fatalf("%+v, %v", r, err)
	}
	again, err := node.Release(t.Context(), conn, shard, tr.timing())
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

// A released shard whose file is not moved is left alone until the node is started again.
func TestReleasedIsLeftAlone(t *testing.T) {
	t.Parallel()
	tr := slow(t, 22, 1, 2)
	end, _ := tr.start(0)
	conn := tr.connect()
	tr.until("shard 1 is held", conn, func(s node.Shard) bool { return s.Number == 1 && s.Report != nil })
	for _, shard := range []int{7, -1} {
		if _, err := node.Release(t.Context(), conn, shard, tr.timing()); !errors.Is(err, node.ErrShard) {
			t.Errorf("shard %d: %v", shard, err)
		}
	}
	if r, err := node.Release(t.Context(), conn, 1, tr.timing()); err != nil || r.Path == "" {
		t.Fatalf("%+v, %v", r, err)
	}
	tr.until("shard 0 is done and waits", conn, func(s node.Shard) bool {
		return s.Number == 0 && s.Report != nil && len(s.Report.Backlog) > 0 && !s.Report.Backlog[0].Silent.IsZero()
	})
	tr.until("shard 1 is nobody's", conn, func(s node.Shard) bool { return s.Number == 1 && s.Node == "" && s.Maker == "node 0" })
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if r, err := node.Release(t.Context(), conn, 1, tr.timing()); err != nil || r.Path != "" || r.Silent || r.Node != "node 0" {
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
	tr.onShard = func(n int, state string) {
		if n == shard && state == "waiting" {
			waiting()
		}
	}
	_, tells := tr.start(0)
	tr.until("the terrain is known", tr.connect(), func(node.Shard) bool { return true })
	_, empty := tr.start(2)
	<-waits
	_, has := tr.start(1)
	tr.ends(tells, has, empty)
	tr.same(1)
}

// recreate has a node make shards anew.
func (tr *terrain) recreate(conn *hub.Conn, n int, shards ...int) (next bool, err error) {
	return node.Recreate(tr.t.Context(), conn, node.Recreation{
		Node: tr.name(n), Shards: shards, Timing: tr.timing(), Clock: lease.MachineClock(),
	})
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
	if next, err := tr.recreate(conn, 0, shard); err != nil || next {
		t.Fatalf("recreate: %t, %v", next, err)
	}
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
			tr.until("every other shard answers", conn, func(s node.Shard) bool { return s.Number == n && s.Report != nil })
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
	if _, err := node.Release(t.Context(), conn, 2, tr.timing()); !errors.Is(err, node.ErrUnmade) {
		t.Errorf("a shard without a file is let go: %v", err)
	}
	for _, shards := range [][]int{{3}, {0, -1}} {
		if _, err := tr.recreate(conn, 0, shards...); !errors.Is(err, node.ErrShard) {
			t.Errorf("shards %v: %v", shards, err)
		}
	}
	shard := tr.shardOf(0)
	var held *lease.HeldError
	if _, err := tr.recreate(conn, 1, shard); !errors.As(err, &held) || held.Node != tr.name(0) {
		t.Errorf("a shard that a node holds: %v", err)
	}
	if err := errors.Join(end(), endSecond()); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := tr.recreate(conn, 1, shard); !errors.Is(err, node.ErrSilent) {
		t.Errorf("while another shard is silent: %v", err)
	}
	tr.most = nil
	tr.all()
	tr.same(1)
}

// A shard whose file is lost after the run was over, or when it is over for others already,
// is made anew for the next run, and says that it knows nothing of those before.
func TestRecreateForTheNextRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"after the run", "while it ends"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTerrain(t, web(t, 25, ""), 2, 4)
			tr.faster = 5
			tr.all()
			shard := tr.shardOf(1)
			if err := os.Remove(tr.file(1, shard)); err != nil {
				t.Fatal(err)
			}
			conn := tr.connect()
			if name == "while it ends" {
				tr.lose() // and is told that it is over by one node after the other
				_, first := tr.start(0)
				tr.until("shards of node 0 are over", conn, func(s node.Shard) bool { return s.Report != nil && s.Report.Over })
				tr.madeAnew(conn, shard)
				_, second := tr.start(1)
				tr.ends(first, second)
			} else {
				tr.madeAnew(conn, shard)
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

// madeAnew has node 0 make a shard anew for the next run.
func (tr *terrain) madeAnew(conn *hub.Conn, shard int) {
	tr.t.Helper()
	if next, err := tr.recreate(conn, 0, shard); err != nil || !next {
		tr.t.Fatalf("recreate: %t, %v", next, err)
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
