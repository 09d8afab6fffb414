package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	split "github.com/sumi-ripple/ripple/schema/shard"
)

// recreate makes a node recreate shards.
func (tr *terrain) recreate(conn *hub.Conn, n int, shards ...int) (next bool, err error) {
	err = patient(func() (err error) {
		next, err = node.Recreate(tr.t.Context(), conn, node.Recreation{
			ID: tr.id(n), Node: tr.name(n), Shards: shards, Config: tr.cfg, Timing: tr.timing(), Clock: lease.MachineClock(),
		})
		return err
	})
	return next, err
}

// recreated makes a node recreate shards, and checks whether they take part from this run or the next. It retries
// if another shard was slow to answer.
func (tr *terrain) recreated(conn *hub.Conn, n int, next bool, shards ...int) {
	tr.t.Helper()
	var got bool
	err := patient(func() (err error) { got, err = tr.recreate(conn, n, shards...); return err }, node.ErrSilent)
	if err != nil || got != next {
		tr.t.Fatalf("recreate: %t, %v", got, err)
	}
}

// lost makes a node lose the file of a shard in the middle of a run, and restarts it without the file. It returns
// the new path of the file, and how to end the node, as start does.
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

// A file that is lost in the middle of a run is recreated by another node: all others send it what they know, and
// the map is that of a single machine. The old file is refused afterwards, even if the hub has lost everything and
// the node with the new file is off.
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
	tr.move(old, tr.file(1, shard)) // the running node leaves it alone
	tr.ends(first, second)
	own := tr.folders[1]
	tr.folders[1] = t.TempDir()
	tr.move(filepath.Join(own, filepath.Base(tr.file(1, shard))), tr.file(1, shard))
	err := tr.run(t.Context(), 1, tr.cfg) // with no other file
	if !errors.Is(err, lease.ErrRecreated) || !strings.Contains(err.Error(), tr.file(1, shard)) {
		t.Errorf("the old file at the next start: %v", err)
	}
	tr.folders[1] = own
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

// knows waits until the file of a shard knows that another shard was recreated.
func (tr *terrain) knows(shard int) {
	tr.t.Helper()
	for range 6000 {
		tr.mu.Lock()
		walk := tr.walks[shard]
		tr.mu.Unlock()
		var known []byte
		err := walk.Crawl.View(func(tx *kv.Tx) (err error) { known, err = tx.Meta.Value("epochs"); return err })
		// a crawl that has ended is followed by another
		if _, epochs, ok := bytes.Cut(known, []byte(`"epochs":`)); err == nil && ok && bytes.ContainsRune(epochs, '1') {
			return
		}
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
	tr.t.Fatalf("the file of shard %d knows of no other", shard)
}

// wiped stops both nodes, makes the hub lose everything, and checks that the files of node 1 know that the old
// file was given up.
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
	tr.refuses(1, shard)
	tr.move(tr.file(1, shard), old)
	tr.lose() // what the run above has restored
}

// refuses starts a node until it has refused a file that was given up, and crawls another one.
func (tr *terrain) refuses(n, shard int) {
	tr.t.Helper()
	end, ended := tr.start(n)
	for good := tr.goodShard(n, shard); tr.stateOf(n, shard) != "stale" || tr.stateOf(n, good) != "crawling"; {
		select {
		case err := <-ended:
			tr.t.Fatalf("the node ends: %v", err)
		default:
		}
		if state := tr.stateOf(n, shard); state == "held" {
			tr.t.Fatalf("shard %d is %s with a file that was given up", shard, state)
		}
		if err := sleep(tr.t.Context()); err != nil {
			tr.t.Fatal(err)
		}
	}
	if err := end(); !errors.Is(err, context.Canceled) {
		tr.t.Error(err)
	}
}

// goodShard returns a shard other than one whose file a node has.
func (tr *terrain) goodShard(n, stale int) int {
	for shard := range tr.shards {
		if _, err := os.Stat(tr.file(n, shard)); err == nil && shard != stale {
			return shard
		}
	}
	tr.t.Fatal("the node has no other file")
	return 0
}

// A shard that cannot be recreated or released is refused, and nothing changes.
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
	unmade := 3 - tr.shardOf(0) - tr.shardOf(1)
	if _, err := tr.recreate(conn, 0, unmade); !errors.Is(err, node.ErrUnmade) {
		t.Errorf("a shard without a file: %v", err)
	}
	if _, err := tr.release(conn, unmade); !errors.Is(err, node.ErrUnmade) {
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

// A shard whose file is lost after the run, or when the run is already over for others, is recreated for the next
// run. The new file says that it knows nothing about the earlier runs.
func TestRecreateForTheNextRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"after the run", "while it ends"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := web(t, 25)
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
				tr.lose() // the nodes report one by one that the run is over
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
			if got, end := tr.runs(0), tr.endOf(0, shard); got != 2 || end.Kind != schema.EndRecreated {
				t.Errorf("%d runs, the first of which ended: %s", got, end)
			}
			tr.same(2)
		})
	}
}

