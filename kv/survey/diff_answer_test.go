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

// TestDiffOfMissingPages: a page that shows what its host shows for pages that do not exist is dead, one that shows it no
// more is back, and one behind a wall was not seen.
func TestDiffOfMissingPages(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	const sorry = 404
	shows := func(what schema.Shown) func(v *schema.Visit) {
		return func(v *schema.Visit) { v.Shown, v.SHA256[0] = what, byte(what) }
	}
	names := []string{"a.test/died", "a.test/back", "a.test/dead", "a.test/lives", "a.test/walled", "a.test/was-walled",
		"a.test/deadwall"}
	run := func(answers ...func(v *schema.Visit)) {
		w.Visit("a.test/", w.Links(names...))
		for i, answer := range answers {
			w.Visit(names[i], answer)
		}
		w.Host("a.test/", func(h *schema.Host) {
			h.Missing = schema.MissingProbe{Run: w.Run.ID, At: w.At, Status: 200, Shown: sorry}
		})
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	}
	wall := func(v *schema.Visit) {
		v.Answer, v.AnswerRule, v.AnswerStatus = schema.AnswerChallenge, "anubis-challenge", 403
	}
	walledFirst := func(v *schema.Visit) {
		wall(v)
		state(schema.Failed, 403)(v)
		v.Reason = because(schema.CauseChallenge)
	}
	stands := func(name string) func(v *schema.Visit) {
		return func(v *schema.Visit) { wall(v); v.Stand, v.Unchanged = w.Store.Latest(w.Page(name)), true }
	}
	run(shows(1), shows(sorry), shows(sorry), shows(2), shows(3), walledFirst, shows(sorry))
	w.Begin()
	run(shows(sorry), shows(4), shows(sorry), shows(2), stands("a.test/walled"), shows(5), stands("a.test/deadwall"))
	got := slices.DeleteFunc(story(t, w, 1, 2), func(s string) bool { return strings.HasPrefix(s, "came") })
	want := []string{
		"changed a.test/back answer+content", "changed a.test/died answer+content", "changed a.test/was-walled state+status",
		"rot 0: 5 links, 2 dead, 1 new, 1 mended", "same a.test 0 0 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d, err := survey.Compare(w.Survey(), 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]schema.Answer{
		"a.test/died": {schema.AnswerPage, schema.AnswerSoft404}, "a.test/back": {schema.AnswerSoft404, schema.AnswerPage},
		"a.test/walled": {schema.AnswerPage, schema.AnswerChallenge},
	} {
		before, after, err := d.Visits(w.Page(name))
		if err != nil || before.Answer != want[0] || after.Answer != want[1] {
			t.Errorf("%s: %s, then %s, %v; want %q", name, before.Answer, after.Answer, err, want)
		}
	}
}

// TestDiffOfTooManyMissingPages: where most pages of the earlier run show what the host now shows for pages that do not
// exist, none of them was dead, so no link was mended.
func TestDiffOfTooManyMissingPages(t *testing.T) {
	const sorry = 404
	names := []string{"a.test/1", "a.test/2", "a.test/3", "a.test/4"}
	for _, tt := range []struct {
		name  string
		alike int // pages of the first run that show what the probe of the second one shows
		want  string
	}{
		{"all", 4, "rot 0: 4 links, 0 dead, 0 new, 0 mended"},
		{"half", 2, "rot 0: 4 links, 0 dead, 0 new, 2 mended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, surveytest.Minimal)
			run := func(shown func(i int) schema.Shown) {
				w.Visit("a.test/", w.Links(names...))
				for i, name := range names {
					w.Visit(name, func(v *schema.Visit) { v.Shown = shown(i); v.SHA256[0] = byte(v.Shown) })
				}
				w.Host("a.test/", func(h *schema.Host) {
					h.Missing = schema.MissingProbe{Run: w.Run.ID, At: w.At, Status: 200, Shown: sorry}
				})
				w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
			}
			run(func(i int) schema.Shown {
				if i < tt.alike {
					return sorry
				}
				return schema.Shown(i + 1)
			})
			w.Begin()
			run(func(i int) schema.Shown { return schema.Shown(i + 11) })
			got := story(t, w, 1, 2)
			if !slices.Contains(got, tt.want) {
				t.Errorf("%q; want %q", got, tt.want)
			}
		})
	}
}

// TestDiffOfArchive: the dead pages behind the links of an archive are listed, although neither the archive has them nor
// a page of today links there. A page whose host cannot be reached is in the map of the crawl, and has not gone.
func TestDiffOfArchive(t *testing.T) {
	for _, kind := range []schema.RunKind{schema.RunImport, schema.RunCrawl} {
		t.Run(kind.String(), func(t *testing.T) {
			w := surveytest.New(t, surveytest.Minimal)
			w.Visit("a.test/", w.Links("a.test/2", "b.test/1", "c.test/", "d.test/"))
			w.Visit("a.test/2", w.Links("b.test/1"))
			w.Visit("d.test/", w.Links("d.test/dead"))
			w.Change(func(r *schema.Run) { r.Kind, r.Status = kind, schema.RunCompleted })
			w.Begin()
			w.Visit("a.test/", w.Links("a.test/2"))
			for _, name := range []string{"a.test/2", "d.test/"} {
				w.Visit(name, nil)
			}
			for _, name := range []string{"b.test/1", "d.test/dead"} {
				w.Visit(name, state(schema.DeadLink, 404))
			}
			w.Depth("c.test/", 1, 0)
			w.Host("c.test/", func(h *schema.Host) {
				h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, because(schema.CauseRefused)
			})
			w.Change(func(r *schema.Run) { r.Kind, r.Status = schema.RunCrawl, schema.RunCompleted })
			d, err := survey.Compare(w.Survey(), 1, 2)
			if err != nil {
				t.Fatal(err)
			}
			var dead []string
			err = d.EachDead(func(p *survey.DeadTarget) error {
				dead = append(dead, fmt.Sprint(p.URL, " ", p.Links, " ", p.After.State))
				return nil
			})
			want := []string{"https://b.test/1 2 dead_link", "https://c.test/ 1 unreachable"}
			if kind == schema.RunCrawl {
				want = nil
			}
			if err != nil || !slices.Equal(dead, want) {
				t.Errorf("%q, %v; want %q", dead, err, want)
			}
			got := story(t, w, 1, 2)
			if kind == schema.RunImport && !slices.Contains(got, "rot 0: 5 links, 3 dead, 3 new, 0 mended") ||
				slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, "went c.test") }) {
				t.Errorf("%q", got)
			}
		})
	}
}
