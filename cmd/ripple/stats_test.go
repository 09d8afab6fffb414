package main

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestStatsLeft counts what is left to visit as the pages that wait, however often these stand in
// queues, and whatever sitemaps wait beside them.
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
	r := &reading{Survey: w.Survey(), store: w.Store}
	s, err := newStats(r, 10)
	if err != nil {
		t.Fatal(err)
	}
	if s.Frontier != 2 || s.Left.PagesToVisit != 2 || len(s.Left.ETAHosts) != 1 || s.Left.ETAHosts[0].ToVisit != 2 {
		t.Errorf("%d pages wait, left is %+v", s.Frontier, s.Left)
	}
}
