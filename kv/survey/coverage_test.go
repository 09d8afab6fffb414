package survey_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestOneHost holds the report on a host for which only its own pages were counted to the
// one that comes of counting all.
func TestOneHost(t *testing.T) {
	store := scaletest.Open(t, scaletest.Made(t, scaletest.Size{Pages: 3000, Links: 12_000, Hosts: 60}))
	open := func() *survey.Survey {
		s, err := survey.New(store)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := map[schema.HostID]survey.HostReport{}
	if err := open().Hosts.Each(func(r *survey.HostReport) error { want[r.Host.ID] = *r; return nil }); err != nil {
		t.Fatal(err)
	}
	for id := range want {
		got, err := open().Hosts.Report(id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[id], *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", got.Host.Name, diff)
		}
	}
}

// TestHostsWaiting adds up what waits at hosts: it is what waits in all, also where a host rests, and what their
// budgets leave out.
func TestHostsWaiting(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	for page, host := range map[string]func(*schema.Host){
		"wait.test/": nil,
		"rest.test/": func(h *schema.Host) { h.Throttles = 1 },
		"gone.test/": func(h *schema.Host) { h.RunGivenUp = schema.GaveUpConnection },
		"last.test/": func(h *schema.Host) { h.Throttles, h.RunGivenUp = 5, schema.GaveUpRateLimit },
		"over.test/": func(h *schema.Host) { h.RunRequests = 500 },
	} {
		w.Depth(page, 1, 0)
		if host != nil {
			w.Host(page, host)
		}
	}
	w.Visit("last.test/asked", func(v *schema.Visit) { // at which the host was given up
		v.State, v.Status, v.Reason = schema.RateLimited, 429, schema.StatusReason(429)
	})
	s, sum := w.Survey(), 0
	err := s.Hosts.Each(func(r *survey.HostReport) error { sum += r.Waiting; return nil })
	counts, err2 := s.Counts()
	want := counts.Frontier + counts.ByState[schema.RequestLimitHit]
	if err != nil || err2 != nil || sum != want || want != 4 {
		t.Errorf("%d pages wait at hosts, %d in all; %v, %v", sum, want, err, err2)
	}
}
