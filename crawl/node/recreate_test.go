package node_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/crawl/node"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/schema"
	split "github.com/sumi-ripple/ripple/schema/shard"
)

// While a file that was made anew in the run lacks what the old one had, the map of all shards still
// holds together.
func TestRecreatedIsUnitedInMidRun(t *testing.T) {
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
			crawltest.Unite(t, filepath.Join(t.TempDir(), "united.bolt"), append(files, others...))
		})
	}
}

// The sites of a shard whose file was made anew get the longest rest that they may have asked the old one for.
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
	tr.works(4) // robots.txt and "/" of both, which are of one shard
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

// A command that was killed when it had given up a file, and before it could tell who makes
// the next, is repeated. Until then the file is refused, and a node goes on without it.
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
		_, err := lease.Anew(t.Context(), lease.Claim{
			Bucket: bucket, Key: hub.Key(1), Node: "killed", Timing: tr.timing(), Clock: lease.MachineClock(),
		}, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.run(t.Context(), 0, tr.cfg); !errors.Is(err, lease.ErrAnew) {
		t.Errorf("the file that was given up: %v", err)
	}
	if err := os.Remove(tr.file(0, 1)); err != nil {
		t.Fatal(err)
	}
	_, ended := tr.start(0)
	tr.settle(conn, 1)
	tr.recreated(conn, 0, false, 1)
	tr.ends(ended)
	tr.same(1)
}

// A lent file contains whatever is asked for.
type lent struct{}

func (lent) Contains(schema.Opening, uint64) (bool, error) { return true, nil }
func (lent) Begin() (schema.Opening, error)                { return schema.Opening{1}, nil }
func (lent) Commit() uint64                                { return 1 }

// Where one of several shards cannot be made anew, none is given up.
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
