package crawl_test

import (
	"log/slog"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Each run has a history of its own, which only grows, is never ahead of the run, and ends with it.
func TestHistoryOfRuns(t *testing.T) {
	c := newChanging(t, 100, "off", "0s")
	c.page("a.test", "/", crawltest.Anchors("https://a.test/1", "https://a.test/2"))
	c.page("a.test", "/1", "one")
	c.page("a.test", "/2", "two")
	c.run()
	c.run()
	err := c.store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		for _, run := range runs {
			h, historyErr := tx.Runs.History(run.ID)
			if historyErr != nil || len(h.Points) == 0 {
				t.Errorf("run %d: %d points, %v", run.ID, len(h.Points), historyErr)
			}
			last := schema.Point{}
			for _, p := range h.Points {
				if !p.At.After(last.At) || p.Pages < last.Pages || p.Pages > run.Pages || p.Requests > run.Requests {
					t.Errorf("run %d: %+v after %+v", run.ID, p, last)
				}
				last = p
			}
			if last.Pages != run.Pages || last.Requests != run.Requests {
				t.Errorf("run %d ended with %d pages and %d requests; its history ends with %+v", run.ID, run.Pages,
					run.Requests, last)
			}
		}
		if len(runs) != 2 {
			t.Errorf("%d runs", len(runs))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The history of a completed run ends without pages to visit, whatever was counted last.
func TestHistoryEndsWithTheRun(t *testing.T) {
	c := newChanging(t, 100, "off", "0s")
	c.page("a.test", "/", crawltest.Anchors("https://a.test/1"))
	c.page("a.test", "/1", "one")
	crawling, _, err := crawl.Begin(t.Context(), c.store, crawl.Options{Config: crawltest.Parse(t, c.text),
		Log: slog.New(slog.DiscardHandler), Waiting: func() int { return 7 }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := crawling.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := crawling.Complete(); err != nil {
		t.Fatal(err)
	}
	err = c.store.View(func(tx *kv.Tx) error {
		h, err := tx.Runs.History(1)
		if n := len(h.Points); n == 0 || h.Points[0].Waiting != 7 || h.Points[n-1].Waiting != 0 {
			t.Errorf("the history is %+v", h.Points)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
