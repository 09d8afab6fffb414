package survey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestEachLinkOf walks a terrain three times: what a run left standing stays to
// be read.
func TestEachLinkOf(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/x", "a.test/old"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/x", "a.test/new"))
	w.Visit("a.test/x", w.Links("a.test/old"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", func(v *schema.Visit) { v.Status, v.Stand = 304, 2 })
	s := w.Survey()
	names := map[schema.ID]string{w.Page("a.test/"): "/", w.Page("a.test/x"): "x", w.Page("a.test/old"): "old", w.Page("a.test/new"): "new"}
	for run, want := range map[schema.RunID]string{
		1: "/ x 1-1, / old 1-1",
		2: "/ x 1-2, / new 2-2, x old 2-2",
		3: "/ x 1-3, / new 2-3, x old 2-2",
	} {
		var got []string
		err := s.EachLinkOf(run, func(from schema.ID, l schema.Link, first, last schema.RunID) error {
			got = append(got, fmt.Sprintf("%s %s %d-%d", names[from], names[l.To], first, last))
			return nil
		})
		if diff := cmp.Diff(want, strings.Join(got, ", ")); err != nil || diff != "" {
			t.Errorf("run %d: %v (-want +got):\n%s", run, err, diff)
		}
	}
}
