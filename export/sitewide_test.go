package export_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// In TestSiteWide the theme of a site links to b.test on all pages, and one page links to c.test.
func TestSiteWide(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	for i := range 10 {
		targets := []string{"b.test/"}
		if i == 0 {
			targets = append(targets, "b.test/cited", "c.test/")
		}
		w.Visit(fmt.Sprintf("a.test/%d", i), w.Links(targets...))
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	without, err := export.ParsePlaces([]string{"nav", "sitewide"})
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []export.Level{export.LevelHost, export.LevelEntity, export.LevelSite} {
		g, err := export.New(w.Survey(), export.Options{Level: level})
		if err != nil {
			t.Fatal(err)
		}
		_, links := lines(t, g)
		if diff := cmp.Diff([]string{"a.test > b.test 11/10/1 1-1", "a.test > c.test 1/1/1 1-1"}, links); diff != "" {
			t.Errorf("%s level (-want +got):\n%s", level, diff)
		}
		err = g.EachLink(func(l *export.Link) error {
			if l.Links > 1 && l.SiteWide != 10 {
				t.Errorf("%s level: %d links are site-wide", level, l.SiteWide)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		g, err = export.New(w.Survey(), export.Options{Level: level, Without: without})
		if err != nil {
			t.Fatal(err)
		}
		_, links = lines(t, g)
		if diff := cmp.Diff([]string{"a.test > b.test 1/1/1 1-1", "a.test > c.test 1/1/1 1-1"}, links); diff != "" {
			t.Errorf("%s level without them (-want +got):\n%s", level, diff)
		}
		if got := g.Meta().Options; got != "without links in nav; without site-wide links" {
			t.Errorf("the graph says %q", got)
		}
	}
}
