package decide

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// The pages that wait for the next crawl are the waiting pages of stats, including those of a host
// that asked to be left alone.
func TestReclassifyWaiting(t *testing.T) {
	t.Parallel()
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("rest.test/1", "rest.test/2", "wait.test/"))
	for _, page := range []string{"rest.test/1", "rest.test/2", "wait.test/"} {
		w.Depth(page, 1, 0)
	}
	w.Host("rest.test/1", func(h *schema.Host) { h.Throttles = 1 })
	now, err := readStandings(w.Store)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := w.Survey().Counts()
	if r := compareStandings(now, now); err != nil || r.Waiting != 3 || r.Waiting != counts.Frontier || r.Changed != 0 {
		t.Errorf("%d pages wait, and %d changed; stats says %d; %v", r.Waiting, r.Changed, counts.Frontier, err)
	}
}
