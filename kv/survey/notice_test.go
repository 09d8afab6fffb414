package survey_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestUncoveredSubdomains has a first run meet subdomains. The second meets one of them again, with
// fewer links, and another without any.
func TestUncoveredSubdomains(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("x.a.test/", "y.a.test/", "z.a.test/"))
	w.Visit("a.test/gone", w.Links("x.a.test/", "y.a.test/1"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("y.a.test/"))
	w.Depth("z.a.test/", 1, 0) // as by a sitemap
	check := func(s *survey.Survey, want map[string]int) {
		t.Helper()
		found, err := survey.UncoveredSubdomains(s)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, u := range found {
			got[u.Host] = u.Links
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("run %d, %s (-want +got):\n%s", s.Run().ID, s.Run().Status, diff)
		}
	}
	check(w.Survey(), map[string]int{"x.a.test": 1, "y.a.test": 2, "z.a.test": 0})
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	check(w.Survey(), map[string]int{"y.a.test": 1, "z.a.test": 0})
	older, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	check(older, map[string]int{"x.a.test": 2, "y.a.test": 2, "z.a.test": 1})
}
