package export

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/export/atlas"
)

// MaxPicture is the maximum number of links in a picture.
const MaxPicture = 100_000

// A Picture is a graph with a position for every node, drawn by the links that count.
type Picture struct {
	At     []atlas.Point // by rank
	Radius []float64     // by rank; the smallest is 1
	Links  []Link        // the links shown, in order
	Weight []uint32      // parallel to Links: the pairs of pages that count
	Left   int           // number of links not shown: those that count least
}

// Pruned describes the links that a picture leaves out. It is empty if there are none.
func (p *Picture) Pruned() string {
	if p.Left == 0 {
		return ""
	}
	return fmt.Sprintf("pruned: the %d heaviest of %d links are shown", len(p.Links), len(p.Links)+p.Left)
}

// Picture draws the graph once and caches the result. It computes the metrics if necessary, and
// afterwards nodes have positions. At page level it returns an error: there are too many pages.
func (g *Graph) Picture() (*Picture, error) { return g.view().draw(g) }

// PictureBy is like [Graph.Picture] for the given kind of links, and also returns the metrics.
func (g *Graph) PictureBy(counted Counted) (*Picture, *Metrics, error) {
	v := &g.views[counted]
	p, err := v.draw(g)
	return p, v.metrics, err
}

func (v *view) draw(g *Graph) (*Picture, error) {
	if v.picture != nil {
		return v.picture, nil
	}
	if g.opts.Level == LevelPage {
		return nil, errors.New("there is no picture at page level")
	}
	m, err := v.measure(g)
	if err != nil {
		return nil, err
	}
	p := v.heaviest(g, MaxPicture)
	sized := make([]atlas.Node, g.count)
	for i := range sized {
		sized[i].Trust = m.Trust[i]
	}
	p.Radius = atlas.Radii(sized)
	var edges []atlas.Edge
	for i, l := range p.Links {
		if p.Weight[i] > 0 {
			edges = append(edges, atlas.Edge{From: g.rank[l.From] - 1, To: g.rank[l.To] - 1, Weight: p.Weight[i]})
		}
	}
	p.At = atlas.Layout(g.count, edges, p.Radius, seed, func(done, total int) bool {
		g.opts.Progress.At("places", done, total)
		return g.ctx.Err() == nil
	})
	if err := g.ended(); err != nil {
		return nil, err
	}
	v.picture = p
	return p, nil
}

// heaviest returns a picture of at most n links, without positions.
func (v *view) heaviest(g *Graph, n int) *Picture {
	weight := make([]uint32, len(g.links))
	for i := range g.links {
		l := g.links[i].link()
		weight[i] = g.Weigh(v.counted, &l)
	}
	p := &Picture{Left: len(g.links) - min(n, len(g.links))}
	for i, shown := range heaviest(g.links, weight, n) {
		if shown {
			p.Links, p.Weight = append(p.Links, g.links[i].link()), append(p.Weight, weight[i])
		}
	}
	return p
}

// heaviest marks at most n links as shown: first the heaviest of each node, so that no node is
// disconnected while there is room, then the heaviest of all. The earlier of equal links is preferred.
func heaviest(links []pair, weight []uint32, n int) []bool {
	shown := make([]bool, len(links))
	left := min(n, len(links))
	show := func(i uint32) {
		if left > 0 && !shown[i] {
			shown[i] = true
			left--
		}
	}
	order := byWeight(weight, links)
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
	return shown
}

// byWeight returns the indices of links by decreasing weight, then by decreasing number of page pairs.
// Equal links keep their order.
func byWeight(weight []uint32, links []pair) []uint32 {
	order := make([]uint32, len(links))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortStableFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(links[b].links, links[a].links))
	})
	return order
}
