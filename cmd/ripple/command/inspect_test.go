package command

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// A page with many visits shows the newest and counts all.
func TestOlderVisits(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for range answer.MaxHistory + 2 {
		w.Visit("a.test/", nil)
	}
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	for _, want := range []string{"\nvisits: 102\n", "\n  and 2 older\n", `"visits_omitted": 2`} {
		var text strings.Builder
		opts := inspectOptions{Limit: 20, JSON: want[0] == '"'}
		err := tellInspected(answer.Inspector{State: r}, &text, "https://a.test/", opts)
		if err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("no %q in:\n%s\n%v", want, text.String(), err)
		}
	}
}
