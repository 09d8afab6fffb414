// Package atlas computes positions for the nodes of a graph, and writes the map: one HTML file that
// shows them.
//
// [Layout] is a force-directed layout (Barnes and Hut) on plain arrays. [Write] writes a file that
// opens from disk without network and contains only our own script, which is in folder viewer. Names
// and titles are always shown as text.
//
// Callers should prune first, so that no time is spent on nodes that are not shown:
//
//	m = m.Pruned()
//	m.Points = atlas.Layout(len(m.Nodes), m.Edges, atlas.Radii(m.Nodes), seed, progress)
//	err := atlas.Write(w, m)
package atlas

import (
	"math"
	"slices"
)

// A Node is a host, an entity or a site with the facts that the map shows. Texts are untrusted.
type Node struct {
	Name, Title, Class string
	Cover              string // its coverage in a word or two; empty: unknown
	Reason             string // the same with all its limits; empty: Cover is complete
	Training           string // what its owner says about training models on it; empty: nothing
	Busiest            []Page // pages with the most incoming links first
	Depth              int    // smallest; below 0: unknown
	Community          int    // below 0: unknown
	Pages, Visited     int    // known and visited
	In, Out            int    // links in the whole graph, not only those shown
	Trust              float64
	PageRank, Harmonic float64
	More               []string // parallel to Map.More; empty: unknown
}

// A Page is one of the pages of a node.
type Page struct {
	URL, Title string
	In         int // links from other pages
}

// An Edge is a link between two nodes, given by their indices in the list of nodes.
type Edge struct {
	From, To uint32
	Weight   uint32 // number of counted links between pages; 0: not shown
	Other    uint32 // the weight in the other view
}

// An Other holds the parts of a map that differ when the other kind of links counts. The reader can
// switch to it.
type Other struct {
	Points []Point // parallel to Map.Nodes, like Scores
	Scores []Score
}

// A Score holds the measures of a node by the links that count.
type Score struct {
	Trust, PageRank, Harmonic float64
	Community                 int // below 0: unknown
}

// A Map is the contents of the file.
type Map struct {
	Title   string
	Level   string   // "host", "entity", "site" or "page"
	Run     string   // id of the run, or "all"
	Status  string   // of the run: "complete", "stopped", ...
	Partial string   // "partial: N hosts cut", or empty; a partial map is always marked as such
	More    []string // names of further facts on the card of a node
	Palette []Shade  // colours of the classes, in the order of the legend
	Nodes   []Node
	Edges   []Edge
	Points  []Point  // parallel to Nodes
	Counted string   // the links that count, "text" or "all"; Other counts the other kind
	Other   *Other   // nil: no other view
	Outside *Outside // hosts outside the terrain, a layer that the reader can switch on; nil: none
	LeftOut Cut      // what Pruned left out
}

// An Outside is the layer of hosts outside the terrain that link to it, by a web graph.
type Outside struct {
	Release string // of the web graph
	All     int    // number of these hosts, not only those in the map
	Hosts   []OutsideHost
}

// An OutsideHost is a host outside the terrain.
type OutsideHost struct {
	Name                   string
	HarmonicRank, PageRank uint32   // positions in the web graph, from 1; 0: unknown
	To                     []uint32 // nodes to which it links
}

// A Shade is the colour of a class, "#0f8f7e", on a light and a dark background.
type Shade struct {
	Class string `json:"class"`
	Light string `json:"light"`
	Dark  string `json:"dark"`
}

// A Cut counts what a picture leaves out.
type Cut struct{ Nodes, Edges int }

// Radii returns the initial radius of each node, in the unit of [Layout]: 1 to 6, with the area
// proportional to the trust. The viewer uses the same formula for the size that its reader selects.
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

// Placed returns the map with positions for its nodes in both views.
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

// counting returns the links that count. Only these hold nodes together.
func counting(edges []Edge) (kept []Edge) {
	for _, e := range edges {
		if e.Weight > 0 {
			kept = append(kept, e)
		}
	}
	return kept
}
