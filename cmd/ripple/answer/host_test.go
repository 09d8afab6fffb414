package answer

import (
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A run's visits at a host are counted as in the run's own totals: only those that made a request.
// A page that robots.txt denies is not requested, and neither is a kept one.
func TestHostRuns(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", func(v *schema.Visit) { w.Links("a.test/denied", "a.test/kept")(v); v.Requests = 2 })
	w.Visit("a.test/denied", func(v *schema.Visit) {
		v.State, v.Requests, v.Reason = schema.Failed, 0, schema.Reason{Cause: schema.CauseDenied}
	})
	w.Visit("a.test/kept", func(v *schema.Visit) { v.Kept, v.Requests = true, 0 })
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	d, err := Inspector{State: r}.InspectHost("a.test", "", 20)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Runs; len(got) != 1 || got[0].Visited != 1 || got[0].Kept != 1 || got[0].Requests != 2 {
		t.Errorf("runs %+v; want 1 page visited by 2 requests, and 1 kept", got)
	}
}

// Links of pages that are gone or on a list are not counted.
func TestHostLinkedFrom(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal+"[[blacklist]]\nurl = '^https://a.test/ads'\n")
	finish := func() { w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted }) }
	w.Visit("a.test/", w.Links("a.test/gone"))
	w.Visit("a.test/gone", w.Links("b.test/"))
	finish()
	w.Begin()
	w.Visit("a.test/", w.Links("b.test/"))
	w.Visit("a.test/ads", w.Links("b.test/"))
	finish()
	d, err := Inspector{State: &statefile.State{Survey: w.Survey(), Store: w.Store}}.InspectHost("b.test", "", 20)
	if err != nil {
		t.Fatal(err)
	}
	if l := d.LinkedFrom; l.Links != 1 || l.From[0].From != "https://a.test/" || d.Busiest[0].In != 1 {
		t.Errorf("%+v, %+v", l, d.Busiest)
	}
}
