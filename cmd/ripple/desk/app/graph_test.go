package app

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atlas"
)

// graphOf is a small map, as the desk sends it.
func graphOf(*http.Request) any { return drawn(30) }

// drawn is a map of n hosts in a ring.
func drawn(n int) any {
	m := atlas.Map{Level: "host", Run: "3", Status: "running", Partial: "partial: 2 hosts cut", Palette: export.Palette()}
	for v := range n {
		m.Nodes = append(m.Nodes, atlas.Node{Name: fmt.Sprintf("host-%d.test", v), Class: "discovered", Cover: "complete",
			Depth: 1, Community: v % 3, Pages: 9, Visited: 5, PageRank: 1 / float64(v+1)})
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
