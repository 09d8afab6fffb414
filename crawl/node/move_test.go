package node_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/crawl/node"
	"github.com/sumi-ripple/ripple/kv"
)

// connect reaches the hub for one who commands.
func (tr *terrain) connect() *hub.Conn {
	tr.t.Helper()
	conn, err := hub.Connect(tr.t.Context(), hub.Dial{URL: tr.server.URL(), Node: "test", Log: tr.options.Log})
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(conn.Close)
	return conn
}

// start starts a node, which ends when the function is called that it returns; err is why.
func (tr *terrain) start(n int) (end func() error, ended <-chan error) {
	ctx, cancel := context.WithCancel(tr.t.Context())
	over := make(chan error, 1)
	go func() { over <- tr.run(ctx, n, tr.cfg) }()
	return func() error { cancel(); return <-over }, over
}

func (tr *terrain) timing() lease.Timing { return lease.Standard().Faster(tr.faster) }

// works waits for so many requests more.
func (tr *terrain) works(more int) {
	tr.t.Helper()
	for before := tr.requests(); tr.requests() < before+more; {
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
}

// ends waits for nodes to come to the end of the run.
func (tr *terrain) ends(nodes ...<-chan error) {
	tr.t.Helper()
	for n, ended := range nodes {
		if err := <-ended; err != nil {
			tr.t.Fatalf("node %d: %v", n, err)
		}
	}
}

// same compares the map with that of one machine.
func (tr *terrain) same(runs int) {
	tr.t.Helper()
	if got, want := tr.united(), alone(tr.t, tr.cfg, runs); got != want {
		tr.t.Errorf("digest %s, want %s", got, want)
	}
}

// shardOf is a shard whose file a node has.
func (tr *terrain) shardOf(n int) int {
	tr.t.Helper()
	files, err := filepath.Glob(filepath.Join(tr.folders[n], "shard-*.bolt"))
	if err != nil || len(files) == 0 {
		tr.t.Fatalf("node %d has no file: %v", n, err)
	}
	return int(files[0][len(files[0])-6] - '0')
}

func (tr *terrain) file(n, shard int) string {
	return filepath.Join(tr.folders[n], "shard-00"+string(rune('0'+shard))+".bolt")
}

// move moves a file.
func (tr *terrain) move(from, to string) {
	tr.t.Helper()
	if err := os.Rename(from, to); err != nil {
		tr.t.Fatal(err)
	}
}

// slow is a terrain that takes a while, as each host is asked no more often than twice in a
// second, with leases that a busy machine can keep.
func slow(t *testing.T, seed uint64, nodes, shards int) *terrain {
	t.Helper()
	cfg := web(t, seed, "")
	cfg.Crawler.MinimumTimeOnPage = 500 * time.Millisecond
	tr := newTerrain(t, cfg, nodes, shards)
	tr.faster = 5
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
	if again, err := node.Release(t.Context(), conn, shard, tr.timing()); err != nil || again.Path != "" || again.Node != "node 0" {
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
	tr.works(5)
	conn := tr.connect()
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

// recreate has a node make shards anew.
func (tr *terrain) recreate(conn *hub.Conn, n int, shards ...int) (next bool, err error) {
	return node.Recreate(tr.t.Context(), conn, node.Recreation{
		Node: "node " + string(rune('0'+n)), Shards: shards, Timing: tr.timing(), Clock: lease.MachineClock(),
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
		tr := slow(t, 23, 2, 4)
		endFirst, first := tr.start(0)
		end, _ := tr.start(1)
		tr.works(20)
		shard := tr.shardOf(1)
		old, endSecond, second := tr.lost(1, shard, end)
		conn := tr.connect()
		tr.until("the rest of node 1 answers", conn, func(s node.Shard) bool { return s.Node == "node 1" && s.Report != nil })
		tr.settle(conn, shard)
		if next, err := tr.recreate(conn, 0, shard); err != nil || next {
			t.Fatalf("recreate: %t, %v", next, err)
		}
		tr.until("the new file is crawled", conn, func(s node.Shard) bool {
			return s.Number == shard && s.Node == "node 0" && s.Report != nil
		})
		if wiped {
			tr.wiped(conn, shard, old, endFirst, endSecond)
			_, first = tr.start(0)
			_, second = tr.start(1)
		} else {
			tr.move(old, tr.file(1, shard)) // to a node that runs, which leaves it alone
		}
		tr.ends(first, second)
		if !wiped {
			if err := tr.run(t.Context(), 1, tr.cfg); !errors.Is(err, lease.ErrAnew) || !strings.Contains(err.Error(), tr.file(1, shard)) {
				t.Errorf("the old file at the next start: %v", err)
			}
			tr.move(tr.file(1, shard), old)
		}
		tr.same(1)
	}
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
		if err != nil {
			tr.t.Fatal(err)
		}
		if _, epochs, ok := bytes.Cut(known, []byte(`"epochs":`)); ok && bytes.ContainsRune(epochs, '1') {
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
func (tr *terrain) wiped(conn *hub.Conn, shard int, old string, ends ...func() error) {
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
