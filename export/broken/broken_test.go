package broken_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestFind has a target of every kind, linked from pages of two origins and of none.
func TestFind(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	ended := func(name string, state schema.State, why schema.Reason) {
		w.Depth(name, 1, 0)
		w.Visit(name, func(v *schema.Visit) { v.State, v.Status, v.Charset, v.Reason = state, why.Status, "", why })
	}
	w.Visit("x.q.test/", w.Links("dead.test/", "b.test/"))
	w.Visit("b.test/", w.Links("away.test/", "dead.test/", "waits.test/", "bad.test/", "stub.test/x"))
	w.Visit("a.test/", w.Links("deny.test/", "moved.test/", "hosts.test/1", "fails.test/", "b.test/", "wall.test/"))
	w.Visit("moved.test/", w.Redirect("dead.test/"))
	w.Visit("round.test/", w.Redirect("round.test/2"))
	w.Visit("round.test/2", w.Redirect("round.test/"))
	w.Depth("waits.test/", 1, 0)
	w.Depth("hosts.test/1", 1, 0)
	ended("dead.test/", schema.DeadLink, schema.StatusReason(404))
	ended("away.test/", schema.Unreachable, schema.Reason{Cause: schema.CauseNXDomain})
	ended("fails.test/", schema.Failed, schema.StatusReason(503))
	ended("wall.test/", schema.Failed, schema.Reason{Cause: schema.CauseChallenge, Detail: "Anubis"})
	ended("deny.test/", schema.Failed, schema.Reason{Cause: schema.CauseDenied})
	w.Host("hosts.test/1", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseRefused}
	})
	links, walled, err := broken.Find(w.Survey())
	if err != nil {
		t.Fatal(err)
	}
	if len(walled) != 1 || walled[0].To != "https://wall.test/" || walled[0].Answer != schema.AnswerChallenge {
		t.Errorf("links to walled pages: %+v", walled)
	}
	type row struct {
		Origin, From, Anchor, Kind, To, State string
		Status                                int
		Why                                   string
	}
	var got []row
	for _, l := range links {
		got = append(got, row{l.Origin, l.From, l.Link.Anchor, l.Link.Kinds.First().String(), l.To, l.State.String(),
			l.Status, l.Why})
	}
	const dead, missing = "dead_link", "404 Not Found"
	want := []row{
		{"a.test", "https://a.test/", "to fails.test/", "anchor", "https://fails.test/", "failed", 503,
			"503 Service Unavailable"},
		{"a.test", "https://a.test/", "to hosts.test/1", "anchor", "https://hosts.test/1", "unreachable", 0,
			"connection refused"},
		{"*.q.test", "https://x.q.test/", "to dead.test/", "anchor", "https://dead.test/", dead, 404, missing},
		{"", "https://b.test/", "to away.test/", "anchor", "https://away.test/", "unreachable", 0, "no such host"},
		{"", "https://b.test/", "to dead.test/", "anchor", "https://dead.test/", dead, 404, missing},
		{"", "https://moved.test/", "", "redirect", "https://dead.test/", dead, 404, missing},
		{"", "https://round.test/", "", "redirect", "https://round.test/2", "failed", 301, "redirect loop"},
		{"", "https://round.test/2", "", "redirect", "https://round.test/", "failed", 301, "redirect loop"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// In TestFindInLaterRun the second run does not find a page that linked to a dead one, and a dead page
// that another page linked to. A page on the blacklist does not count.
func TestFindInLaterRun(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists+"[[blacklist]]\nurl = '^https://a.test/ads'\n")
	dead := func(v *schema.Visit) { v.State, v.Status, v.Reason = schema.DeadLink, 404, schema.StatusReason(404) }
	finish := func() { w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted }) }
	w.Visit("a.test/", w.Links("a.test/gone", "dead.test/"))
	w.Visit("a.test/gone", w.Links("dead.test/"))
	w.Visit("dead.test/", dead)
	finish()
	w.Begin()
	w.Visit("a.test/", w.Links("dead.test/"))
	w.Visit("a.test/ads", w.Links("dead.test/"))
	w.Visit("dead.test/", dead)
	for _, want := range []int{2, 1} { // pages that the run has not reached yet still count
		links, _, err := broken.Find(w.Survey())
		if err != nil || len(links) != want {
			t.Errorf("%d broken links, %v; want %d: %v", len(links), err, want, links)
		}
		finish()
	}
}
