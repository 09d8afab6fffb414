package survey_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// marked returns the targets of links that are site-wide, each with its host, once.
func marked(t *testing.T, s *survey.Survey, ever bool) []string {
	t.Helper()
	each := s.Links.Each
	if ever {
		each = s.Ever().Links.Each
	}
	var all []string
	err := each(func(from schema.ID, l schema.Link, _, _ schema.RunID) error {
		if !l.SiteWide {
			return nil
		}
		if l.Endorses() {
			t.Errorf("a site-wide link is an endorsement: %+v", l)
		}
		a, err := s.Page(from)
		if err != nil {
			return err
		}
		b, err := s.Page(l.To)
		all = append(all, a.HostName+" "+strings.TrimPrefix(b.URL, "https://"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSiteWide makes ten pages of one host, nine of another and redirects of a third link to common
// targets.
func TestSiteWide(t *testing.T) {
	w := surveytest.New(t, minimal)
	var last schema.Seq
	for i := range 10 {
		targets := []string{"logo.test/", "a.test/"}
		if i < 5 {
			targets = append(targets, "half.test/")
		}
		if i < 6 {
			targets = append(targets, "more.test/")
		}
		last = w.Visit(fmt.Sprintf("a.test/%d", i), w.Links(targets...))
		w.Visit(fmt.Sprintf("r.test/%d", i), w.Redirect("logo.test/"))
	}
	for i := range 9 {
		w.Visit(fmt.Sprintf("b.test/%d", i), w.Links("logo.test/"))
	}
	w.Visit("a.test/file", func(v *schema.Visit) { v.Charset, v.ContentType = "", "text/plain" })
	w.Visit("a.test/dead", func(v *schema.Visit) { v.State, v.Status = schema.DeadLink, 404 })
	w.Visit("a.test/old", w.Redirect("logo.test/"))

	want := []string{"a.test a.test/", "a.test logo.test/", "a.test more.test/"}
	if diff := cmp.Diff(want, marked(t, w.Survey(), false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	// In the next run most pages link elsewhere; pages that were not sent again keep their links.
	first := w.Run.ID
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	for i := range 10 {
		w.Visit(fmt.Sprintf("a.test/%d", i), func(v *schema.Visit) {
			if i == 9 {
				v.Status, v.Stand, v.Charset = 304, last, ""
				return
			}
			w.Links("new.test/", "half.test/")(v)
		})
	}
	s := w.Survey()
	want = []string{"a.test half.test/", "a.test new.test/"}
	if diff := cmp.Diff(want, marked(t, s, false)); diff != "" {
		t.Errorf("second run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, marked(t, s, true)); diff != "" {
		t.Errorf("all runs (-want +got):\n%s", diff)
	}
	old, err := s.At(first)
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"a.test a.test/", "a.test logo.test/", "a.test more.test/"}
	if diff := cmp.Diff(want, marked(t, old, false)); diff != "" {
		t.Errorf("first run (-want +got):\n%s", diff)
	}
}

// TestSiteWideAnew has a site whose pages are all replaced, some of them because they are on a
// list.
func TestSiteWideAnew(t *testing.T) {
	w := surveytest.New(t, minimal+"[[blacklist]]\nurl = '^https://a.test/ads'\n")
	for i := range 12 {
		w.Visit(fmt.Sprintf("a.test/old%d", i), w.Links("e.test/"))
	}
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	for i := range 12 {
		targets := []string{"g.test/"}
		if i == 0 {
			targets = append(targets, "e.test/")
		}
		w.Visit(fmt.Sprintf("a.test/new%d", i), w.Links(targets...))
		w.Visit(fmt.Sprintf("a.test/ads%d", i), w.Links("e.test/"))
	}
	check := func(s *survey.Survey, want string) {
		t.Helper()
		for _, ever := range []bool{false, true} {
			if got := strings.Join(marked(t, s, ever), " "); got != want {
				t.Errorf("run %d, %s, ever %t: %s; want %s", s.Run().ID, s.Run().Status, ever, got, want)
			}
		}
	}
	check(w.Survey(), "a.test e.test/") // 13 of 24 pages, as the old ones may still exist
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	check(w.Survey(), "a.test g.test/")
	old, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	check(old, "a.test e.test/")
}
