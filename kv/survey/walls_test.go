package survey_test

import (
	"fmt"
	"testing"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestSuspectedWalls has a host with pages of each kind, among other hosts. Reading it alone and reading all hosts says
// the same.
func TestSuspectedWalls(t *testing.T) {
	page := func(words int, sim schema.SimHash, shown schema.Shown) func(*surveytest.World, int, *schema.Visit) {
		return func(_ *surveytest.World, _ int, v *schema.Visit) {
			v.Charset, v.WordCount, v.SimHash, v.Shown = "utf-8", words, sim, shown
		}
	}
	interstitial := page(30, 0, 7)
	mixed := func(first int, one, other func(*surveytest.World, int, *schema.Visit)) func(*surveytest.World, int,
		*schema.Visit) {
		return func(w *surveytest.World, i int, v *schema.Visit) {
			if i < first {
				one(w, i, v)
				return
			}
			other(w, i, v)
		}
	}
	leading := func(to string) func(*surveytest.World, int, *schema.Visit) {
		return func(w *surveytest.World, i int, v *schema.Visit) {
			interstitial(w, i, v)
			w.Links(to)(v)
		}
	}
	challenge := func(_ *surveytest.World, _ int, v *schema.Visit) {
		v.State, v.Answer, v.AnswerRule, v.AnswerStatus = schema.Failed, schema.AnswerChallenge, "anubis-challenge", 200
		v.Reason = schema.Reason{Cause: schema.CauseChallenge, Status: 200}
	}
	differing := func(w *surveytest.World, i int, v *schema.Visit) { page(30, 0, schema.Shown(i+1))(w, i, v) }
	front := func(shown schema.Shown) func(*surveytest.World, int, *schema.Visit) { // with page 0
		return func(w *surveytest.World, i int, v *schema.Visit) {
			interstitial(w, i, v)
			if i > 0 {
				return
			}
			w.Visit("a.test/", func(v *schema.Visit) {
				v.Charset, v.WordCount, v.Shown = "utf-8", 20, shown
			})
		}
	}
	tests := []struct {
		name  string
		pages int
		page  func(*surveytest.World, int, *schema.Visit)
		probe schema.Shown // what a.test shows for a page that does not exist; 0: it was not asked
		want  string
	}{
		{"ten interstitials", 10, interstitial, 0, survey.WallSuspected},
		{"nine interstitials", 9, interstitial, 0, ""},
		{"interstitials that lead to their maker", 10, leading("maker.test/"), 0, survey.WallSuspected},
		{"short pages with links of their own", 10, leading("a.test/about"), 0, ""},
		{"short pages that differ", 10, differing, 0, ""},
		{"near texts", 10, func(w *surveytest.World, i int, v *schema.Visit) {
			page(120, 0xff00^schema.SimHash(i&1), schema.Shown(i+1))(w, i, v)
		}, 0, survey.WallSuspected},
		{"long texts", 10, page(200, 0xff00, 7), 0, ""},
		{"a gallery that needs scripts", 10, func(w *surveytest.World, i int, v *schema.Visit) {
			interstitial(w, i, v)
			v.Shell = schema.ShellMount
		}, 0, ""},
		{"a gallery that was rendered", 10, func(w *surveytest.World, i int, v *schema.Visit) {
			interstitial(w, i, v)
			v.Rendering = schema.Rendered
		}, 0, ""},
		{"four of five", 10, mixed(8, interstitial, differing), 0, survey.WallSuspected},
		{"less than four of five", 11, mixed(8, interstitial, differing), 0, ""},
		{"pages without words", 12, page(0, 0, 7), 0, ""},
		{"pages that do not exist", 20, front(5), 7, ""},
		{"a wall in front of every address", 20, front(7), 7, survey.WallSuspected},
		{"a wall in front of other pages", 20, front(5), 9, survey.WallSuspected},
		{"a wall that a rule knows", 11, mixed(1, challenge, interstitial), 0, "anubis-challenge"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, minimal)
			for i := range tt.pages {
				w.Visit(fmt.Sprintf("a.test/%d", i), func(v *schema.Visit) { tt.page(w, i, v) })
				w.Visit(fmt.Sprintf("wall.test/%d", i), func(v *schema.Visit) { interstitial(w, i, v) })
			}
			for _, name := range []string{"a.test", "wall.test"} {
				w.Host(name, func(h *schema.Host) { h.Visits = tt.pages })
			}
			if tt.probe != 0 {
				w.Host("a.test", func(h *schema.Host) {
					h.Missing = schema.MissingProbe{Run: w.Run.ID, At: w.At, Status: 200, Shown: tt.probe}
				})
			}
			s := w.Survey()
			id, _, err := s.Hosts.Lookup("a.test")
			if err != nil {
				t.Fatal(err)
			}
			alone, err := s.Hosts.Report(id)
			if err != nil || alone.Wall != tt.want {
				t.Errorf("alone: %q, %v; want %q", alone.Wall, err, tt.want)
			}
			err = s.Hosts.Each(func(r *survey.HostReport) error {
				want := tt.want
				switch {
				case r.Host.Name == "wall.test" && tt.pages >= 10:
					want = survey.WallSuspected
				case r.Host.Name != "a.test":
					want = ""
				}
				if r.Wall != want {
					t.Errorf("among all, %s: %q, want %q", r.Host.Name, r.Wall, want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
