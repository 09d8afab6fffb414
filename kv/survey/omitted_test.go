package survey_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// TestLinksOmitted has pages with more links than are recorded: their host is cut by the key that
// left them out, and lacks no page.
func TestLinksOmitted(t *testing.T) {
	tests := []struct {
		name     string
		key      string
		distinct int
		recorded int
		cut      bool
		coverage string
	}{
		{"all are recorded", "", 3, 3, false, "complete"},
		{"beyond a limit", "max-links-per-page = 2\n", 5, 2, true, "3 links left out (max-links-per-page = 2)"},
		{"one beyond the default", "", 10_001, 3, true, "1 link left out (max-links-per-page = 10000)"},
		{"kept out by a trap", "", 5, 3, false, "complete"},
		{"both", "max-links-per-page = 4\n", 5, 3, true, "1 link left out (max-links-per-page = 4)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, "[crawler]\n"+tt.key+surveytest.Lists)
			w.Visit("a.test/", func(v *schema.Visit) {
				w.Links([]string{"bad.test/1", "bad.test/2", "bad.test/3"}[:tt.recorded]...)(v)
				v.Distinct = tt.distinct
			})
			s := w.Survey()
			r, err := s.Hosts.Report(s.Hosts.Of(w.Page("a.test/")))
			if err != nil {
				t.Fatal(err)
			}
			if r.Cover.Cut() != tt.cut || r.Coverage != tt.coverage {
				t.Errorf("coverage %q, cut %t; want %q, %t", r.Coverage, r.Cover.Cut(), tt.coverage, tt.cut)
			}
			counts, err := s.Counts()
			if err != nil {
				t.Fatal(err)
			}
			want := tt.distinct - tt.recorded
			if r.LinksOmitted != want || counts.LinksOmitted != want || r.KnownMissing != 0 {
				t.Errorf("%d links of the host, %d of all and %d pages missing; want %d, %d, 0",
					r.LinksOmitted, counts.LinksOmitted, r.KnownMissing, want, want)
			}
		})
	}
}

// TestLinksOmittedLater remembers what the first run left out, for a page that the next one keeps,
// and for a run that another has followed.
func TestLinksOmittedLater(t *testing.T) {
	w := surveytest.New(t, "[crawler]\nmax-links-per-page = 1\n"+surveytest.Minimal)
	first := w.Visit("a.test/", func(v *schema.Visit) { w.Links("b.test/")(v); v.Distinct = 4 })
	w.Begin()
	w.Visit("a.test/", func(v *schema.Visit) { v.Kept, v.Stand, v.Requests = true, first, 0 })
	s := w.Survey()
	older, err := s.At(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*survey.Survey{s, older} {
		r, err := s.Hosts.Report(s.Hosts.Of(w.Page("a.test/")))
		if err != nil {
			t.Fatal(err)
		}
		if want := "3 links left out (max-links-per-page = 1)"; r.Coverage != want || r.LinksOmitted != 3 {
			t.Errorf("run %d: %q, %d links; want %q, 3", s.Run().ID, r.Coverage, r.LinksOmitted, want)
		}
	}
}

// TestLinksOmittedGone has the second run find that a page with too many links is gone, and another
// one is on a list: it leaves nothing out, but the first run did.
func TestLinksOmittedGone(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal+"[[blacklist]]\nurl = '^https://a.test/ads'\n")
	many := func(v *schema.Visit) { w.Links("b.test/")(v); v.Distinct, v.LinkLimit = 5, 1 }
	w.Visit("a.test/", w.Links("a.test/big"))
	w.Visit("a.test/big", many)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", nil)
	w.Visit("a.test/ads", many)
	check := func(s *survey.Survey, want int, coverage string) {
		t.Helper()
		r, err := s.Hosts.Report(s.Hosts.Of(w.Page("a.test/")))
		if err != nil {
			t.Fatal(err)
		}
		counts, err := s.Counts()
		if err != nil || counts.LinksOmitted != want || r.LinksOmitted != want || r.Coverage != coverage {
			t.Errorf("run %d: %d links of all, %d of the host, %q, %v; want %d, %q",
				s.Run().ID, counts.LinksOmitted, r.LinksOmitted, r.Coverage, err, want, coverage)
		}
	}
	const cut = "4 links left out (max-links-per-page = 1)"
	check(w.Survey(), 4, cut) // run 2 may still reach it
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	check(w.Survey(), 0, "complete")
	older, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	check(older, 4, cut)
}

