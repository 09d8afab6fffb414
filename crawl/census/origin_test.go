package census

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// The figures of an origin are the sums over its hosts; its time is that of the slowest. Hosts without known
// pages are not counted.
func TestOrigins(t *testing.T) {
	p := testPace(t, "[[quality]]\ndomain = \"*.b.test\"\nseeds = [\"https://b.test/\"]\nmax-requests = 40")
	c := count{depth: -1}
	for _, h := range []schema.Host{
		{Name: "a.test", Known: 9, Generation: 1, Waiting: 4, Run: run, RunRequests: 10, RunVisited: 10},
		{Name: "b.test", Known: 3, Files: 1, Generation: 1, Waiting: 2, CrawlDelay: 3 * time.Second},
		{Name: "x.b.test", Known: 50, Generation: 1, Waiting: 30, Run: run, RunRequests: 40, RunVisited: 20},
		{Name: "y.b.test", Known: 5, Generation: 1, Waiting: 5, Run: run - 1, RunRequests: 7, RunVisited: 7},
		{Name: "z.b.test", Known: 2, Files: 2},
		{Name: "c.test", Known: 1000, Generation: 1, Waiting: 1000},
	} {
		c.add(p, 1, &h, hush{})
	}
	want := []Origin{
		{Origin: "*.b.test", Hosts: 3, Pages: 20, ToVisit: 7, Used: 40, Limit: 120, ETA: 12},
		{Origin: "a.test", Hosts: 1, Pages: 10, ToVisit: 4, Used: 10, Limit: 100, ETA: 0.4},
	}
	if diff := cmp.Diff(want, c.foremost()); diff != "" {
		t.Error(diff)
	}
	l := Left{ETA: 5, ETALimit: "max-run-time = 5s"}
	if cut := l.within(want); cut[0].ETA != 5 || cut[1].ETA != 0.4 || want[0].ETA != 12 {
		t.Errorf("of a process that ends before: %+v", cut)
	}
}

// A watcher reports the same origins as the file, even under a configuration loaded meanwhile.
func TestWatchedOrigins(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for _, page := range []string{"a.test/", "b.test/"} {
		w.Visit(page, nil)
		w.Host(page, func(h *schema.Host) { h.Known = 1 })
	}
	var cfg atomic.Pointer[config.Config]
	cfg.Store(w.Config)
	watcher := NewWatcher(nil, &cfg, w.Run)
	if all := watcher.Origins(); all == nil || len(all) != 0 {
		t.Errorf("before it has looked: %v", all)
	}
	look := func() {
		t.Helper()
		if err := w.Store.View(func(tx *kv.Tx) error { return watcher.countHosts(w.Store, tx, nil) }); err != nil {
			t.Fatal(err)
		}
		want, err := OriginsOf(w.Store, cfg.Load(), &w.Run)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, watcher.Origins()); diff != "" || len(want) == 0 || want[0].Hosts == 0 {
			t.Errorf("%+v: %s", want, diff)
		}
	}
	look()
	text := surveytest.Minimal + "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"
	cfg.Store(crawltest.Parse(t, text))
	look()
	if n := len(watcher.Origins()); n != 2 {
		t.Errorf("%d origins", n)
	}
}

// For a file, a page counts once, however often it is queued. It does not count once visited, or if only an
// older run wanted to retry it.
func TestOriginsOfFile(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/1", "a.test/2"))
	for _, page := range []string{"a.test/", "a.test/1", "a.test/2", "a.test/2"} {
		w.Depth(page, 0, 0)
		w.Push(page)
	}
	older := []schema.Retry{{URL: w.Page("a.test/3"), Attempts: 1}}
	w.Host("a.test/", func(h *schema.Host) { h.Known, h.Run, h.Retries = 3, w.Run.ID-1, older })
	all, err := OriginsOf(w.Store, w.Config, &w.Run)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].ToVisit != 2 {
		t.Errorf("%+v, want two pages to visit", all)
	}
}
