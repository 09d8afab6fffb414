package export_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A node says which wall the pages of one of its hosts met, in an older run as in the newest.
func TestWallOfNodes(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	for _, name := range []string{"x.q.test/", "y.q.test/", "b.test/"} {
		w.Depth(name, 0, 0)
		w.Visit(name, func(v *schema.Visit) {
			if name == "y.q.test/" {
				v.State, v.Answer, v.AnswerRule = schema.Failed, schema.AnswerChallenge, "anubis-challenge"
			}
		})
		w.Host(name[:len(name)-1], func(h *schema.Host) { h.Visits = 1 })
	}
	t.Run("of the newest run", func(t *testing.T) { checkWalls(t, w.Survey()) })
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("y.q.test/", nil)
	older, err := w.Survey().At(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("of an older run", func(t *testing.T) { checkWalls(t, older) })
}

// checkWalls checks the walls of the nodes of the first run.
func checkWalls(t *testing.T, s *survey.Survey) {
	for level, walled := range map[export.Level]string{
		export.LevelHost: "y.q.test", export.LevelEntity: "y.q.test", export.LevelSite: "q.test",
	} {
		g, err := export.New(s, export.Options{Level: level})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		err = g.EachNode(func(n *export.Node) error {
			want, pages := "", 0
			if n.Name == walled {
				want, pages = "anubis-challenge", 1
				found++
			}
			if n.Wall != want || n.Walled != pages {
				t.Errorf("%s level, %s: %q on %d, want %q on %d", level, n.Name, n.Wall, n.Walled, want, pages)
			}
			return nil
		})
		if err != nil || found != 1 {
			t.Errorf("%s level: %d nodes are %s, %v", level, found, walled, err)
		}
	}
}
