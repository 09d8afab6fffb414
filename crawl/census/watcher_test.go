package census

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// All watchers of a process together count no more hosts at a time than one would alone, and each continues
// where it was.
func TestLooksAreShared(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for i := range 250 {
		w.Visit(fmt.Sprintf("h%d.a.test/", i), nil)
	}
	var cfg atomic.Pointer[config.Config]
	cfg.Store(w.Config)
	for _, tt := range []struct{ watchers, looks int }{{1, 1}, {1000, 3}} {
		watcher := NewWatcher(nil, &cfg, w.Run)
		watching.Add(int64(tt.watchers))
		looks := 0
		for done := false; !done; done = watcher.next == 1 {
			if err := w.Store.View(func(tx *kv.Tx) error { return watcher.countHosts(w.Store, tx, nil) }); err != nil {
				t.Fatal(err)
			}
			looks++
		}
		watching.Add(int64(-tt.watchers))
		if looks != tt.looks {
			t.Errorf("%d watchers: each has counted all hosts after %d looks, want %d", tt.watchers, looks, tt.looks)
		}
	}
}

// While all hosts rest, the remaining time does not end before the next request: a rebuilt shard file makes
// hosts rest as long as the previous file may have.
func TestEndIsNotBeforeTheNextRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Watcher{pace: testPace(t)}
		for _, waiting := range []int{0, 3} {
			w.last = count{depth: -1}
			w.last.add(w.pace, 1, &schema.Host{Name: "a.test", Generation: 1, Waiting: waiting}, hush{})
			s := w.status(&crawl.Status{Next: time.Now().Add(time.Hour)}, nil, nextHost{name: "a.test"})
			if want := float64(min(waiting, 1)) * 3600; s.ETA != want || s.Wait.Reason != ForHosts {
				t.Errorf("%d pages wait: %.1f s are left, %+v; want %v s", waiting, s.ETA, s.Wait, want)
			}
		}
	})
}

// A host that is ready but has no slot counts as waiting, too.
func TestHostsThatWait(t *testing.T) {
	w := &Watcher{pace: testPace(t), last: count{depth: -1}}
	s := w.status(&crawl.Status{
		Open: 4, Hosts: pace.Counts{Ready: 1, Held: 2, Waiting: 3}, Asleep: pace.Counts{Ready: 10, Held: 20, Waiting: 30},
	}, []crawl.Flight{{Host: 1}, {Host: 2}, {Host: 1}}, nextHost{})
	if s.Fetching != 3 || s.Hosts != (Hosts{Active: 2, Waiting: 66}) {
		t.Errorf("fetching %d; hosts: %+v", s.Fetching, s.Hosts)
	}
	w.last.hosts = 80 // the schedule holds 66 of them
	if s = w.status(&crawl.Status{}, []crawl.Flight{{Host: 1}}, nextHost{}); s.Hosts != (Hosts{Active: 1, Waiting: 79}) {
		t.Errorf("answers are being recorded: %+v", s.Hosts)
	}
}

// When a crawl is over, its status is what the file says, not the last look: that may be a second old, and
// does not exist if nothing was left to crawl.
func TestStatusOfTheEnd(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/1", "b.test/2"))
	for _, page := range []string{"b.test/1", "b.test/2"} {
		w.Depth(page, 1, 0)
		w.Push(page)
	}
	var cfg atomic.Pointer[config.Config]
	cfg.Store(w.Config)
	watcher := NewWatcher(nil, &cfg, w.Run)
	w.Host("b.test/1", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseTLS}
	})
	w.Change(func(r *schema.Run) {
		r.Pages, r.Requests, r.Running, r.Walked = 3, 7, 90*time.Second, true
		r.Errors = map[string]int{schema.ErrorDeadLink: 1}
	})
	if err := watcher.End(w.Store); err != nil {
		t.Fatal(err)
	}
	s := watcher.Latest()
	if s.Pages != 3 || s.Requests != 7 || s.Elapsed != 90 || s.Errors["tls_error"] != 2 ||
		s.Errors[schema.ErrorDeadLink] != 1 ||
		s.Hosts != (Hosts{GivenUp: 1}) || s.PagesToVisit != 0 || s.ETA != 0 || s.PagesPerSecond != 0 || !s.Next.IsZero() {
		t.Errorf("%+v", s)
	}
}

