package main

import (
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// TestCheckTellsLongProblems has a file be damaged at a URL that is longer than a line of the check may be.
func TestCheckTellsLongProblems(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Depth("a.test/"+strings.Repeat("x", 2<<20), 0, 0) // and it waits nowhere
	path := w.Store.Path()
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := command.CheckApart(t.Context(), path, command.VerifyOptions{})
	if err != nil || v.Whole || !strings.HasPrefix(v.Problems[0], "https://a.test/xxx") {
		t.Errorf("the verdict is %+.500v, %v", v, err)
	}
}
