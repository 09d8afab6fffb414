package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk/desktest"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atlas"
)

// graphOf is a small map, as the desk sends it.
func graphOf(*http.Request) any { return drawn(30) }

// drawn is a map of n hosts in a ring.
func drawn(n int) any {
	m := atlas.Map{Level: "host", Run: "3", Status: "running",
		Partial: "partial: 2 hosts cut", Palette: export.Palette()}
	for v := range n {
		m.Nodes = append(m.Nodes, atlas.Node{Name: fmt.Sprintf("host-%d.test", v),
			Class: "discovered", Cover: "complete", Depth: 1,
			Community: v % 3, Pages: 9, Visited: 5, PageRank: 1 / float64(v+1)})
		m.Edges = append(m.Edges, atlas.Edge{From: uint32(v), To: uint32((v + 1) % n), Weight: 2})
	}
	m.Points = atlas.Layout(n, m.Edges, atlas.Radii(m.Nodes), 1, nil)
	text, err := m.JSON()
	if err != nil {
		panic(err)
	}
	var read any
	if err := json.Unmarshal(text, &read); err != nil {
		panic(err)
	}
	return read
}

// However many hosts there are, the map is drawn.
func TestLargeMap(t *testing.T) {
	t.Parallel()
	d := newFake(t)
	d.change = func(v any) any {
		if m, ok := v.(map[string]any); ok && m["names"] != nil {
			return drawn(1500)
		}
		return v
	}
	b := desktest.Open(t, d.url("map"))
	b.Wait(`document.documentElement.dataset.drawn`)
}

// However long a crawl was watched, its charts are whole.
func TestLongPath(t *testing.T) {
	t.Parallel()
	b := desktest.Open(t, newFake(t).url("control"))
	got := desktest.Ask[int](b, `import("/app/dom.js").then((m) =>
		m.svg("path", { d: "M0 0" + "L1 1".repeat(5000) }).getAttribute("d").length)`)
	if want := len("M0 0") + 5000*len("L1 1"); got != want {
		t.Errorf("the path has %d characters, want %d", got, want)
	}
}
