package survey_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestOneHost compares the report on a host that counts only its own pages with the one from
// counting all pages.
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

// TestHostsWaiting adds up the waiting pages of hosts: the sum is that of the whole survey, even
// with suspended hosts and pages beyond budgets.
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
	w.Visit("last.test/asked", func(v *schema.Visit) { // visit at which the host was given up
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

// A host is not called complete without mention of the pages that rules leave out.
func TestCompleteButForRules(t *testing.T) {
	const rules = "exclude = [\"^/no\"]\n"
	for _, tt := range []struct {
		name, config string
		make         func(w *surveytest.World)
		cover        survey.Cover
		text         string
	}{
		{"nothing is left out", rules, func(*surveytest.World) {}, survey.CoverComplete, "complete"},
		{"exclude", rules, func(w *surveytest.World) {
			w.Depth("a.test/no/1", 0, 0)
			w.Depth("a.test/no/2", 0, 0)
		}, survey.CoverByRule, "complete, without 2 pages that rules leave out"},
		{"pages too deep", "", func(w *surveytest.World) { w.Depth("a.test/deep", 200, 0) },
			survey.CoverToDepth, "complete to depth 3"},
		{"a list", rules + "[[blacklist]]\nurl = '/listed'\n", func(w *surveytest.World) { w.Depth("a.test/listed", 1, 0) },
			survey.CoverComplete, "complete"},
	} {
		w := surveytest.New(t, surveytest.Minimal+tt.config)
		w.Visit("a.test/", nil)
		tt.make(w)
		r, err := w.Survey().Hosts.Report(w.Store.HostOf(w.Page("a.test/")))
		if err != nil || r.Cover != tt.cover || r.Coverage != tt.text {
			t.Errorf("%s: %v, %q, %v; want %v, %q", tt.name, r.Cover, r.Coverage, err, tt.cover, tt.text)
		}
	}
	w := surveytest.New(t, "[crawler]\nrespect-nofollow = true\n"+surveytest.Minimal)
	w.Depth("b.test/", 1, 0)
	w.Visit("b.test/", func(v *schema.Visit) {
		v.Links = []schema.Link{{To: w.URL(schema.KindPage, "b.test/no", v.URL),
			Kinds: surveytest.Kinds(schema.LinkAnchor), Rel: schema.RelNofollow}}
	})
	r, err := w.Survey().Hosts.Report(w.Store.HostOf(w.Page("b.test/")))
	if want := "complete, without 1 page that rules leave out"; err != nil || r.Coverage != want {
		t.Errorf("nofollow: %q, %v; want %q", r.Coverage, err, want)
	}
}
