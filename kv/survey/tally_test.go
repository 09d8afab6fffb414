package survey_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestStandingByDepth counts the pages of a state by depth as in total. What the first run has seen
// of a page counts until the second has reached the page, and is gone when that run is completed.
func TestStandingByDepth(t *testing.T) {
	for _, tt := range []struct {
		second                schema.RunStatus
		standing, links, gone int
	}{{schema.RunRunning, 2, 2, 0}, {schema.RunCompleted, 1, 1, 2}} {
		w := two(t, func(w *surveytest.World) {
			w.Visit("a.test/", w.Links("a.test/x", "b.test/"))
			w.Visit("a.test/x", w.Links("b.test/"))
			w.Visit("b.test/", state(schema.DeadLink, 404))
		}, func(w *surveytest.World) { w.Visit("a.test/", w.Links("a.test/y")) })
		w.Depth("a.test/y", 0, 0)
		w.Change(func(r *schema.Run) { r.Status = tt.second })
		counts, err := w.Survey().Counts()
		if err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, n := range counts.StandingByDepth {
			sum += n
		}
		if n := counts.ByState[schema.Processed]; n != tt.standing || sum != n || counts.Processed != 1 {
			t.Errorf("%s: %d pages are processed, %d of some depth, %d in the run; want %d, %[5]d and 1",
				tt.second, n, sum, counts.Processed, tt.standing)
		}
		if counts.Links != tt.links || counts.Gone != tt.gone || counts.ByState[schema.DeadLink] != tt.standing-1 {
			t.Errorf("%s: %d links, %d pages are gone, %d dead; want %d, %d and %d", tt.second, counts.Links, counts.Gone,
				counts.ByState[schema.DeadLink], tt.links, tt.gone, tt.standing-1)
		}
		all, err := w.Survey().Ever().Counts()
		if err != nil || all.ByState[schema.Processed] != 2 || all.ByState[schema.DeadLink] != 1 || all.Gone != 0 {
			t.Errorf("%s: of all runs %v, %v", tt.second, all, err)
		}
	}
}

// TestAnswersOfTheRun: what came instead of pages is counted on the pages that the run visited, for all hosts together
// as for each.
func TestAnswersOfTheRun(t *testing.T) {
	names := []string{"a.test/", "a.test/1", "a.test/2", "a.test/walled", "a.test/gone", "a.test/gone-again"}
	run := func(w *surveytest.World, visited ...string) {
		for _, name := range visited {
			w.Visit(name, func(v *schema.Visit) {
				switch name {
				case "a.test/":
					w.Links(names...)(v)
				case "a.test/walled":
					state(schema.Failed, 403)(v)
					v.Reason = because(schema.CauseChallenge)
					v.Answer, v.AnswerRule, v.AnswerStatus = schema.AnswerChallenge, "anubis-challenge", 403
				case "a.test/gone", "a.test/gone-again":
					v.Shown = 7
				}
			})
		}
		w.Host("a.test/", func(h *schema.Host) {
			h.Visits, h.Missing = len(visited), schema.MissingProbe{Run: w.Run.ID, Status: 200, Shown: 7}
		})
	}
	w := two(t, func(w *surveytest.World) { run(w, names...) },
		func(w *surveytest.World) { run(w, names[0], names[1], names[2], names[5]) })
	w.Change(func(r *schema.Run) { r.Status = schema.RunInterrupted }) // the last completed run is the first
	s := w.Survey()
	counts, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	id, _, err := s.Hosts.Lookup("a.test")
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Hosts.Report(id)
	if err != nil {
		t.Fatal(err)
	}
	want := [schema.AnswerCount]int{schema.AnswerPage: 3, schema.AnswerSoft404: 1}
	if counts.ByAnswer != want || h.WalledPages != 0 || h.Wall != "" || h.SoftPages != 1 {
		t.Errorf("%v, of the host %d walled (%q) and %d missing; want %v, 0 and 1",
			counts.ByAnswer, h.WalledPages, h.Wall, h.SoftPages, want)
	}
}
