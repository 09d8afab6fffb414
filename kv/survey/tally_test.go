package survey_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestStandingByDepth counts the pages of a state by depth as in total. What the first run has seen
// of a page counts until the second has reached the page, and is gone when that run is completed.
func TestStandingByDepth(t *testing.T) {
	for _, tt := range []struct {
		second                schema.RunStatus
		standing, links, gone int
	}{{schema.RunRunning, 2, 2, 0}, {schema.RunCompleted, 1, 1, 2}} {
		w := two(t, func(w *surveytest.World) {
			w.Visit("a.test/", w.Links("a.test/x", "b.test/"))
			w.Visit("a.test/x", w.Links("b.test/"))
			w.Visit("b.test/", state(schema.DeadLink, 404))
		}, func(w *surveytest.World) { w.Visit("a.test/", w.Links("a.test/y")) })
		w.Depth("a.test/y", 0, 0)
		w.Change(func(r *schema.Run) { r.Status = tt.second })
		counts, err := w.Survey().Counts()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, n := range counts.StandingByDepth {
			sum += n
		}
		if n := counts.ByState[schema.Processed]; n != tt.standing || sum != n || counts.Processed != 1 {
			t.Errorf("%s: %d pages are processed, %d of some depth, %d in the run; want %d, %[5]d and 1",
				tt.second, n, sum, counts.Processed, tt.standing)
		}
		if counts.Links != tt.links || counts.Gone != tt.gone || counts.ByState[schema.DeadLink] != tt.standing-1 {
			t.Errorf("%s: %d links, %d pages are gone, %d dead; want %d, %d and %d", tt.second, counts.Links, counts.Gone,
				counts.ByState[schema.DeadLink], tt.links, tt.gone, tt.standing-1)
		}
		all, err := w.Survey().Ever().Counts()
		if err != nil || all.ByState[schema.Processed] != 2 || all.ByState[schema.DeadLink] != 1 || all.Gone != 0 {
			t.Errorf("%s: of all runs %v, %v", tt.second, all, err)
		}
	}
}
