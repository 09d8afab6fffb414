package survey_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// story returns a diff as one line for each change.
func story(t *testing.T, w *surveytest.World, from, to schema.RunID) []string {
	t.Helper()
	d, err := survey.Compare(w.Survey(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	err = d.EachPage(func(c *survey.PageChange) error {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", c.Change, c.URL[len("https://"):],
			strings.Join(c.What, "+"))))
		return nil
	})
	if err == nil {
		err = d.EachLink(func(c *survey.LinkChange) error {
			lines = append(lines, fmt.Sprintf("%s %s > %s", c.Change, c.FromURL[len("https://"):], c.ToURL[len("https://"):]))
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	sum, err := d.Sum()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range sum.Hosts {
		lines = append(lines, fmt.Sprintf("%s %s %d %d %d", h.Change, h.Name, h.Came, h.Went, h.Changed))
	}
	for _, name := range sum.Unvisited {
		lines = append(lines, "not visited: "+name)
	}
	for _, r := range sum.Rot {
		lines = append(lines, fmt.Sprintf("rot %d: %d links, %d dead, %d new, %d mended", r.Origin, r.Links, r.Dead, r.New,
			r.Mended))
	}
	slices.Sort(lines)
	return lines
}

func state(s schema.State, status int) func(v *schema.Visit) {
	return func(v *schema.Visit) { v.State, v.Status, v.Charset, v.Length = s, status, "", -1 }
}

// two makes two completed runs.
func two(t *testing.T, first, second func(w *surveytest.World)) *surveytest.World {
	w := surveytest.New(t, surveytest.Minimal)
	first(w)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	second(w)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	return w
}

// A diffRow makes two runs and states their difference.
type diffRow struct {
	name          string
	first, second func(w *surveytest.World)
	want          []string
}

func diffRows() []diffRow {
	stands := func(seq schema.Seq) func(v *schema.Visit) {
		return func(v *schema.Visit) { v.Status, v.Stand, v.Unchanged = 304, seq, true }
	}
	var front schema.Seq
	return []diffRow{
		{
			"nothing has changed",
			func(w *surveytest.World) { front = w.Visit("a.test/", w.Links("a.test/x", "b.test/")) },
			func(w *surveytest.World) { w.Visit("a.test/", stands(front)) },
			nil,
		},
		{
			"a link came, another went, with what they lead to",
			func(w *surveytest.World) { w.Visit("a.test/", w.Links("a.test/x", "b.test/")) },
			func(w *surveytest.World) { w.Visit("a.test/", w.Links("a.test/x", "c.test/")) },
			[]string{
				"came a.test/ > c.test/", "came c.test 1 0 0", "came c.test/",
				"went a.test/ > b.test/", "went b.test 0 1 0", "went b.test/",
			},
		},
		{
			"a page died, another is back",
			func(w *surveytest.World) {
				w.Visit("a.test/", w.Links("a.test/x", "a.test/y"))
				w.Visit("a.test/x", w.Links("b.test/"))
				w.Visit("a.test/y", state(schema.DeadLink, 404))
			},
			func(w *surveytest.World) {
				w.Visit("a.test/", w.Links("a.test/x", "a.test/y"))
				w.Visit("a.test/x", state(schema.DeadLink, 410))
				w.Visit("a.test/y", nil)
			},
			[]string{
				"changed a.test/x state+status", "changed a.test/y state+status", "rot 0: 2 links, 1 dead, 1 new, 1 mended",
				"same a.test 0 0 2", "went a.test/x > b.test/", "went b.test 0 1 0", "went b.test/",
			},
		},
		{
			"a page moved, another hides and reads otherwise",
			func(w *surveytest.World) {
				w.Visit("a.test/", nil)
				w.Visit("a.test/x", func(v *schema.Visit) { v.Title, v.SHA256[0] = "X", 1 })
			},
			func(w *surveytest.World) {
				w.Visit("a.test/", w.Redirect("a.test/new"))
				w.Visit("a.test/x", func(v *schema.Visit) { v.NoIndex, v.SHA256[0] = true, 2 })
			},
			[]string{
				"came a.test/ > a.test/new", "came a.test/new", "changed a.test/ status+redirect",
				"changed a.test/x content+noindex+title", "same a.test 1 0 2",
			},
		},
		{
			"what was not looked at again stands, and what it leads to",
			func(w *surveytest.World) {
				w.Visit("a.test/", w.Links("a.test/x", "a.test/gone"))
				w.Visit("a.test/x", w.Links("a.test/y"))
				w.Visit("a.test/y", w.Links("b.test/"))
				w.Visit("a.test/gone", w.Links("c.test/"))
			},
			func(w *surveytest.World) { w.Visit("a.test/", w.Links("a.test/x")) },
			[]string{
				"same a.test 0 1 0", "went a.test/ > a.test/gone", "went a.test/gone",
				"went a.test/gone > c.test/", "went c.test 0 1 0", "went c.test/",
			},
		},
	}
}

// missedRows have pages that the later run requested without an answer that says anything about
// them.
func missedRows() []diffRow {
	front := func(w *surveytest.World) {
		w.Visit("a.test/", w.Links("a.test/x", "b.test/"))
		w.Visit("a.test/x", w.Links("c.test/"))
		w.Visit("c.test/", nil)
	}
	missed := func(s schema.State, status int, c schema.Cause) func(v *schema.Visit) {
		return func(v *schema.Visit) {
			state(s, status)(v)
			v.Reason = schema.Reason{Cause: c, Status: status}
		}
	}
	return []diffRow{
		{
			"where it all begins could not be reached",
			front,
			func(w *surveytest.World) { w.Visit("a.test/", missed(schema.Unreachable, 0, schema.CauseRefused)) },
			[]string{"changed a.test/ state+status", "not visited: c.test", "same a.test 0 0 1"},
		},
		{
			"a server had an error",
			front,
			func(w *surveytest.World) {
				w.Visit("a.test/", w.Links("a.test/x"))
				w.Visit("a.test/x", missed(schema.Failed, 503, schema.CauseStatus))
			},
			[]string{
				"changed a.test/x state+status", "not visited: c.test", "rot 0: 1 links, 1 dead, 1 new, 0 mended",
				"same a.test 0 0 1", "went a.test/ > b.test/", "went b.test 0 1 0", "went b.test/",
			},
		},
		{
			"a page is forbidden",
			front,
			func(w *surveytest.World) {
				w.Visit("a.test/", w.Links("a.test/x", "b.test/"))
				w.Visit("a.test/x", missed(schema.Failed, 403, schema.CauseStatus))
			},
			[]string{
				"changed a.test/x state+status", "rot 0: 1 links, 1 dead, 1 new, 0 mended", "same a.test 0 0 1",
				"went a.test/x > c.test/", "went c.test 0 1 0", "went c.test/",
			},
		},
	}
}

// deadRows have links that lead nowhere in other ways than by 404.
func deadRows() []diffRow {
	front := func(w *surveytest.World) { w.Visit("a.test/", w.Links("b.test/1", "b.test/2")) }
	refused := func(w *surveytest.World) {
		w.Depth("b.test/1", 1, 0)
		w.Depth("b.test/2", 1, 0)
		w.Host("b.test/1", func(h *schema.Host) {
			h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, because(schema.CauseRefused)
		})
	}
	failed := func(status int, c schema.Cause, kept bool) func(v *schema.Visit) {
		return func(v *schema.Visit) {
			v.State, v.Status, v.Charset, v.Length, v.Requests = schema.Failed, status, "", -1, 0
			v.Reason, v.Kept = schema.Reason{Cause: c, Status: status}, kept
		}
	}
	return []diffRow{
		{
			"a host could not be reached",
			func(w *surveytest.World) {
				front(w)
				w.Visit("b.test/1", w.Links("b.test/3"))
				w.Visit("b.test/2", nil)
				w.Visit("b.test/3", nil)
			},
			func(w *surveytest.World) {
				front(w)
				refused(w)
			},
			[]string{
				"changed b.test/1 state+status", "changed b.test/2 state+status", "rot 0: 2 links, 2 dead, 2 new, 0 mended",
				"same b.test 0 0 2",
			},
		},
		{
			"a host could not be reached, now as before",
			func(w *surveytest.World) { front(w); refused(w) },
			func(w *surveytest.World) { front(w); refused(w) },
			[]string{"rot 0: 2 links, 2 dead, 0 new, 0 mended"},
		},
		{
			"what is kept is as dead as before, and what robots.txt forbids is not",
			func(w *surveytest.World) {
				front(w)
				w.Visit("b.test/1", func(v *schema.Visit) { failed(403, schema.CauseStatus, false)(v); v.Requests = 1 })
				w.Visit("b.test/2", failed(0, schema.CauseDenied, false))
			},
			func(w *surveytest.World) {
				front(w)
				w.Visit("b.test/1", failed(403, schema.CauseStatus, true))
				w.Visit("b.test/2", failed(0, schema.CauseDenied, false))
			},
			[]string{"rot 0: 1 links, 1 dead, 0 new, 0 mended"},
		},
		{
			"redirects come back",
			func(w *surveytest.World) {
				front(w)
				w.Visit("b.test/1", w.Redirect("b.test/2"))
				w.Visit("b.test/2", nil)
			},
			func(w *surveytest.World) {
				front(w)
				w.Visit("b.test/1", w.Redirect("b.test/2"))
				w.Visit("b.test/2", w.Redirect("b.test/1"))
			},
			[]string{
				"came b.test/2 > b.test/1", "changed b.test/1 state", "changed b.test/2 state+status+redirect",
				"rot 0: 2 links, 2 dead, 2 new, 0 mended", "same b.test 0 0 2",
			},
		},
		{
			"redirects come back over what was not looked at again",
			func(w *surveytest.World) {
				front(w)
				w.Visit("b.test/1", w.Redirect("b.test/2"))
				w.Visit("b.test/2", w.Redirect("b.test/1"))
			},
			func(w *surveytest.World) { front(w); w.Visit("b.test/1", w.Redirect("b.test/2")) },
			[]string{"rot 0: 1 links, 1 dead, 0 new, 0 mended"},
		},
	}
}

// TestDiffOfOlderRuns has a later run close a circle of redirects, and fail to reach a host: that
// says nothing about the two runs before it.
func TestDiffOfOlderRuns(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	run := func(away func(h *schema.Host)) {
		w.Visit("a.test/", w.Links("b.test/1", "c.test/"))
		w.Visit("b.test/1", w.Redirect("b.test/2"))
		w.Depth("c.test/", 1, 0)
		w.Host("c.test/", away)
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	}
	w.Visit("b.test/2", nil)
	w.Visit("c.test/", nil)
	run(func(*schema.Host) {})
	w.Begin()
	run(func(*schema.Host) {})
	w.Begin()
	w.Visit("b.test/2", w.Redirect("b.test/1"))
	run(func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, because(schema.CauseRefused)
	})
	if got := story(t, w, 1, 2); !slices.Equal(got, []string{"not visited: c.test", "rot 0: 1 links, 0 dead, 0 new, 0 mended"}) {
		t.Errorf("of the older runs %q", got)
	}
	want := []string{
		"came b.test/2 > b.test/1", "changed b.test/1 state", "changed b.test/2 state+status+redirect",
		"changed c.test/ state+status", "rot 0: 2 links, 2 dead, 2 new, 0 mended", "same b.test 0 0 2", "same c.test 0 0 1",
	}
	if got := story(t, w, 2, 3); !slices.Equal(got, want) {
		t.Errorf("of the newer runs %q; want %q", got, want)
	}
	d, err := survey.Compare(w.Survey(), 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"b.test/1": "redirect loop", "c.test/": "connection refused"} {
		if _, v, err := d.Visits(w.Page(name)); err != nil || v == nil || v.Reason.String() != want {
			t.Errorf("%s: %+v, %v; want %s", name, v, err, want)
		}
	}
}

func TestDiff(t *testing.T) {
	for _, tt := range slices.Concat(diffRows(), missedRows(), deadRows()) {
		t.Run(tt.name, func(t *testing.T) {
			w := two(t, tt.first, tt.second)
			slices.Sort(tt.want)
			got := slices.DeleteFunc(story(t, w, 1, 2), func(s string) bool {
				return strings.HasPrefix(s, "rot") && strings.HasSuffix(s, "0 dead, 0 new, 0 mended")
			})
			if diff := cmp.Diff(tt.want, got); diff != "" && len(tt.want)+len(got) > 0 {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDiffListed: a page on a list has no links and is not dead.
func TestDiffListed(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal+"[[blacklist]]\nurl = '/listed'\n")
	for _, answer := range []func(v *schema.Visit){nil, func(v *schema.Visit) {
		v.State, v.Status, v.Reason = schema.DeadLink, 404, schema.StatusReason(404)
	}} {
		if answer != nil {
			w.Begin()
		}
		w.Visit("a.test/", w.Links("a.test/1", "a.test/listed"))
		w.Visit("a.test/1", answer)
		w.Visit("a.test/listed", answer)
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	}
	got := slices.DeleteFunc(story(t, w, 1, 2), func(s string) bool { return !strings.HasPrefix(s, "rot") })
	if len(got) != 1 || !strings.HasSuffix(got[0], ": 1 links, 1 dead, 1 new, 0 mended") {
		t.Errorf("%q", got)
	}
}

// A run that has just begun does not report anything as gone.
func TestDiffOfUnfinishedRun(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("a.test/x", "b.test/"))
	w.Visit("a.test/x", w.Links("c.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	if got := story(t, w, 1, 2); len(got) != 0 {
		t.Errorf("changes %q", got)
	}
}

func TestDiffRefuses(t *testing.T) {
	w := two(t, func(w *surveytest.World) { w.Visit("a.test/", nil) },
		func(w *surveytest.World) { w.Visit("a.test/", nil) })
	for _, runs := range [][2]schema.RunID{{1, 1}, {2, 1}, {1, 3}, {0, 1}} {
		if _, err := survey.Compare(w.Survey(), runs[0], runs[1]); !errors.Is(err, survey.ErrRuns) {
			t.Errorf("Diff(%v) = %v, want %v", runs, err, survey.ErrRuns)
		}
	}
}

// TestDiffOverAnOutage has the network away for two runs: the earlier results apply meanwhile, so
// nothing is removed with them and nothing is added by the run after them.
func TestDiffOverAnOutage(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	done := func() { w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted }); w.Begin() }
	whole := func() {
		w.Visit("a.test/", w.Links("a.test/x", "b.test/"))
		w.Visit("a.test/x", w.Links("c.test/"))
	}
	whole()
	w.Visit("c.test/", nil)
	done()
	away := func(v *schema.Visit) {
		state(schema.Unreachable, 0)(v)
		v.Reason = because(schema.CauseRefused)
	}
	w.Visit("a.test/", away)
	done()
	done()
	whole()
	w.Visit("c.test/", func(v *schema.Visit) { v.SHA256[0] = 1 })
	w.Visit("b.test/", w.Links("d.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	for _, tt := range []struct {
		from, to schema.RunID
		want     []string
	}{
		{1, 2, []string{"changed a.test/ state+status", "not visited: c.test", "same a.test 0 0 1"}},
		{2, 3, []string{"not visited: a.test"}},
		{3, 4, []string{"came b.test/ > d.test/", "came d.test 1 0 0", "came d.test/", "changed a.test/ state+status",
			"changed c.test/ content", "same a.test 0 0 1", "same c.test 0 0 1"}},
	} {
		got := slices.DeleteFunc(story(t, w, tt.from, tt.to), func(s string) bool {
			return strings.HasSuffix(s, "0 dead, 0 new, 0 mended")
		})
		if diff := cmp.Diff(tt.want, got); diff != "" && len(tt.want)+len(got) > 0 {
			t.Errorf("%d to %d (-want +got):\n%s", tt.from, tt.to, diff)
		}
	}
}

// TestDiffOfALoopSeenInPart has two pages redirect to each other, one of which a stopped run saw:
// that they lead nowhere is not new.
func TestDiffOfALoopSeenInPart(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	whole := func() {
		w.Visit("a.test/", w.Links("a.test/x", "a.test/y"))
		w.Visit("a.test/x", w.Redirect("a.test/y"))
		w.Visit("a.test/y", w.Redirect("a.test/x"))
		w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	}
	whole()
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/x", "a.test/y"))
	w.Visit("a.test/y", w.Redirect("a.test/x"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunInterrupted })
	w.Begin()
	whole()
	for _, from := range []schema.RunID{1, 2} {
		got := slices.DeleteFunc(story(t, w, from, 3), func(s string) bool {
			return strings.HasSuffix(s, " 0 new, 0 mended")
		})
		if len(got) > 0 {
			t.Errorf("from run %d: %q", from, got)
		}
	}
}
