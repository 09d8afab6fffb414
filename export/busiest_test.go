package export_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// Links on pages that have disappeared do not count, unless all runs are shown.
func TestBusiest(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/"))
	w.Visit("a.test/left", w.Links("b.test/"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("b.test/"))
	w.Depth("b.test/", 1, 0)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	for all, want := range map[bool]int{false: 1, true: 2} {
		g, err := export.New(w.Survey(), export.Options{Level: export.LevelHost, All: all})
		if err != nil {
			t.Fatal(err)
		}
		busiest, err := g.Busiest([]int{0, 1}, 5)
		if err != nil {
			t.Fatal(err)
		}
		pages := busiest[1]
		if len(pages) != 1 || pages[0].URL != "https://b.test/" || pages[0].In != want {
			t.Errorf("all runs %v: %+v; want %d links in", all, pages, want)
		}
	}
}