// TestCutSites has a site with more hosts than may be recorded.
func TestCutSites(t *testing.T) {
	w := surveytest.New(t, "[traps]\nmax-hosts-per-site = 2\n"+surveytest.Minimal)
	w.Visit("a.test/", func(v *schema.Visit) {
		w.Links("x.wide.test/", "y.wide.test/", "x.full.test/", "y.full.test/")(v)
		v.Distinct = 9
	})
	w.Update(func(tx *kv.Tx) error {
		for range 5 {
			if err := tx.Runs.CountUp(scope.CountSiteOverflow, "wide.test", w.Run.ID); err != nil {
				return err
			}
		}
		err := tx.Runs.AddToTotal(scope.CountSiteOthers, "wide.test", w.Run.ID)
		return errors.Join(err, tx.Runs.AddToTotal(scope.CountSiteOthers, "wide.test", w.Run.ID))
	})
	s := w.Survey()
	sites, err := survey.CutSites(s)
	if err != nil {
		t.Fatal(err)
	}
	want := []survey.CutSite{{Site: "wide.test", Hosts: 2, Overflow: 5,
		Limit: "max-hosts-per-site = 2 for hosts that only other sites name"}}
	if diff := cmp.Diff(want, sites); diff != "" {
		t.Error(diff)
	}
	for name, overflow := range map[string]int{"x.wide.test/": 5, "y.wide.test/": 5, "x.full.test/": 0, "a.test/": 0} {
		r, err := s.Hosts.Report(s.Hosts.Of(w.Page(name)))
		if err != nil {
			t.Fatal(err)
		}
		if r.SiteOverflow != overflow || strings.Contains(r.Coverage, "max-hosts") {
			t.Errorf("%s: overflow %d, %q; want %d", name, r.SiteOverflow, r.Coverage, overflow)
		}
	}
}

// TestListedOverflow has a stub host with unrecorded URLs.
func TestListedOverflow(t *testing.T) {
	w := surveytest.New(t, "[traps]\nmax-urls-per-host = 1\n"+surveytest.Lists)
	w.Visit("a.test/", w.Links("stub.test/1"))
	w.Host("stub.test/1", func(h *schema.Host) { h.Overflow = 1 })
	s := w.Survey()
	r, err := s.Hosts.Report(s.Hosts.Of(w.Page("stub.test/1")))
	if err != nil {
		t.Fatal(err)
	}
	want := "stub, capped as a trap (1 URL not recorded: max-urls-per-host = 1)"
	if r.Coverage != want || !r.Cover.Cut() || r.KnownMissing != 1 {
		t.Errorf("%q, cut %t, %d missing; want %q, cut, 1", r.Coverage, r.Cover.Cut(), r.KnownMissing, want)
	}
}

// TestPrunedSite has a host that pruning removes: its site has room again.
func TestPrunedSite(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("old.wide.test/", "kept.wide.test/"))
	for host, place := range map[string]schema.SitePlace{
		"old.wide.test/": schema.OtherPlace, "kept.wide.test/": schema.OwnPlace,
	} {
		w.Host(host, func(h *schema.Host) { h.Place = place })
		w.Update(func(tx *kv.Tx) error {
			return tx.Runs.AddToTotal(scope.CountOfPlace(place), "wide.test", w.Run.ID)
		})
	}
	w.Begin()
	w.Visit("a.test/", w.Links("kept.wide.test/"))
	path := filepath.Join(t.TempDir(), "pruned.bolt")
	if _, err := w.Store.Prune(t.Context(), path, w.Run.ID); err != nil {
		t.Fatal(err)
	}
	pruned, err := kv.Open(path, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer pruned.Close()
	err = pruned.View(func(tx *kv.Tx) error {
		own, err := tx.Runs.Total(scope.CountSiteHosts, "wide.test")
		others, err2 := tx.Runs.Total(scope.CountSiteOthers, "wide.test")
		if own != 1 || others != 0 || pruned.Hosts() != 2 {
			t.Errorf("%d and %d hosts of the site are counted and %d of all recorded, want 1, 0 and 2", own, others, pruned.Hosts())
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Fatal(err)
	}
}
