package serve

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// The desk's list of runs and stats report the same errors of the newest run.
func TestErrorsAgree(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Redirect("a.test/1"))
	w.Visit("a.test/1", w.Redirect("a.test/"))
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	s, err := answer.NewStats(r, 10)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := (&opened{Inspector: answer.Inspector{State: r}}).answerRuns(t.Context(), desk.Query{})
	if err != nil {
		t.Fatal(err)
	}
	told := runs.(answer.RunList).Runs[0].Errors
	if diff := cmp.Diff(s.Run.Errors, told); diff != "" || len(told) == 0 {
		t.Errorf("the desk tells %v, stats %v", told, s.Run.Errors)
	}
}
