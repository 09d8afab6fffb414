package node_test

import (
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

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

// pace is a time on a page that makes a crawl last long enough to be disturbed on a busy machine.
const pace = 500 * time.Millisecond

// slow returns a terrain whose crawl takes a while, with leases that a busy machine can keep. Its shards are
// shared evenly, whichever node joins first.
func slow(t *testing.T, seed uint64, nodes, shards int) *terrain {
	t.Helper()
	cfg := web(t, seed)
	cfg.Crawler.MinimumTimeOnPage, cfg.Politeness.MaxSuspension = pace, 4*pace
	tr := newTerrain(t, cfg, nodes, shards)
	tr.faster = 8
	tr.even()
	return tr
}

// even limits every node to its share of the files, even if another node joins late.
func (tr *terrain) even() {
	tr.most = map[int]int{}
	for n := range tr.folders {
		tr.most[n] = (tr.shards + len(tr.folders) - 1) / len(tr.folders)
	}
}

// released makes a node release a shard. It retries if a busy machine has just lost the lease. A node whose answer
// comes late has no more to report.
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

// release releases a shard that no node holds.
func (tr *terrain) release(conn *hub.Conn, shard int) (r node.Released, err error) {
	err = patient(func() (err error) { r, err = node.Release(tr.t.Context(), conn, shard, tr.timing()); return err })
	return r, err
}

// A released shard is taken, once, by the running node to which its file is moved, and nothing is lost.
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

// A shard is released whose node is about to take it, because the hub has lost everything. The file is not free
// until that node has let go of it.
func TestReleaseWhileItIsTaken(t *testing.T) {
	t.Parallel()
	tr := slow(t, 22, 1, 2)
	end, _ := tr.start(0)
	tr.works(10)
	shard := tr.shardOf(0)
	tr.lose()
	conn := tr.connect()
	var r node.Released
	err := patient(func() (err error) {
		r, err = node.Release(t.Context(), conn, shard, tr.timing())
		return err
	}, node.ErrNone, node.ErrSilent)
	if err != nil || r.Path != tr.file(0, shard) {
		t.Errorf("%+v, %v", r, err)
	}
	// The hub knows of a release before the node has told of it.
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if state := tr.stateOf(0, shard); state != "released" {
		t.Errorf("the shard is %s", state)
	}
}

// A shard that is moved to a node whose configuration file does not yet agree with the terrain's waits there until
// it does.
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

// comesTo waits until the file of a running shard says that the terrain has reached a configuration.
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

// A released shard whose file is not moved is left alone until the node is restarted.
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

// If a hub has lost everything, a node whose shards were moved away waits for others to restore the terrain,
// however long that takes.
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
	if empty { // as if a node was killed right after it had made the file
		if err := crawltest.Open(t, tr.file(0, shard)).Close(); err != nil {
			t.Fatal(err)
		}
	}
	tr.onShard = func(n, of int, state string) { // the real file comes long after an empty one that does not wait
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

// If a hub has lost everything, a file that was made and never crawled does not get the shard before the real one,
// even if it has waited longer.
func TestEmptyFileComesSecond(t *testing.T) {
	t.Parallel()
	for range 4 { // on a machine that is too busy it may be first
		if comesSecond(t) {
			return
		}
	}
	t.Error("the file that was never crawled comes first")
}

func comesSecond(t *testing.T) bool {
	tr := slow(t, 29, 3, 2)
	tr.faster = 4 // gives the real file enough time
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
		_ = errors.Join(end(), endEmpty()) // they would wait for the real file
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	tr.ends(tells, empty)
	tr.same(1)
	return true
}

// A node with an older copy of one file leaves that alone and crawls its other shard, and it ends if it has no other
// file. With the newest file, the map is that of a single machine.
func TestOlderCopyBesideGoodFile(t *testing.T) {
	t.Parallel()
	tr := slow(t, 29, 2, 4)
	_, first := tr.start(0)
	end, _ := tr.start(1)
	tr.works(20)
	stop := func() {
		t.Helper()
		if err := end(); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	stop()
	shard := tr.shardOf(1)
	older, err := os.ReadFile(tr.file(1, shard))
	if err != nil {
		t.Fatal(err)
	}
	tr.becomes(1, shard, "")
	end, _ = tr.start(1)
	for tr.stateOf(1, shard) != "crawling" {
		if err := sleep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	newest, away := filepath.Join(t.TempDir(), "newest.bolt"), filepath.Join(t.TempDir(), "away.bolt")
	tr.move(tr.file(1, shard), newest)
	if err := os.WriteFile(tr.file(1, shard), older, 0o600); err != nil {
		t.Fatal(err)
	}
	good := tr.goodShard(1, shard)
	tr.becomes(1, good, "")
	tr.refuses(1, shard)
	tr.move(tr.file(1, good), away)
	var written *lease.WrittenError
	if err := tr.run(t.Context(), 1, tr.cfg); !errors.As(err, &written) || !strings.Contains(err.Error(), tr.file(1, shard)) {
		t.Errorf("with the older copy alone, the node ends with %v", err)
	}
	tr.move(away, tr.file(1, good))
	tr.move(newest, tr.file(1, shard))
	_, second := tr.start(1)
	tr.ends(first, second)
	tr.same(1)
}
