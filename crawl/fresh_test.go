package crawl_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A fresh start forgets the graph, but never the delays that hosts have asked for.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	from := crawltest.Open(t, filepath.Join(dir, "old.bolt"))
	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	text := schema.RobotsCopy{At: at, Status: 200, Text: []byte("User-agent: *\nCrawl-delay: 7\n")}
	const others = 2500
	err := from.Update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.Add("asked.test")
		if err != nil {
			return err
		}
		h.Address, h.WWW, h.Requests, h.Visits = "192.0.2.1", true, 9, 4
		h.LastByte, h.LastEnd, h.Smoothed, h.CrawlDelay = at, at.Add(time.Second), 300*time.Millisecond, 7*time.Second
		h.SuspendedTo, h.SuspendedFor, h.Throttles, h.Suspension = at.Add(time.Hour), time.Hour, 3, 5
		h.Timeouts, h.Failures = 2, 1
		h.RobotsAt, h.RobotsStatus = at, 200
		h.Run, h.RunRequests, h.RunGivenUp, h.Admitted, h.Known = 1, 500, schema.GaveUpRateLimit, true, 10
		tx.Hosts.Put(h)
		if err := tx.Hosts.PutRobots(h.ID, text); err != nil {
			return err
		}
		for i := range others {
			if h, err = tx.Hosts.Add(fmt.Sprintf("h%d.test", i)); err != nil {
				return err
			}
			if h.Requests = i % 2; h.Requests > 0 {
				h.LastByte = at
			}
			tx.Hosts.Put(h)
		}
		id, err := tx.URLs.Add(schema.URL{Host: 1, PathQuery: "/"}, 1)
		if err != nil {
			return err
		}
		return tx.Frontier.Push(must(tx.Hosts.At(1))(t), 0, id)
	})
	if err != nil {
		t.Fatal(err)
	}

	to := crawltest.Open(t, filepath.Join(dir, "new.bolt"))
	n, err := crawl.Fresh(from, to)
	if err != nil || n != 1+others/2 || to.Hosts() != n || to.URLs() != 0 {
		t.Fatalf("Fresh = %d, %v; the new state has %d hosts, %d URLs", n, err, to.Hosts(), to.URLs())
	}
	var robots schema.RobotsCopy
	got := hostNamed(t, to, "asked.test")
	err = to.View(func(tx *kv.Tx) error {
		robots, _, err = tx.Hosts.Robots(got.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := hostNamed(t, from, "asked.test")
	want.ID, want.Generation, want.Queues, want.Waiting, want.Known = got.ID, got.Generation, nil, 0, 0
	want.Run, want.RunRequests, want.RunGivenUp, want.Admitted = 0, 0, schema.NotGivenUp, false
	if got.Throttles != 3 || got.CrawlDelay != 7*time.Second || !got.SuspendedTo.Equal(at.Add(time.Hour)) {
		t.Errorf("the clocks are %+v", got)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(text, robots); diff != "" {
		t.Error(diff)
	}
	if _, err := crawl.Fresh(from, to); err == nil {
		t.Error("a state that is not empty was written over")
	}
}

// hostNamed reads the record of a host from the file.
func hostNamed(t *testing.T, store *kv.Store, name string) (h *schema.Host) {
	t.Helper()
	err := store.View(func(tx *kv.Tx) error {
		id, ok, err := tx.Hosts.Lookup(name)
		if err != nil || !ok {
			t.Fatalf("%s: no host %s: %v", store.Path(), name, err)
		}
		h, err = tx.Hosts.At(id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
