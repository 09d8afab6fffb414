package export_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A node says which wall the pages of one of its hosts met.
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
	for level, walled := range map[export.Level]string{
		export.LevelHost: "y.q.test", export.LevelEntity: "y.q.test", export.LevelSite: "q.test",
	} {
		g, err := export.New(w.Survey(), export.Options{Level: level})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		err = g.EachNode(func(n *export.Node) error {
			want := ""
			if n.Name == walled {
				want = "anubis-challenge"
				found++
			}
			if n.Wall != want {
				t.Errorf("%s level, %s: %q, want %q", level, n.Name, n.Wall, want)
			}
			return nil
		})
		if err != nil || found != 1 {
			t.Errorf("%s level: %d nodes are %s, %v", level, found, walled, err)
		}
	}
}
