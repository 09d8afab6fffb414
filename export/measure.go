package export

import (
	"math"

	"github.com/sumi-ripple/ripple/export/rank"
)

// seed makes communities and pictures the same each time.
const seed = 1

// Metrics are the measures of a graph's nodes, by their place among the nodes.
type Metrics struct {
	In, Out   []uint32
	PageRank  []float64
	Harmonic  []float64
	Exact     bool // the harmonic centrality is counted, not estimated
	Component []int32
	Community []int32
}

// MetricsOf measures the links from[i] -> to[i] among n nodes; a nil weight gives
// each the weight 1.
func MetricsOf(n int, from, to, weight []uint32) *Metrics {
	r := rank.Build(n, from, to, weight)
	m := &Metrics{
		In: rank.InDegree(r), Out: rank.OutDegree(r), PageRank: rank.PageRank(r, rank.Damping, rank.Tolerance),
		Component: rank.WeakComponents(r), Community: rank.Communities(r, seed),
	}
	m.Harmonic, m.Exact = rank.Harmonic(r)
	return m
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
	var from, to, weight []uint32
	err := g.EachLink(func(l *Link) error {
		from, to = append(from, g.rank[l.From]-1), append(to, g.rank[l.To]-1)
		if g.opts.Level != LevelPage {
			weight = append(weight, Weight(l.Links))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.metrics = MetricsOf(g.count, from, to, weight)
	return g.metrics, nil
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
