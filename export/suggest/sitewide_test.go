package suggest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// All pages of two origins link to the author of their theme, and one page to its subject.
func TestThemes(t *testing.T) {
	w := surveytest.New(t, lists)
	for _, origin := range []string{"a.test", "q.test"} {
		for i := range 12 {
			w.Visit(fmt.Sprintf("%s/%d", origin, i), w.Links("theme.test/"))
		}
	}
	w.Visit("a.test/cites", w.Links("subject.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	found, err := suggest.Find(w.Survey(), suggest.Options{MinOrigins: 0, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"subject.test 1 1: a.test 1/0", "theme.test 0 24: *.q.test 0/0/12, a.test 0/0/12"}
	if diff := cmp.Diff(want, told(found.Discovered)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Silent hosts come last; an entity is not silent as long as one of its hosts answers.
func TestSilent(t *testing.T) {
	w := surveytest.New(t, lists)
	for _, origin := range []string{"a.test/", "q.test/", "z.test/"} {
		w.Visit(origin, w.Links("mute.test/", "gone.test/", "a.many.test/", "b.many.test/"))
	}
	w.Visit("z.test/more", w.Links("speaks.test/", "unasked.test/"))
	for _, name := range []string{"mute.test/", "gone.test/", "a.many.test/"} {
		w.Host(name, func(h *schema.Host) { h.Requests = 3 })
	}
	for _, name := range []string{"speaks.test/", "b.many.test/"} {
		w.Host(name, func(h *schema.Host) { h.Requests, h.Smoothed = 2, 1000 })
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	found, err := suggest.Find(w.Survey(), suggest.Options{MinOrigins: 0, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range found.Discovered {
		names = append(names, c.Name)
	}
	want := []string{"many.test", "speaks.test", "unasked.test", "gone.test", "mute.test"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