// While a crawl is paused or its network is away, it has no rate and no remaining time. After that, both come from
// the time since then.
func TestRestsWithoutRate(t *testing.T) {
	for name, rest := range map[string]crawl.Status{
		"paused": {Paused: true}, "away": {Away: time.Now()}, "stopping": {Stopped: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &Watcher{pace: testPace(t), begun: time.Now()}
			w.last = count{depth: -1, work: 60, slowest: []HostETA{{Domain: "a.test", ToVisit: 60, Seconds: 10}}}
			look := func(st crawl.Status, pages int) *Status {
				time.Sleep(time.Second)
				w.run.Pages += pages
				return w.status(&st, nil, nextHost{})
			}
			for range 10 {
				look(crawl.Status{Open: 1}, 2)
			}
			if s := look(crawl.Status{Open: 1}, 2); s.PagesPerSecond != 2 || s.ETA != 30 {
				t.Errorf("%s: before, %v pages/s and %v s", name, s.PagesPerSecond, s.ETA)
			}
			for range 600 {
				if s := look(rest, 0); s.PagesPerSecond != 0 || s.ETA != 0 || len(s.ETAHosts) != 0 {
					t.Fatalf("%s: %v pages/s and %v s", name, s.PagesPerSecond, s.ETA)
				}
			}
			for i := range 10 {
				if s := look(crawl.Status{Open: 1}, 2); s.ETA != 10 && s.ETA != 30 || i == 9 && s.PagesPerSecond != 2 {
					t.Errorf("%s: %d s after, %v pages/s and %v s", name, i, s.PagesPerSecond, s.ETA)
				}
			}
		})
	}
}

// While a crawl waits for its disk, network or memory, or for people, nothing says how long it will take, and no host
// is blamed for the wait.
func TestCauseBlamesNoHost(t *testing.T) {
	since := time.Now().Add(-time.Minute)
	for _, tt := range []struct {
		status crawl.Status
		cause  Cause
		blames int
	}{
		{crawl.Status{Open: 1}, NoCause, 2},
		{crawl.Status{Open: 1, NoRoom: &crawl.NoRoom{Since: since}}, CauseDisk, 1},
		{crawl.Status{Full: true}, CauseDisk, 1},
		{crawl.Status{Open: 1, Away: since}, CauseNetwork, 1},
		{crawl.Status{Open: 1, Short: 4}, CauseMemory, 2}, // it does request
		{crawl.Status{Paused: true}, CausePeople, 1},
	} {
		w := &Watcher{pace: testPace(t), last: count{depth: -1}}
		w.last.add(w.pace, 1, &schema.Host{Name: "a.test", Generation: 1, Waiting: 3}, hush{})
		w.last.troubles = []ranked{
			{Trouble: Trouble{Domain: "a.test", Silent: 5}}, {Trouble: Trouble{Domain: "b.test", Over: true}},
		}
		w.last.troubled = 2
		s := w.status(&tt.status, nil, nextHost{name: "a.test"})
		if cause := s.Wait.Cause(); cause != tt.cause || (s.ETA != 0) != (tt.cause == NoCause) {
			t.Errorf("%+v: it waits for %q, and %.1f s are left", tt.status, cause, s.ETA)
		}
		if len(s.Troubles) != tt.blames || s.Troubled != tt.blames {
			t.Errorf("%+v: %d troubles, %+v", tt.status, s.Troubled, s.Troubles)
		}
		if blamed := len(s.Groups) > 0; blamed != (tt.blames == 2) {
			t.Errorf("%+v: hosts wait for %+v", tt.status, s.Groups)
		}
		if tt.status.NoRoom != nil && !s.WaitsSince.Equal(since) {
			t.Errorf("it waits since %v", s.WaitsSince)
		}
	}
}
