package graph

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atlas"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/amount"
)

const (
	mapHead = "<!DOCTYPE html>"

	mapPages = 5    // of a node that the map names
	mapBusy  = 2000 // nodes whose pages it names
)

func isOurMap(head []byte) bool {
	return bytes.HasPrefix(head, []byte(mapHead)) &&
		bytes.Contains(head, []byte(`<meta name="generator" content="Ripple">`))
}

// html writes the map.
func html(o *output, g *export.Graph, _ Options) error {
	m, err := newMap(g)
	if err != nil {
		return err
	}
	return atlas.Write(o, m)
}

// newMap is the picture of a graph as the HTML map shows it. It takes the metrics and
// the places; there is none at page level.
func newMap(g *export.Graph) (atlas.Map, error) {
	p, err := g.Picture()
	if err != nil {
		return atlas.Map{}, err
	}
	m, err := unplaced(g)
	m.Points, m.LeftOut.Edges = p.At, p.Left
	for i := range p.Links {
		m.Edges = append(m.Edges, mapEdge(g, &p.Links[i]))
	}
	return m, err
}

// Foremost is the picture of the n nodes of highest PageRank alone, which have places of
// their own: it takes the metrics, but no time for the places of the others. There is
// none at page level.
func Foremost(g *export.Graph, n int) (atlas.Map, error) {
	if _, err := g.Measure(); err != nil {
		return atlas.Map{}, err
	}
	m, err := unplaced(g)
	if err != nil {
		return m, err
	}
	err = g.EachLink(func(l *export.Link) error {
		m.Edges = append(m.Edges, mapEdge(g, l))
		return nil
	})
	m = m.Foremost(n)
	m.Points = atlas.Layout(len(m.Nodes), m.Edges, atlas.Radii(m.Nodes), 1, nil)
	return m, err
}

// unplaced is the map of the nodes of a graph, without links and places.
func unplaced(g *export.Graph) (atlas.Map, error) {
	meta := g.Meta()
	m := atlas.Map{
		Title: mapTitle(g.Survey()), Level: meta.Level.String(), Run: meta.Runs, Status: meta.Status,
		Partial: strings.Trim(meta.Without+"; "+meta.Partial(), "; "), Palette: export.Palette(),
	}
	more := titled(g.NodeColumns())
	for _, c := range more {
		m.More = append(m.More, c.Title)
	}
	err := g.EachNode(func(n *export.Node) error {
		m.Nodes = append(m.Nodes, mapNode(n, more))
		return nil
	})
	if err != nil {
		return m, err
	}
	busiest, err := g.Busiest(m.Leading(mapBusy), mapPages)
	for i, pages := range busiest {
		for _, page := range pages {
			m.Nodes[i].Busiest = append(m.Nodes[i].Busiest, atlas.Page(page))
		}
	}
	return m, err
}

func mapEdge(g *export.Graph, l *export.Link) atlas.Edge {
	from, _ := g.Rank(l.From)
	to, _ := g.Rank(l.To)
	return atlas.Edge{From: uint32(from), To: uint32(to), Weight: export.Weight(l.Links)}
}

// titled are the columns that the card of a node lists under their titles.
func titled(columns []export.Column[export.Node]) (kept []export.Column[export.Node]) {
	for _, c := range columns {
		if c.Title != "" {
			kept = append(kept, c)
		}
	}
	return kept
}

func mapNode(n *export.Node, more []export.Column[export.Node]) atlas.Node {
	depth := int(n.Depth)
	if n.Depth == kv.NoDepth {
		depth = -1
	}
	node := atlas.Node{
		Name: n.Name, Title: n.Title, Class: n.Class.String(), Cover: n.Cover, Reason: n.State, Depth: depth,
		Community: int(n.Community), Pages: n.Pages, Visited: n.Visited,
		In: int(n.InDegree), Out: int(n.OutDegree), PageRank: n.PageRank, Harmonic: n.Harmonic,
	}
	for _, c := range more {
		node.More = append(node.More, readable(c.Of(n), c.Kind))
	}
	return node
}

// readable is a cell as a person reads it; empty: nothing is known.
func readable(v export.Value, k export.Kind) string {
	switch {
	case v.None:
		return ""
	case k == export.Text:
		return v.Text
	case k == export.Real:
		return strconv.FormatFloat(v.Real, 'g', 4, 64)
	}
	return amount.Commas(v.Count)
}

// mapTitle names the first origins.
func mapTitle(s *survey.Survey) string {
	const most = 3
	var names []string
	for _, origin := range s.Terrain().Origins() {
		names = append(names, strings.TrimPrefix(origin.Name, "*."))
	}
	if len(names) > most {
		names = append(names[:most], amount.Of(len(names)-most, "other", "others"))
	}
	return "The terrain around " + strings.Join(names, ", ")
}
