package survey_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestStandingByDepth counts the pages of a state by depth as it counts them in all: what an older run has
// seen of a page that the newest did not reach stands.
func TestStandingByDepth(t *testing.T) {
	w := two(t, func(w *surveytest.World) {
		w.Visit("a.test/", w.Links("a.test/x", "b.test/"))
		w.Visit("a.test/x", nil)
		w.Visit("b.test/", state(schema.DeadLink, 404))
	}, func(w *surveytest.World) { w.Visit("a.test/", nil) })
	counts, err := w.Survey().Counts()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, n := range counts.StandingByDepth {
		sum += n
	}
	if n := counts.ByState[schema.Processed]; n != 2 || sum != n || counts.Processed != 1 {
		t.Errorf("%d pages are processed, %d of some depth, %d in the run; want 2, 2 and 1", n, sum, counts.Processed)
	}
}
