package answer

import (
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Waiting pages count as left to visit once, even if they are in several queues or sitemaps wait
// too.
func TestStatsLeft(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/1", "a.test/2"))
	sitemap := w.URL(schema.KindSitemap, "a.test/sitemap.xml", 0)
	w.Update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.At(w.Store.HostOf(sitemap))
		if err == nil {
			err = tx.Frontier.Push(h, schema.PrioritySitemap, sitemap)
		}
		return err
	})
	w.Depth("a.test/1", 0, 0)
	w.Depth("a.test/2", 0, 0)
	for range 2 {
		w.Push("a.test/1")
		w.Push("a.test/2")
	}
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	s, err := NewStats(r, 10)
	if err != nil {
		t.Fatal(err)
	}
	if s.Frontier != 2 || s.Left.PagesToVisit != 2 || len(s.Left.ETAHosts) != 1 || s.Left.ETAHosts[0].ToVisit != 2 {
		t.Errorf("%d pages wait, left is %+v", s.Frontier, s.Left)
	}
}

// An earlier run ended a visit because the host asked for a pause. That page does not wait until
// the current run has reached it.
func TestStatsLeftOfRefused(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/"))
	w.Visit("b.test/", func(v *schema.Visit) {
		v.State, v.Status, v.Reason = schema.RateLimited, 429, schema.StatusReason(429)
	})
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Depth("a.test/", 0, 0)
	s, err := NewStats(&statefile.State{Survey: w.Survey(), Store: w.Store}, 10)
	if err != nil {
		t.Fatal(err)
	}
	if s.Frontier != 1 || s.Left.PagesToVisit != s.Frontier {
		t.Errorf("%d pages wait, left is %+v", s.Frontier, s.Left)
	}
}

// While a running crawl waits for something that is no host, no host and no origin has a remaining time.
func TestStatsWithCause(t *testing.T) {
	for _, cause := range append(census.Causes(), census.NoCause) {
		w := surveytest.New(t, surveytest.Minimal)
		w.Visit("a.test/", w.Links("a.test/1"))
		w.Depth("a.test/1", 0, 0)
		w.Push("a.test/1")
		live := &census.Status{Condition: census.Condition{Cause: cause}}
		r := &statefile.State{Survey: w.Survey(), Store: w.Store, Live: live}
		s := Stats{Live: live}
		if err := s.addHosts(r, r.Run(), 10); err != nil {
			t.Fatal(err)
		}
		timed := cause == census.NoCause
		if len(s.Slow) != 1 || (s.Slow[0].ETA != nil && *s.Slow[0].ETA > 0) != timed {
			t.Errorf("cause %q: slow hosts are %+v", cause, s.Slow)
		}
		if len(s.Origins) == 0 || (s.Origins[0].ETA != nil) != timed {
			t.Errorf("cause %q: origins are %+v", cause, s.Origins)
		}
	}
}
