package crawl

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

// A host that was never requested costs almost nothing in addition to its URLs: neither when a
// crawl begins with it, nor when its clock has run out and it waits for its turn.
func TestMemoryOfUnvisitedHosts(t *testing.T) {
	if process.Race {
		t.Skip("memory says nothing under the race detector")
	}
	const hosts, most = 100_000, 64
	store := storeOfUnvisited(t, hosts)
	set := newOutcomeWeb(1).settings(t, recordConfig)
	t.Cleanup(set.Client.Close)
	before := process.LiveHeap()
	rec := newCommitter(store, set, quietLog(), nil)
	if _, err := rec.recorder.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	sched := newScheduler(schedulerConfig{Slots: 64, MaxUncommitted: usualUncommitted})
	if err := rec.recorder.EachWaiting(sched.apply); err != nil {
		t.Fatal(err)
	}
	grown := func(when string) int64 {
		n := (process.LiveHeap() - before) / hosts
		t.Logf("%s, a host costs %d bytes", when, n)
		return n
	}
	if n := sched.asleep.Len(); n < hosts {
		t.Fatalf("%d hosts sleep, want %d", n, hosts)
	}
	if n := grown("at the start"); n > most {
		t.Errorf("at the start a host costs %d bytes, want %d at most", n, most)
	}
	sched.asleep.Advance(time.Now().Add(time.Hour))
	if n := grown("once its clock has passed"); n > most {
		t.Errorf("a host whose clock has passed costs %d bytes, want %d at most", n, most)
	}
	runtime.KeepAlive(rec)
	runtime.KeepAlive(sched)
}

// A host that was known before the process waits for its full delay, because it may have been
// requested just before a kill. If another configuration is loaded meanwhile, it waits neither less
// nor more than that. A host that was met since does not wait.
func TestUnvisitedHostsRest(t *testing.T) {
	store := storeOfUnvisited(t, 1)
	// This delay does not pass between the two configurations, however slow the machine is.
	text := strings.Replace(recordConfig, "[crawler]", "[crawler]\nminimum-time-on-page = 3_600_000", 1)
	set := newOutcomeWeb(1).settings(t, text)
	t.Cleanup(set.Client.Close)
	started := time.Now()
	first := newCommitter(store, set, quietLog(), nil)
	ready := readyOf(t, first, 1)
	if delay := set.Config.FullDelay(&schema.Host{}); ready.Sub(started) < delay {
		t.Errorf("at the start, the host rests for %s, want %s", ready.Sub(started), delay)
	}
	err := store.Update(func(tx *kv.Tx) error { return addUnvisited(tx, store, "met.test") })
	if err != nil {
		t.Fatal(err)
	}
	second := newCommitter(store, set, quietLog(), nil)
	second.recorder.Inherit(first.recorder)
	if again := readyOf(t, second, 1); !again.Equal(ready) {
		t.Errorf("under the next configuration the host is asked %s later", again.Sub(ready))
	}
	third := newCommitter(store, set, quietLog(), nil)
	third.recorder.Inherit(first.recorder)
	if met := readyOf(t, third, schema.HostID(store.Hosts())); met.After(time.Now()) {
		t.Errorf("a host that was met since rests for %s", time.Until(met))
	}
}

// readyOf begins a walk and returns when a host is woken.
func readyOf(t *testing.T, rec *committer, id schema.HostID) (ready time.Time) {
	t.Helper()
	_, err := rec.recorder.Begin(t.Context())
	if err == nil {
		err = rec.recorder.EachWaiting(func(e *ring.Effect) {
			if e.Host == id {
				ready = e.Ready
			}
		})
	}
	if err != nil || ready.IsZero() {
		t.Fatalf("the host is woken at %v, error %v", ready, err)
	}
	return ready
}

// storeOfUnvisited returns a state file with a waiting page for each of hosts hosts.
func storeOfUnvisited(t *testing.T, hosts int) *kv.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "state.bolt")
	store, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const commit = 20_000
	for first := 0; first < hosts && err == nil; first += commit {
		err = store.Update(func(tx *kv.Tx) error {
			for i := first; i < min(first+commit, hosts); i++ {
				if err := addUnvisited(tx, store, fmt.Sprintf("host-%d.test", i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err == nil {
		store, err = kv.Open(path, kv.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func addUnvisited(tx *kv.Tx, store *kv.Store, name string) error {
	h, err := tx.Hosts.Add(name)
	if err != nil {
		return err
	}
	page := schema.URL{Host: h.ID, PathQuery: "/"}
	id, err := tx.URLs.Add(page, store.Hash(schema.KindPage, name+"/"))
	if err != nil {
		return err
	}
	tx.Depths.Lower(id, 1, 0)
	return tx.Frontier.Push(h, schema.Rank{Depth: 1}.Priority(), id)
}
