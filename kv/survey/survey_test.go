package survey_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
	"github.com/sumi-ripple/ripple/schema/parked"
)

const minimal = surveytest.Minimal

func look(t *testing.T, w *surveytest.World, name string) *survey.Page {
	t.Helper()
	p, err := w.Survey().Page(w.Page(name))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNoRun(t *testing.T) {
	store, err := kv.Open(filepath.Join(t.TempDir(), "state.bolt"), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if _, err := survey.New(store); !errors.Is(err, survey.ErrNoRun) {
		t.Errorf("New of an empty store: %v", err)
	}
}

func TestRedirects(t *testing.T) {
	w := surveytest.New(t, minimal)
	name := func(i int) string { return "a.test/" + strings.Repeat("r", i+1) }
	for i := range 11 { // 11 redirects from the first page, 10 from the second
		w.Visit(name(i), w.Redirect(name(i+1)))
	}
	w.Visit("a.test/x", w.Redirect("a.test/y"))
	w.Visit("a.test/y", w.Redirect("a.test/z"))
	w.Visit("a.test/z", w.Redirect("a.test/y"))
	tests := []struct {
		page  string
		state schema.State
		err   string
		count int
	}{
		{name(0), schema.Failed, "more than 10 redirects", 11},
		{name(1), schema.Processed, "", 10},
		{name(10), schema.Processed, "", 1},
		{"a.test/x", schema.Failed, "redirect loop", 3},
		{"a.test/y", schema.Failed, "redirect loop", 2},
	}
	for _, tt := range tests {
		p := look(t, w, tt.page)
		if p.State != tt.state || p.Error != tt.err || p.RedirectCount != tt.count || p.RedirectTo == 0 {
			t.Errorf("%s: %s, %q, %d redirects to %d; want %s, %q, %d", tt.page, p.State, p.Error, p.RedirectCount, p.RedirectTo,
				tt.state, tt.err, tt.count)
		}
	}
}

// Every host with pages is counted once: among those that are visited, or among those that a list
// excludes.
func TestCountedHosts(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	w.Visit("a.test/", w.Links("b.test/", "bad.test/x", "bad.test/y", "stub.test/z", "x.q.test/"))
	w.Update(func(tx *kv.Tx) error { _, err := tx.Hosts.Add("empty.test"); return err })
	counts, err := w.Survey().Counts()
	if err != nil || counts.Hosts != 3 || counts.Listed != 2 {
		t.Errorf("%d hosts, %d listed, %v; want 3 and 2", counts.Hosts, counts.Listed, err)
	}
}

// TestUntilAmid ends a walk that finds nothing when its context ends, and not at the end of the
// file.
func TestUntilAmid(t *testing.T) {
	const pages = 2500
	w := surveytest.New(t, surveytest.Minimal)
	for i := range pages {
		w.Visit(fmt.Sprintf("a.test/%d", i), w.Links("a.test/"))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := w.Survey()
	s.Until(ctx)
	var asked atomic.Int64
	none := func(schema.ID) bool { stop(); asked.Add(1); return false }
	err := s.Links.EachTo(none, func(schema.ID, schema.Link) error { return nil })
	if n := asked.Load(); !errors.Is(err, context.Canceled) || n == 0 || n >= pages {
		t.Errorf("after %d questions: %v", n, err)
	}
}

// TestUntil ends every walk over many records with the cause of its context.
func TestUntil(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	for i := range 12 {
		w.Visit(fmt.Sprintf("a.test/%d", i), w.Links("a.test/", "b.test/"))
	}
	w.Depth("b.test/", 1, 0)
	b := w.Page("b.test/")
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(stopped)
	nobody := func(schema.ID, schema.ID) {}
	none := func(schema.ID, schema.Link, schema.RunID, schema.RunID) error { return nil }
	for name, walk := range map[string]func(*survey.Survey) error{
		"Counts":   func(s *survey.Survey) error { _, err := s.Counts(); return err },
		"Host":     func(s *survey.Survey) error { _, err := s.Hosts.Report(1); return err },
		"EachHost": func(s *survey.Survey) error { return s.Hosts.Each(func(*survey.HostReport) error { return nil }) },
		"EachHostUntitled": func(s *survey.Survey) error {
			return s.Hosts.EachUntitled(func(*survey.HostReport) error { return nil })
		},
		"EachPage":          func(s *survey.Survey) error { return s.EachPage(func(*survey.Page) error { return nil }) },
		"EachPlace":         func(s *survey.Survey) error { return s.EachPlace(func(*survey.Page) error { return nil }) },
		"EachSketch":        func(s *survey.Survey) error { return s.EachSketch(func(*survey.Page) error { return nil }) },
		"EachLink":          func(s *survey.Survey) error { return s.Links.Each(none) },
		"EachLinkEver":      func(s *survey.Survey) error { return s.Ever().Links.Each(none) },
		"EachTarget":        func(s *survey.Survey) error { return s.Links.EachTarget(nobody) },
		"EachTargetWritten": func(s *survey.Survey) error { return s.Links.EachTargetWritten(nobody) },
		"EachLinkTo": func(s *survey.Survey) error {
			return s.Links.EachTo(func(schema.ID) bool { return true }, func(schema.ID, schema.Link) error { return nil })
		},
		"EachLinkBetween": func(s *survey.Survey) error {
			return s.Links.EachBetween([][2]schema.ID{{1, b}}, func(int, schema.Link) error { return nil })
		},
		"EachLinkInto": func(s *survey.Survey) error {
			return s.Links.EachInto(func(schema.HostID) bool { return true }, func(schema.ID) bool { return true },
				func(schema.ID, schema.Link) error { return nil })
		},
		"Ways":         func(s *survey.Survey) error { _, err := s.Ways(b, 1); return err },
		"OriginDepths": func(s *survey.Survey) error { _, err := s.OriginDepths(); return err },
		"Digest":       func(s *survey.Survey) error { _, err := survey.Digest(s); return err },
	} {
		s := w.Survey()
		if err := walk(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		s = w.Survey()
		s.Until(ctx)
		if err := walk(s); !errors.Is(err, stopped) {
			t.Errorf("%s: %v, want the cause", name, err)
		}
	}
}

// TestRunRules: a run names the rules that its answers were recorded by, and those by which others are derived.
func TestRunRules(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Change(func(r *schema.Run) { r.JudgedBy("walls", "2026-01-15-01234567") })
	want := "walls 2026-01-15-01234567, missing " + missing.Version + ", parked " + parked.Version()
	if got := w.Survey().Run().Rules; got != want {
		t.Errorf("rules %q, want %q", got, want)
	}
}
