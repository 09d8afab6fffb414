package command

import (
	"io"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A page without a path to it any more is not a success, in any output format.
func TestNoPath(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	completed := func(r *schema.Run) { r.Status, r.Walked = schema.RunCompleted, true }
	w.Visit("a.test/", w.Links("b.test/"))
	w.Depth("b.test/", 1, 0)
	w.Change(completed)
	w.Begin()
	w.Visit("a.test/", nil)
	w.Change(completed)
	if err := w.Store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"--json=false", "--json"} {
		var out strings.Builder
		args := []string{"path", form, "--state", w.Store.Path(), "https://b.test/"}
		err := New(&out, io.Discard).Run(t.Context(), args)
		if err == nil || !strings.HasPrefix(err.Error(), "no origin leads to https://b.test/") {
			t.Errorf("%s: %v, and it prints %s", form, err, out.String())
		}
	}
}
