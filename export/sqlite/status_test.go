package sqlite_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Some pages of the first run are on hosts that do not answer in the second, others were
// blacklisted since. If the state no longer rests on an answer, the answer is not shown with it;
// facts are kept.
func TestStatus(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	for _, name := range []string{"away.test/", "bad.test/", "limited.test/", "waits.test/"} {
		w.Visit(name, nil)
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	for _, name := range []string{"away.test/", "bad.test/", "limited.test/", "waits.test/"} {
		w.Depth(name, 1, 0)
	}
	w.Host("away.test/", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseRefused}
	})
	w.Host("limited.test/", func(h *schema.Host) { h.Throttles = 1 })
	s := w.Survey()
	d, db := openDB(t, s), write(t, s)
	const query = "SELECT domain, state, status_code FROM pages WHERE domain <> 'a.test' ORDER BY domain"
	want := "away.test|unreachable|\nbad.test|blacklisted|200\nlimited.test|rate_limited|\nwaits.test|queued|200\n"
	if got := rows(t, db, query); got != want {
		t.Errorf("%s; want %s", got, want)
	}
	sameAnswer(t, d, db, query)
}
