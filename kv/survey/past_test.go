package survey_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestLinksOfEveryRun walks a terrain three times: the links of each run can still be read.
func TestLinksOfEveryRun(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/x", "a.test/old"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/x", "a.test/new"))
	w.Visit("a.test/x", w.Links("a.test/old"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", func(v *schema.Visit) { v.Status, v.Stand = 304, 2 })
	s := w.Survey()
	names := map[schema.ID]string{w.Page("a.test/"): "/", w.Page("a.test/x"): "x", w.Page("a.test/old"): "old",
		w.Page("a.test/new"): "new"}
	for run, want := range map[schema.RunID]string{
		1: "/ x 1-1, / old 1-1",
		2: "/ x 1-2, / new 2-2, x old 2-2",
		3: "/ x 1-3, / new 2-3, x old 2-2",
	} {
		var got []string
		older, err := s.At(run)
		if err != nil {
			t.Fatal(err)
		}
		err = older.Links.Each(func(from schema.ID, l schema.Link, first, last schema.RunID) error {
			got = append(got, fmt.Sprintf("%s %s %d-%d", names[from], names[l.To], first, last))
			return nil
		})
		if diff := cmp.Diff(want, strings.Join(got, ", ")); err != nil || diff != "" {
			t.Errorf("run %d: %v (-want +got):\n%s", run, err, diff)
		}
	}
}

// many has a list of each kind, a rule, and two origins.
const many = "[crawler]\nmax-depth = 1\nmax-domain-requests = 3\n" + surveytest.Minimal + `exclude = ["^/private"]
[[quality]]
domain = "q.test"
seeds = ["https://q.test/"]
[[blacklist]]
domain = "bad.test"
`

// TestAt reports about the first of three runs what was reported when it ended, except why pages
// are missing.
func TestAt(t *testing.T) {
	w := surveytest.New(t, many)
	next := func() {
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
		w.Begin()
	}
	w.Visit("a.test/", w.Links("b.test/", "q.test/x", "bad.test/", "a.test/private", "a.test/moved", "a.test/left"))
	for _, name := range []string{"b.test/", "bad.test/"} {
		w.Depth(name, 1, 0)
	}
	w.Depth("a.test/private", 0, 0)
	w.Visit("a.test/moved", w.Redirect("c.test/"))
	w.Depth("a.test/left", 0, 0)
	w.Depth("c.test/", 1, 1)
	w.Visit("c.test/", state(schema.DeadLink, 404))
	w.Visit("b.test/", w.Links("d.test/"))
	w.Depth("d.test/", 2, 0)
	w.Visit("q.test/", w.Links("b.test/"))
	w.Depth("q.test/x", 0, 0)
	w.Visit("q.test/x", nil)
	w.Host("a.test/", func(h *schema.Host) { h.RunRequests, h.Overflow = 3, 7 })
	first := w.Survey()
	told := surveytest.Tell(t, first)
	if report, err := first.Hosts.Report(w.Store.HostOf(w.Page("a.test/"))); err != nil || report.Cover != survey.CoverBudget {
		t.Errorf("cover %d, %v; want %d", report.Cover, err, survey.CoverBudget)
	}

	next()
	w.Visit("a.test/", w.Links("a.test/left", "e.test/"))
	w.Visit("a.test/left", w.Links("d.test/"))
	w.Visit("q.test/", state(schema.Failed, 500))
	w.Host("a.test/", func(h *schema.Host) { h.RunRequests, h.CrawlDelay = 2, time.Hour })
	next()
	w.Visit("c.test/", w.Links("a.test/"))
	w.Visit("q.test/", w.Redirect("e.test/"))
	w.Visit("a.test/", state(schema.Unreachable, 0))
	s, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(told, surveytest.Tell(t, s)); diff != "" {
		t.Errorf("(-then +now):\n%s", diff)
	}
	if !s.Past() || first.Past() || s.Run().ID != 1 || len(s.Runs()) != 1 {
		t.Errorf("past %t, run %d of %d", s.Past(), s.Run().ID, len(s.Runs()))
	}
	for name, want := range map[string]schema.State{"a.test/left": schema.Discovered, "a.test/private": schema.Discovered,
		"d.test/": schema.DepthExceeded, "bad.test/": schema.Blacklisted} {
		p, err := s.Page(w.Page(name))
		if lost := name == "a.test/left"; err != nil || p.State != want || p.Lost != lost || p.Missing() != lost {
			t.Errorf("%s: %s, lost %t, missing %t, %v; want %s", name, p.State, p.Lost, p.Missing(), err, want)
		}
	}
	report, err := s.Hosts.Report(w.Store.HostOf(w.Page("a.test/")))
	if err != nil || report.Cover != survey.CoverLost || report.KnownMissing != 1 || report.Waiting != 0 ||
		report.Budget != "" {
		t.Errorf("%+v, %v", report, err)
	}
	if _, ok, err := s.Lookup("https://e.test/"); ok || err != nil {
		t.Errorf("run 1 knows what run 2 found, %v", err)
	}
	for name, want := range map[string]bool{"a.test/": true, "e.test/": false} {
		if ok, err := s.Hosts.Maps(w.Store.HostOf(w.Page(name))); ok != want || err != nil {
			t.Errorf("the map of run 1 has the host of %s: %t, %v", name, ok, err)
		}
	}
	err = s.Hosts.Each(func(h *survey.HostReport) error {
		if h.Host.Name == "e.test" {
			t.Errorf("a host of run 2: %+v", h.Host)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAtRefuses(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", nil)
	w.Begin()
	for _, run := range []schema.RunID{0, 3} {
		if _, err := w.Survey().At(run); !errors.Is(err, survey.ErrRun) {
			t.Errorf("At(%d) = %v; want %v", run, err, survey.ErrRun)
		}
	}
	w.Update(func(tx *kv.Tx) error { return tx.Meta.Put(kv.MetaPruned, []byte("2")) })
	if _, err := w.Survey().At(1); !errors.Is(err, survey.ErrRun) {
		t.Errorf("At(1) = %v; run 1 was pruned", err)
	}
}

// TestPrunedTwice keeps more runs than an already pruned file has: removed runs stay removed.
func TestPrunedTwice(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for run := range 4 {
		if run > 0 {
			w.Config.Crawler.MaxPages = run // each has a configuration of its own
			w.Update(func(tx *kv.Tx) error { return tx.Runs.PutConfig(w.Config.Hash(), w.Config.Effective()) })
			w.Begin()
		}
		w.Depth("a.test/", 0, 0)
		w.Visit("a.test/", w.Links("b.test/"))
		w.Change(func(run *schema.Run) { run.Status = schema.RunCompleted })
	}
	store := w.Store
	for i, from := range []schema.RunID{3, 1} {
		path := filepath.Join(t.TempDir(), "pruned.bolt")
		done, err := store.Prune(t.Context(), path, from)
		if err != nil {
			t.Fatal(err)
		}
		if done.From != 3 {
			t.Errorf("pruned %d times: kept from run %d on", i+1, done.From)
		}
		if store, err = kv.Open(path, kv.Options{}); err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		s, err := survey.New(store)
		if err != nil {
			t.Fatal(err)
		}
		for run, want := range map[schema.RunID]error{2: survey.ErrRun, 3: nil} {
			if _, err := s.At(run); !errors.Is(err, want) {
				t.Errorf("pruned %d times: At(%d) = %v, want %v", i+1, run, err, want)
			}
		}
	}
}
