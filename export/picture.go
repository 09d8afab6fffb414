package export

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/export/atlas"
)

// MaxPicture is the number of links that a picture shows at most.
const MaxPicture = 100_000

// A Picture is a graph with a place for every node.
type Picture struct {
	At     []atlas.Point // by place among the nodes
	Radius []float64     // likewise; the smallest is 1
	Links  []Link        // that are shown, in order
	Left   int           // links that are not: the lightest
}

// Pruned says what a picture leaves out; empty: nothing.
func (p *Picture) Pruned() string {
	if p.Left == 0 {
		return ""
	}
	return fmt.Sprintf("pruned: the %d heaviest of %d links are shown", len(p.Links), len(p.Links)+p.Left)
}

// Picture draws the graph, once: it takes the metrics, and after it nodes are
// placed. Pages have no picture, there are too many.
func (g *Graph) Picture() (*Picture, error) {
	if g.picture != nil {
		return g.picture, nil
	}
	if g.opts.Level == LevelPage {
		return nil, errors.New("there is no picture at page level")
	}
	m, err := g.Measure()
	if err != nil {
		return nil, err
	}
	p := &Picture{Links: heaviest(g.links, MaxPicture)}
	p.Left = len(g.links) - len(p.Links)
	sized := make([]atlas.Node, g.count)
	for i := range sized {
		sized[i].PageRank = m.PageRank[i]
	}
	p.Radius = atlas.Radii(sized)
	edges := make([]atlas.Edge, len(p.Links))
	for i, l := range p.Links {
		edges[i] = atlas.Edge{From: g.rank[l.From] - 1, To: g.rank[l.To] - 1, Weight: Weight(l.Links)}
	}
	p.At = atlas.Layout(g.count, edges, p.Radius, seed, func(done, total int) bool {
		g.opts.Progress.At("places", done, total)
		return g.ctx.Err() == nil
	})
	if err := g.ended(); err != nil {
		return nil, err
	}
	g.picture = p
	return p, nil
}

// heaviest returns at most n links in their order: first the heaviest of each node,
// so that nothing comes loose while there is room, then the heaviest of all; of
// equal ones the first.
func heaviest(links []pair, n int) []Link {
	shown := make([]bool, len(links))
	left := min(n, len(links))
	show := func(i uint32) {
		if left > 0 && !shown[i] {
			shown[i] = true
			left--
		}
	}
	order := byWeight(links)
	tied := make(map[uint32]bool)
	for _, i := range order {
		if l := &links[i]; !tied[l.from] || !tied[l.to] {
			tied[l.from], tied[l.to] = true, true
			show(i)
		}
	}
	for _, i := range order {
		show(i)
	}
	kept := make([]Link, 0, min(n, len(links)))
	for i := range links {
		if shown[i] {
			kept = append(kept, links[i].link())
		}
	}
	return kept
}

// byWeight returns the places of links, the heaviest first; of equal ones the first.
func byWeight(links []pair) []uint32 {
	order := make([]uint32, len(links))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(links[b].links, links[a].links) })
	return order
}
