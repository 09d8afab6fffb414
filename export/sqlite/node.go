package sqlite

import (
	"errors"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema"
)

// A level is the tables of a level above pages.
type level struct {
	fold    *export.Fold
	nodes   *table // nil: hosts, which are written from their reports
	links   *table
	metrics *table // nil: none
}

// end writes the rows.
func (l *level) end() error {
	nodes, links := l.fold.Nodes(), l.fold.Links()
	if l.nodes != nil {
		for _, n := range nodes {
			if err := l.nodes.add(int64(n.ID), clean(n.Name), int64(n.Hosts), int64(n.Pages)); err != nil {
				return err
			}
		}
		if err := l.nodes.end(); err != nil {
			return err
		}
	}
	for _, k := range links {
		err := l.links.add(int64(k.From), int64(k.To), int64(k.Links), int64(k.Pages), int64(k.Editorial), int64(k.First), int64(k.Last))
		if err != nil {
			return err
		}
	}
	return errors.Join(l.links.end(), l.measure(nodes, links))
}

// measure writes the metrics of the nodes, whose ids are dense.
func (l *level) measure(nodes []export.Node, links []export.Link) error {
	if l.metrics == nil {
		return nil
	}
	from, to, weight := make([]uint32, len(links)), make([]uint32, len(links)), make([]uint32, len(links))
	for i, k := range links {
		from[i], to[i], weight[i] = k.From-1, k.To-1, export.Weight(k.Links)
	}
	return addMetrics(l.metrics, export.MetricsOf(len(nodes), from, to, weight), func(i int) int64 { return int64(nodes[i].ID) })
}

func addMetrics(t *table, m *export.Metrics, id func(int) int64) error {
	for i := range m.PageRank {
		err := t.add(id(i), int64(m.In[i]), int64(m.Out[i]), m.PageRank[i], m.Harmonic[i], int64(m.Component[i]), int64(m.Community[i]))
		if err != nil {
			return err
		}
	}
	return t.end()
}

// A pageGraph is the links between pages as they are measured; nil, they are not.
type pageGraph struct {
	table    *table
	rank     []uint32 // by page: its place among the pages
	ids      []schema.ID
	from, to []uint32
}

func newPageGraph(t *table, n int) *pageGraph { return &pageGraph{table: t, rank: make([]uint32, n)} }

func (g *pageGraph) addPage(id schema.ID) {
	if g == nil {
		return
	}
	g.rank[id] = uint32(len(g.ids))
	g.ids = append(g.ids, id)
}

func (g *pageGraph) addLink(from, to schema.ID) {
	if g == nil {
		return
	}
	g.from, g.to = append(g.from, g.rank[from]), append(g.to, g.rank[to])
}

func (g *pageGraph) end() error {
	if g == nil {
		return nil
	}
	return addMetrics(g.table, export.MetricsOf(len(g.ids), g.from, g.to, nil), func(i int) int64 { return int64(g.ids[i]) })
}
