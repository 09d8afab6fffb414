package survey_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// pieces makes a terrain of two runs with links that were added, removed and kept.
func pieces(t *testing.T) *surveytest.World {
	w := surveytest.New(t, surveytest.Lists)
	w.URL(schema.KindSitemap, "a.test/sitemap.xml", 0)
	w.Visit("a.test/", w.Links("a.test/x", "a.test/old", "b.test/"))
	w.Visit("a.test/sitemap.xml", func(v *schema.Visit) { v.Sitemap = []schema.SitemapEntry{{To: w.Page("a.test/x")}} })
	w.Visit("a.test/x", w.Redirect("b.test/"))
	for i := range 12 {
		name := string(rune('a'+i)) + ".q.test/"
		w.Visit("q.test/"+name, w.Links("q.test/logo", "b.test/"))
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/x", "a.test/new"))
	w.Visit("a.test/sitemap.xml", func(v *schema.Visit) { v.Sitemap = []schema.SitemapEntry{{To: w.Page("a.test/new")}} })
	return w
}

// TestPieces reads piece by piece, within one transaction, what is otherwise read at once.
func TestPieces(t *testing.T) {
	s := pieces(t).Survey()
	err := s.Hold(t.Context(), func() error {
		return errors.Join(linksByPage(t, s), pagesFrom(t, s), hostsByName(t, s), sitemaps(t, s))
	})
	if err != nil {
		t.Fatal(err)
	}
}

type seen struct {
	From, To    schema.ID
	Anchor      string
	SiteWide    bool
	First, Last schema.RunID
}

func linksByPage(t *testing.T, s *survey.Survey) error {
	var want []seen
	err := s.Links.Each(func(from schema.ID, l schema.Link, first, last schema.RunID) error {
		want = append(want, seen{from, l.To, l.Anchor, l.SiteWide, first, last})
		return nil
	})
	if err != nil {
		return err
	}
	for size := schema.ID(0); size < 5; size++ {
		for _, anchors := range []bool{true, false} {
			var got []seen
			for id := schema.ID(1); int(id) <= s.URLs()+2; id += size + 1 {
				pages, err := s.Links.Range(id, id+size, anchors)
				if err != nil {
					return err
				}
				if got, err = appendSeen(got, s, pages); err != nil {
					return err
				}
			}
			for i := range got {
				if !anchors && got[i].Anchor == "" {
					got[i].Anchor = want[min(i, len(want)-1)].Anchor
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%d pages at a time, anchors: %t (-want +got):\n%s", size+1, anchors, diff)
			}
		}
	}
	if !slices.ContainsFunc(want, func(l seen) bool { return l.SiteWide }) {
		t.Error("no link is site-wide")
	}
	return nil
}

func appendSeen(all []seen, s *survey.Survey, pages []survey.PageLinks) ([]seen, error) {
	for _, p := range pages {
		for i, l := range p.Links {
			wide, err := s.Links.SiteWide(p.Page, l)
			if err != nil {
				return nil, err
			}
			all = append(all, seen{p.Page, l.To, l.Anchor, wide, p.First[i], p.Last})
		}
	}
	return all, nil
}

func pagesFrom(t *testing.T, s *survey.Survey) error {
	ids := func(each func(func(*survey.Page) error) error) (all []schema.ID, err error) {
		err = each(func(p *survey.Page) error { all = append(all, p.ID); return nil })
		return all, err
	}
	want, err := ids(s.EachPage)
	for from := schema.ID(0); int(from) <= s.URLs()+1 && err == nil; from++ {
		for len(want) > 0 && want[0] < from {
			want = want[1:]
		}
		var got []schema.ID
		got, err = ids(func(f func(*survey.Page) error) error { return s.EachPageFrom(from, f) })
		if !slices.Equal(got, want) {
			t.Errorf("from %d: %v; want %v", from, got, want)
		}
	}
	return err
}

func hostsByName(t *testing.T, s *survey.Survey) error {
	for id := schema.HostID(1); int(id) <= s.Hosts.Count(); id++ {
		name, err := s.Hosts.Name(id)
		if err != nil {
			return err
		}
		if got, ok, err := s.Hosts.Lookup(name); got != id || !ok || err != nil {
			t.Errorf("%s is host %d (%t, %v); want %d", name, got, ok, err, id)
		}
	}
	if id, ok, err := s.Hosts.Lookup("nowhere.test"); id != 0 || ok || err != nil {
		t.Errorf("an unknown host is %d (%t, %v)", id, ok, err)
	}
	return nil
}

func sitemaps(t *testing.T, s *survey.Survey) error {
	var want, got []string
	err := s.EachSitemapEntry(func(url string, _ schema.SitemapEntry) error {
		want = append(want, url)
		return nil
	})
	for id := schema.ID(0); int(id) <= s.URLs() && err == nil; id++ {
		var entries []schema.SitemapEntry
		var url string
		url, entries, err = s.Sitemap(id)
		for range entries {
			got = append(got, url)
		}
		if page, err := s.Maps(id); err != nil || page && url != "" {
			t.Errorf("%d is a page and a sitemap", id)
		}
	}
	if len(want) != 1 || !slices.Equal(got, want) {
		t.Errorf("sitemaps: %v; want %v", got, want)
	}
	return err
}

// TestHoldEnds ends long walks when their context is done.
func TestHoldEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, walk := range map[string]func(*survey.Survey) error{
		"pages":     func(s *survey.Survey) error { return s.EachPage(func(*survey.Page) error { return nil }) },
		"targets":   func(s *survey.Survey) error { return s.Links.EachTarget(func(_, _ schema.ID) {}) },
		"depths":    func(s *survey.Survey) error { _, err := s.OriginDepths(); return err },
		"hosts":     func(s *survey.Survey) error { return s.Hosts.Each(func(*survey.HostReport) error { return nil }) },
		"counts":    func(s *survey.Survey) error { _, err := s.Counts(); return err },
		"site-wide": func(s *survey.Survey) error { _, err := s.Links.SiteWide(1, schema.Link{}); return err },
		"links": func(s *survey.Survey) error {
			return s.Links.Each(func(schema.ID, schema.Link, schema.RunID, schema.RunID) error { return nil })
		},
	} {
		s := pieces(t).Survey()
		if err := s.Hold(ctx, func() error { return walk(s) }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if err := walk(s); err != nil {
			t.Errorf("%s afterwards: %v", name, err)
		}
	}
}
