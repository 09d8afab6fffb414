package export

import (
	"context"
	"math"

	"github.com/sumi-ripple/ripple/export/rank"
	"github.com/sumi-ripple/ripple/schema"
)

// seed makes communities and pictures the same each time.
const seed = 1

// Metrics are the measures of a graph's nodes, by their place among the nodes.
type Metrics struct {
	In, Out   []uint32
	PageRank  []float64
	Harmonic  []float64
	Component []int32
	Community []int32
}

// MetricsOf measures a graph, until ctx is done. Communities come first, which need most
// memory besides what was measured before.
func MetricsOf(ctx context.Context, g *rank.Graph) (*Metrics, error) {
	g.Until(ctx)
	m := new(Metrics)
	for _, measure := range []func(){
		func() { m.Community = rank.Communities(g, seed) },
		func() { m.Component = rank.WeakComponents(g) },
		func() { m.Harmonic, _ = rank.Harmonic(g) },
		func() { m.PageRank = rank.PageRank(g, rank.Damping, rank.Tolerance) },
		func() { m.In, m.Out = rank.InDegree(g), rank.OutDegree(g) },
	} {
		if ctx.Err() != nil { // the next one would make its room before it finds that out
			break
		}
		measure()
	}
	return m, context.Cause(ctx)
}

// Of returns the measures of the i-th node.
func (m *Metrics) Of(i int) Measures {
	return Measures{
		InDegree: m.In[i], OutDegree: m.Out[i], PageRank: m.PageRank[i], Harmonic: m.Harmonic[i],
		Component: m.Component[i], Community: m.Community[i],
	}
}

// Measure computes the metrics of the nodes, once.
func (g *Graph) Measure() (*Metrics, error) {
	if g.metrics != nil {
		return g.metrics, nil
	}
	b := rank.NewBuilder(g.count, len(g.links), g.opts.Level != LevelPage)
	err := g.eachBareLink(func(l *Link) error {
		b.Add(g.rank[l.From]-1, g.rank[l.To]-1, Weight(l.Links))
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.opts.Progress.At("metrics", 0, 0)
	graph := b.Graph()
	if g.opts.Level == LevelPage {
		graph.Together(g.hosts())
	}
	m, err := MetricsOf(g.ctx, graph)
	if err == nil {
		g.metrics = m
	}
	return m, err
}

// hosts returns what tells the host of the page at a place among the nodes.
func (g *Graph) hosts() func(place uint32) uint32 {
	host := make([]uint32, g.count)
	for id, place := range g.rank {
		if place != 0 {
			host[place-1] = uint32(g.survey.Hosts.Of(schema.ID(id)))
		}
	}
	return func(place uint32) uint32 { return host[place] }
}

// eachBareLink is EachLink without anchors.
func (g *Graph) eachBareLink(f func(*Link) error) error {
	if g.opts.Level != LevelPage {
		return g.EachLink(f)
	}
	const some = 1 << 13
	pages := make([]schema.ID, 0, some)
	for id := schema.ID(1); int(id) < len(g.rank); id++ {
		if pages = append(pages, id); len(pages) < some && int(id) < len(g.rank)-1 {
			continue
		}
		if err := g.linksOf(pages, g.within(f)); err != nil {
			return err
		}
		pages = pages[:0]
	}
	return nil
}

// Weight is a number of links as the metrics take it.
func Weight(links int) uint32 { return uint32(min(links, math.MaxUint32)) }

// measured fills in what is computed of a node.
func (g *Graph) measured(n *Node, i int) {
	if g.metrics != nil {
		n.Measures = g.metrics.Of(i)
	}
	if p := g.picture; p != nil {
		n.Placed, n.X, n.Y, n.Radius = true, p.At[i].X, p.At[i].Y, p.Radius[i]
	}
}
