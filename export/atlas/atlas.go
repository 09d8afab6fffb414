// Package atlas draws the graph: places for its nodes, and the map, one HTML file
// that shows them.
//
// [Layout] is a force layout (Barnes and Hut) on plain arrays. [Write] makes a file
// that opens from disk without network and contains no script but ours, which is
// in folder viewer; whatever names and titles say, the file shows it as text.
//
// A caller prunes first, so that no work goes into what is not shown:
//
//	m = m.Pruned()
//	m.Points = atlas.Layout(len(m.Nodes), m.Edges, atlas.Radii(m.Nodes), seed, progress)
//	err := atlas.Write(w, m)
package atlas

import (
	"math"
	"slices"
)

// A Node is a host, an entity or a site with what the map tells of it. Text may be
// anything that a peer sent.
type Node struct {
	Name, Title, Class string
	Cover              string // how well it is covered, in a word or two; empty: unknown
	Reason             string // the same with all that was in the way; empty: the word says it
	Busiest            []Page // the first have the most links in
	Depth              int    // smallest; below 0: unknown
	Community          int    // below 0: unknown
	Pages, Visited     int    // known, and asked for
	In, Out            int    // links in the whole graph, not only those shown
	Trust              float64
	PageRank, Harmonic float64
	More               []string // beside Map.More; empty: unknown
}

// A Page is one of the pages of a node.
type Page struct {
	URL, Title string
	In         int // links from other pages
}

// An Edge is a link between two nodes, by their places in the list of nodes.
type Edge struct {
	From, To uint32
	Weight   uint32 // number of links between pages that count; 0: it is not shown
	Other    uint32 // that of the other view
}

// An Other is what is different of a map when other links count, to which its reader may switch.
type Other struct {
	Points []Point // beside Map.Nodes, as are the scores
	Scores []Score
}

// A Score is what the links that count say of a node.
type Score struct {
	Trust, PageRank, Harmonic float64
	Community                 int // below 0: unknown
}

// A Map is everything that the file shows.
type Map struct {
	Title   string
	Level   string   // "host", "entity", "site" or "page"
	Run     string   // id of the run, or "all"
	Status  string   // of the run: "complete", "stopped", ...
	Partial string   // "partial: N hosts cut", or empty: a partial map never passes as a full one
	More    []string // names of what else the card of a node lists
	Palette []Shade  // of the classes, in the order of the legend
	Nodes   []Node
	Edges   []Edge
	Points  []Point // beside Nodes
	Counted string  // the links that count: "text", those of Other then being "all", or the other way round
	Other   *Other  // nil: there is no other view
	LeftOut Cut     // what Pruned left out
}

// A Shade is the colour of a class, "#0f8f7e", on light and on dark ground.
type Shade struct {
	Class string `json:"class"`
	Light string `json:"light"`
	Dark  string `json:"dark"`
}

// A Cut counts what a picture does not show.
type Cut struct{ Nodes, Edges int }

// Radii returns the radius that each node has when the map opens, in the unit of
// [Layout]: 1 to 6, its area in proportion to its trust. The viewer does the same
// sum for the size that its reader chooses.
func Radii(nodes []Node) []float64 {
	most := 0.0
	for _, n := range nodes {
		most = max(most, n.Trust)
	}
	radius := make([]float64, len(nodes))
	for v, n := range nodes {
		radius[v] = 1
		if most > 0 && n.Trust > 0 {
			radius[v] = 1 + 5*math.Sqrt(n.Trust/most)
		}
	}
	return radius
}

// Placed returns the map with places for its nodes in both views.
func (m Map) Placed() Map {
	m.Points = Layout(len(m.Nodes), counting(m.Edges), Radii(m.Nodes), 1, nil)
	if m.Other == nil {
		return m
	}
	nodes := make([]Node, len(m.Nodes))
	for v, s := range m.Other.Scores {
		nodes[v].Trust = s.Trust
	}
	turned := slices.Clone(m.Edges)
	for i := range turned {
		turned[i].turn()
	}
	m.Other = &Other{Layout(len(nodes), counting(turned), Radii(nodes), 1, nil), m.Other.Scores}
	return m
}

// counting returns the links that count, which hold nodes together.
func counting(edges []Edge) (kept []Edge) {
	for _, e := range edges {
		if e.Weight > 0 {
			kept = append(kept, e)
		}
	}
	return kept
}
