package surveytest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// Tell returns everything that a survey says about its run and that a later run does not change:
// one line for the counts and for each page, link and host. It leaves out the states of pages that
// were not visited, which depend on records of hosts.
func Tell(t testing.TB, s *survey.Survey) []string {
	t.Helper()
	depths, err := s.OriginDepths()
	if err != nil {
		t.Fatal(err)
	}
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	recount(t, s, counts)
	revisit(t, s)
	lasting := *counts
	lasting.Gone = 0 // it depends on what waits now
	lasting.Frontier, lasting.Errors = 0, nil
	clear(lasting.ByState[:])
	clear(lasting.ByAnswer[:])
	lines := []string{fmt.Sprintf("%+v", lasting)}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	err = s.EachPage(func(p *survey.Page) error {
		state := p.State.String() + " " + p.Error
		if !p.Visited && (p.InRun || p.Visit == nil) {
			state = "not visited"
		}
		var from []string
		for origin, depth := range depths.Of(p.ID) {
			from = append(from, fmt.Sprintf("%d:%d", origin, depth))
		}
		add("%s %s %s, runs %d-%d, depth %d %v, %d redirects", p.URL, p.Class, state, p.FirstRun, p.LastRun, p.Depth, from,
			p.Hops)
		return nil
	})
	if err == nil {
		err = s.Links.Each(func(from schema.ID, l schema.Link, first, last schema.RunID) error {
			add("%d %+v, runs %d-%d", from, l, first, last)
			return nil
		})
	}
	if err == nil {
		err = s.Hosts.Each(func(r *survey.HostReport) error {
			if r.Known > 0 {
				depth := int(kv.NoDepth)
				if r.MinDepth != nil {
					depth = *r.MinDepth
				}
				add("%s %q, depth %d, %d-%d: %d known, %d visited, %d processed",
					r.Host.Name, r.Title, depth, r.FromDepth, r.ToDepth, r.Known, r.Visited, r.Processed)
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// recount counts the pages of a survey one by one, which must give the same counts.
func recount(t testing.TB, s *survey.Survey, counts *survey.Counts) {
	t.Helper()
	speaks, err := s.Speakers()
	if err != nil {
		t.Fatal(err)
	}
	want, got := survey.Counts{}, survey.Counts{ByState: counts.ByState, ByAnswer: counts.ByAnswer,
		ByClass: counts.ByClass, ByDepth: counts.ByDepth,
		Pages: counts.Pages, Gone: counts.Gone, Frontier: counts.Frontier, Links: counts.Links,
		LinksOmitted: counts.LinksOmitted}
	err = s.EachPage(func(p *survey.Page) error {
		want.Pages++
		want.ByState[p.State]++
		if p.VisitedNow() {
			want.ByAnswer[p.Answer]++
		}
		want.ByClass[p.Class]++
		want.ByDepth[p.Depth]++
		if p.Waits() {
			want.Frontier++
		}
		if p.Gone {
			want.Gone++
		}
		if p.Visit != nil && p.Visit.Run >= s.Since() {
			want.Links += len(p.Visit.Links)
		}
		if speaks(p.ID) {
			want.LinksOmitted += p.LinksOmitted()
		}
		if gone := p.LastRun < s.Since() && !p.Left; gone != p.Gone {
			t.Errorf("%s: gone is %t; run %d saw it last", p.URL, p.Gone, p.LastRun)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		t.Errorf("counts are %s; one by one the pages give %s", g, w)
	}
}

// revisit walks over the places of all pages, which must be those of the pages.
func revisit(t testing.TB, s *survey.Survey) {
	t.Helper()
	var want, got []string
	line := func(p *survey.Page) string {
		return fmt.Sprintln(p.ID, p.URL, p.Host, p.HostName, p.Site, p.Entity, p.PageType, p.Class, p.Depth, p.Hops, p.Seed,
			p.InRun, p.Left, p.FirstSeen, p.FirstRun, p.LastRun, p.Referrer, p.Visited)
	}
	err := s.EachPage(func(p *survey.Page) error { want = append(want, line(p)); return nil })
	if err == nil {
		err = s.EachPlace(func(p *survey.Page) error { got = append(got, line(p)); return nil })
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("the places of pages: %v (-want +got):\n%s", err, diff)
	}
}