// While a file that was recreated during the run still lacks what the old one had, the merged map of all shards is
// nevertheless consistent.
func TestRecreatedIsMergedInMidRun(t *testing.T) {
	t.Parallel()
	for seed, more := range []int{0, 6} {
		t.Run(fmt.Sprint(more), func(t *testing.T) {
			t.Parallel()
			tr := slow(t, 60+uint64(seed), 2, 4)
			endFirst, _ := tr.start(0)
			end, _ := tr.start(1)
			tr.works(20)
			shard := tr.shardOf(1)
			_, endSecond, _ := tr.lost(1, shard, end)
			conn := tr.connect()
			tr.settle(conn, shard)
			tr.recreated(conn, 0, false, shard)
			tr.until("the new file is crawled", conn, func(s node.Shard) bool {
				return s.Number == shard && s.Node == "node 0" && s.Report != nil
			})
			if more > 0 {
				tr.works(more)
			}
			first, second := endFirst(), endSecond()
			if !errors.Is(first, context.Canceled) || !errors.Is(second, context.Canceled) {
				t.Fatal(first, second)
			}
			files, err := filepath.Glob(filepath.Join(tr.folders[0], "shard-*.bolt"))
			others, err2 := filepath.Glob(filepath.Join(tr.folders[1], "shard-*.bolt"))
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			crawltest.Merge(t, filepath.Join(t.TempDir(), "merged.bolt"), append(files, others...))
		})
	}
}

// The sites of a shard whose file was recreated rest for the longest time that they may have requested from the
// old one.
func TestRecreateRests(t *testing.T) {
	t.Parallel()
	const rest = 20 * time.Second
	s := crawltest.Serve(t)
	for _, name := range []string{"h0.test", "h1.test"} {
		s.Host(name).Handle("/*", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", strconv.Itoa(int(rest.Seconds())))
			w.WriteHeader(http.StatusTooManyRequests)
		})
		s.Host(name).Robots("User-agent: *\nAllow: /\n")
	}
	cfg := crawltest.Parse(t, crawltest.Config(t, s, crawltest.SeedsOfSites))
	cfg.Crawler.MinimumTimeOnPage, cfg.Politeness.MaxSuspension = pace, rest
	tr := newTerrain(t, cfg, 2, 2)
	tr.faster = 8
	tr.even()
	var ends [2]func() error
	ends[0], _ = tr.start(0)
	ends[1], _ = tr.start(1)
	tr.works(4) // robots.txt and "/" of both sites, which belong to one shard
	has, shard := 0, tr.shardOf(0)
	if rule, err := split.New(2); err != nil || rule.Of("h0.test") != rule.Of("h1.test") {
		t.Fatal(err)
	} else if rule.Of("h0.test") != shard {
		has, shard = 1, 1-shard
	}
	conn := tr.connect()
	_, ends[has], _ = tr.lost(has, shard, ends[has])
	tr.settle(conn, shard)
	tr.recreated(conn, 1-has, false, shard)
	tr.works(1)
	if err := errors.Join(ends[0](), ends[1]()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, why := range webtest.CheckLog(s.Log(), webtest.HonoursRetryAfter(rest, time.Second)) {
		t.Error(why)
	}
}

// A command may be killed after it has given up a file, and before it has named the next maker. The file is then
// refused, and a node runs without it, until the command is repeated.
func TestRecreateIsKilled(t *testing.T) {
	t.Parallel()
	tr := slow(t, 26, 1, 2)
	end, _ := tr.start(0)
	tr.works(5)
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	conn := tr.connect()
	bucket, _ := tr.bucket(conn)
	err := patient(func() error {
		_, err := lease.Recreate(t.Context(), lease.Claim{
			Bucket: bucket, Key: hub.Key(1), Node: "killed", Timing: tr.timing(), Clock: lease.MachineClock(),
		}, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	tr.refuses(0, 1)
	if err := os.Remove(tr.file(0, 1)); err != nil {
		t.Fatal(err)
	}
	_, ended := tr.start(0)
	tr.settle(conn, 1)
	tr.recreated(conn, 0, false, 1)
	tr.ends(ended)
	tr.same(1)
}

// A lent file contains everything that is asked about.
type lent struct{}

func (lent) Contains(schema.Opening, uint64) (bool, error) { return true, nil }
func (lent) Begin() (schema.Opening, error)                { return schema.Opening{1}, nil }
func (lent) Commit() uint64                                { return 1 }

// If one of several shards cannot be recreated, none is given up.
func TestRecreateHalfway(t *testing.T) {
	t.Parallel()
	unlost(t, func() bool { return recreateHalfway(t) })
}

func recreateHalfway(t *testing.T) (lost bool) {
	tr := slow(t, 27, 1, 2)
	end, _ := tr.start(0)
	tr.works(5)
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	conn := tr.connect()
	bucket, _ := tr.bucket(conn)
	take := func(shard int) (l *lease.Lease) {
		t.Helper()
		err := patient(func() (err error) {
			l, err = lease.Take(t.Context(), lease.Claim{
				Bucket: bucket, Key: hub.Key(shard), Node: "elsewhere", File: lent{},
				Timing: tr.timing(), Clock: lease.MachineClock(),
			})
			return err
		})
		if err != nil {
			t.Fatalf("shard %d cannot be taken: %v", shard, err)
		}
		return l
	}
	ctx, cancel := context.WithCancel(t.Context())
	kept := make(chan error)
	l := take(1)
	go func() { kept <- l.Keep(ctx) }()
	var held *lease.HeldError
	_, err := tr.recreate(conn, 0, 0, 1)
	cancel()
	<-kept
	if !l.Held() && err == nil {
		return true
	}
	if !errors.As(err, &held) || held.Node != "elsewhere" {
		t.Errorf("with a shard that somebody has: %v", err)
	}
	_ = take(0)
	return false
}
