package graph

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atlas"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/preference"
)

const (
	mapHead = "<!DOCTYPE html>"

	mapPages   = 5    // pages listed per node
	mapOutside = 1000 // hosts outside that are drawn

	mapBusy = 2000 // number of nodes whose pages are listed
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

// newMap returns the map of a graph with both views. It computes the metrics and positions. There is
// none at page level.
func newMap(g *export.Graph) (atlas.Map, error) {
	p, err := g.Picture()
	if err != nil {
		return atlas.Map{}, err
	}
	other, scores, err := g.PictureBy(g.Counted().Other())
	if err != nil {
		return atlas.Map{}, err
	}
	m, err := unplaced(g, scores)
	m.Points, m.Other.Points = p.At, other.At
	shown := make(map[[2]uint32]*export.Link)
	for _, links := range [][]export.Link{p.Links, other.Links} {
		for i := range links {
			shown[[2]uint32{links[i].From, links[i].To}] = &links[i]
		}
	}
	return m, errors.Join(err, g.EachLink(func(l *export.Link) error {
		if shown[[2]uint32{l.From, l.To}] != nil {
			m.Edges = append(m.Edges, mapEdge(g, l))
		} else {
			m.LeftOut.Edges++
		}
		return nil
	}))
}

// Foremost returns a map of only the n most trusted nodes, with their own positions. It computes the
// metrics, but no positions of other nodes. There is none at page level.
func Foremost(g *export.Graph, n int) (atlas.Map, error) {
	if _, err := g.Measure(); err != nil {
		return atlas.Map{}, err
	}
	scores, err := g.MeasureBy(g.Counted().Other())
	if err != nil {
		return atlas.Map{}, err
	}
	m, err := unplaced(g, scores)
	if err != nil {
		return m, err
	}
	err = g.EachLink(func(l *export.Link) error {
		m.Edges = append(m.Edges, mapEdge(g, l))
		return nil
	})
	return m.Foremost(n).Placed(), err
}

// unplaced returns the map of the nodes of a graph, without links and positions.
func unplaced(g *export.Graph, other *export.Metrics) (atlas.Map, error) {
	meta := g.Meta()
	m := atlas.Map{
		Title: mapTitle(g.Survey()), Level: meta.Level.String(), Run: meta.Runs, Status: meta.Status,
		Partial: strings.Trim(meta.Without+"; "+meta.Partial(), "; "), Palette: export.Palette(),
		Counted: g.Counted().String(), Other: new(atlas.Other),
	}
	for i := range g.Len() {
		s := other.Of(i)
		m.Other.Scores = append(m.Other.Scores, atlas.Score{
			Trust: s.Trust, PageRank: s.PageRank, Harmonic: s.Harmonic, Community: int(s.Community),
		})
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
	if m.Outside, err = outsideOf(g); err != nil {
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

// outsideOf returns the layer of hosts outside that the graph has; nil: none.
func outsideOf(g *export.Graph) (*atlas.Outside, error) {
	first, to, all, err := g.ForemostOutside(mapOutside)
	if err != nil || all == 0 {
		return nil, err
	}
	o := &atlas.Outside{Release: g.Meta().Inlinks, All: all}
	for i, l := range first {
		h := atlas.OutsideHost{Name: l.Host, HarmonicRank: l.HarmonicRank, PageRank: l.PageRank}
		for _, id := range to[i] {
			place, _ := g.Rank(id)
			h.To = append(h.To, uint32(place))
		}
		o.Hosts = append(o.Hosts, h)
	}
	return o, nil
}

func mapEdge(g *export.Graph, l *export.Link) atlas.Edge {
	from, _ := g.Rank(l.From)
	to, _ := g.Rank(l.To)
	counted := g.Counted()
	return atlas.Edge{
		From: uint32(from), To: uint32(to), Weight: g.Weigh(counted, l), Other: g.Weigh(counted.Other(), l),
	}
}

// titled returns the columns that the card of a node lists.
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
		In: int(n.InDegree), Out: int(n.OutDegree), Trust: n.Trust, PageRank: n.PageRank,
		Harmonic: n.Harmonic, Training: preference.StanceOf(n.Said).String(),
	}
	for _, c := range more {
		node.More = append(node.More, readable(c.Of(n), c.Kind))
	}
	return node
}

// readable formats a cell for people; it is empty if the value is unknown or 0.
func readable(v export.Value, k export.Kind) string {
	switch {
	case v.None, k == export.Integer && v.Count == 0:
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
	for _, origin := range s.Scope().Origins() {
		names = append(names, strings.TrimPrefix(origin.Name, "*."))
	}
	if len(names) > most {
		names = append(names[:most], amount.Of(len(names)-most, "other", "others"))
	}
	return "The terrain around " + strings.Join(names, ", ")
}
