package survey_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A page that waits without a depth was left by an earlier run. An import that joined later is none.
func TestWaitingPages(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(*schema.Run)
		want   int
	}{
		"crawl":  {func(*schema.Run) {}, 2},
		"import": {func(r *schema.Run) { r.Kind = schema.RunImport }, 2},
		"joined": {func(r *schema.Run) { r.Kind, r.Joined = schema.RunImport, 2 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := surveytest.New(t, minimal)
			w.Change(tt.before)
			w.Visit("a.test/", nil)
			w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
			w.Begin()
			w.Depth("a.test/near", 0, 0)
			w.Push("a.test/near")
			w.Push("a.test/left")
			var got int
			w.Update(func(tx *kv.Tx) error {
				h, err := tx.Hosts.At(w.Store.HostOf(w.Page("a.test/left")))
				if err == nil {
					got, err = survey.WaitingPages(w.Store, tx, &w.Run, h)
				}
				return err
			})
			if got != tt.want {
				t.Errorf("%d pages wait, want %d", got, tt.want)
			}
		})
	}
}
