package statefile

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// TestMain lets the test binary be the process that checks a file.
func TestMain(m *testing.M) {
	if !slices.Contains(os.Args, "check-file") {
		os.Exit(m.Run())
	}
	if err := CheckFile(os.Stdout, os.Getenv(EnvCheck), slices.Contains(os.Args, "--digest")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestCheckTellsLongProblems damages a file at a URL that is longer than a line of the check may
// be.
func TestCheckTellsLongProblems(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Depth("a.test/"+strings.Repeat("x", 2<<20), 0, 0) // and it is in no queue
	path := w.Store.Path()
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	v, err := CheckApart(t.Context(), path, false)
	if err != nil || v.Whole || !strings.HasPrefix(v.Problems[0], "https://a.test/xxx") {
		t.Errorf("the verdict is %+.500v, %v", v, err)
	}
}

// A check that has found damage reports it, however long it has then waited for the disk.
func TestLateCheck(t *testing.T) {
	for _, tt := range []struct {
		found  []string
		worked time.Duration
		want   string
	}{
		{nil, 9 * time.Second, "the check did not end within 10 s: its pages lead in circles"},
		{nil, time.Second, ""},
		{[]string{"damage"}, time.Second, "damage; the check did not end within 10 s: it waits for the disk"},
	} {
		v := &Verdict{Found: len(tt.found), Problems: tt.found}
		err := v.late(10*time.Second, tt.worked)
		if got := strings.Join(v.Problems, "; "); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("found %q, worked %v: %q, %v", tt.found, tt.worked, got, err)
		}
	}
}
