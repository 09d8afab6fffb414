package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// TestRedirects follows redirects as far as the state of a page counts them: until they come back,
// or lead to what came on a list.
func TestRedirects(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal+"[[blacklist]]\nurl = '/listed'\n")
	for from, to := range map[string]string{
		"a.test/": "a.test/1", "a.test/1": "a.test/2", "a.test/2": "a.test/1",
		"a.test/x": "a.test/listed", "a.test/listed": "a.test/y", "a.test/y": "a.test/x",
	} {
		w.Visit(from, w.Redirect(to))
	}
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	for name, want := range map[string]string{
		"a.test/":  "https://a.test/1 https://a.test/2 https://a.test/1",
		"a.test/1": "https://a.test/2 https://a.test/1", "a.test/x": "https://a.test/listed",
		"a.test/y": "https://a.test/x https://a.test/listed",
	} {
		p, err := r.Page(w.Page(name))
		if err != nil {
			t.Fatal(err)
		}
		var out answer.KnownPage
		if err := (answer.Inspector{State: r}).AddRedirects(&out, p); err != nil || strings.Join(out.Redirects, " ") != want {
			t.Errorf("%s: %v, %v; want %s", name, out.Redirects, err, want)
		}
	}
}

// TestErrorsAgree: the desk's list of runs and stats tell the same errors of the newest run.
func TestErrorsAgree(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Redirect("a.test/1"))
	w.Visit("a.test/1", w.Redirect("a.test/"))
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	s, err := answer.NewStats(r, 10)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := (&serve.Opened{Inspector: answer.Inspector{State: r}}).AnswerRuns(t.Context(), desk.Query{})
	if err != nil {
		t.Fatal(err)
	}
	told := runs.(answer.RunList).Runs[0].Errors
	if diff := cmp.Diff(s.Run.Errors, told); diff != "" || len(told) == 0 {
		t.Errorf("the desk tells %v, stats %v", told, s.Run.Errors)
	}
}

// TestOlderVisits: of a page with very many visits the newest are shown, and all are counted.
func TestOlderVisits(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for range answer.MaxHistory + 2 {
		w.Visit("a.test/", nil)
	}
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	for _, want := range []string{"\nvisits: 102\n", "\n  and 2 older\n", `"visits_omitted": 2`} {
		var text strings.Builder
		opts := command.InspectOptions{Limit: 20, JSON: want[0] == '"'}
		err := command.TellInspected(answer.Inspector{State: r}, &text, "https://a.test/", opts)
		if err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s\n%v", want, text.String(), err)
		}
	}
}
