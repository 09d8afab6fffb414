package sqlite

import (
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/rank"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/inert"
)

// A level is the tables of a level above pages.
type level struct {
	fold    *export.Fold
	nodes   *record[export.Node] // nil: hosts, which are written from their reports
	links   *record[export.Link]
	metrics *record[measured] // nil: none
}

// newLevels returns the tables of all levels above pages.
func newLevels(table func() *table, sites *export.Fold, opts Options) []*level {
	s, c := sites.Survey(), opts.Columns
	hosts := &level{fold: export.NewFold(s, export.LevelHost), links: newRecord(table(), levelLinks("host", c))}
	site := &level{
		fold: sites, nodes: newRecord(table(), siteRelation(c)), links: newRecord(table(), levelLinks("site", c)),
	}
	entities := &level{
		fold:  export.NewFold(s, export.LevelEntity),
		nodes: newRecord(table(), entityRelation(c)), links: newRecord(table(), levelLinks("entity", c)),
	}
	if !opts.NoMetrics {
		hosts.metrics = newRecord(table(), metricRelation("host", c))
		site.metrics = newRecord(table(), metricRelation("site", c))
	}
	return []*level{hosts, site, entities}
}

// nodeRelation is that of the nodes of a level, whose names stand in a column.
func nodeRelation(table, name string, c *export.Columns) relation[export.Node] {
	return relation[export.Node]{table, append([]column[export.Node]{
		{"id", integer, func(n *export.Node) any { return int64(n.ID) }},
		{name, text, func(n *export.Node) any { return inert.SQL(n.Name) }},
	}, figures(c.Nodes, export.InLevels)...)}
}

func siteRelation(c *export.Columns) relation[export.Node] {
	r := nodeRelation("sites", "site", c)
	overflow := func(n *export.Node) any { return int64(n.Overflow) }
	r.columns = append(r.columns, column[export.Node]{"overflow", integer, overflow})
	return r
}

func entityRelation(c *export.Columns) relation[export.Node] {
	return nodeRelation("entities", "entity", c)
}

// levelLinks is the relation of the links of a level.
func levelLinks(level string, c *export.Columns) relation[export.Link] {
	return relation[export.Link]{level + "_links", append([]column[export.Link]{
		{"from_id", integer, func(l *export.Link) any { return int64(l.From) }},
		{"to_id", integer, func(l *export.Link) any { return int64(l.To) }},
		{"links", integer, func(l *export.Link) any { return int64(l.Links) }},
	}, figures(c.Links, export.InLevels)...)}
}

// A measured is what is measured of a node. A row of metrics knows nothing else: the
// pages are no longer at hand when they are measured.
type measured struct {
	id uint32
	export.Measures
}

// metricRelation is that of the metrics of the nodes of a level.
func metricRelation(level string, c *export.Columns) relation[measured] {
	columns := []column[measured]{{level + "_id", integer, func(m *measured) any { return int64(m.id) }}}
	for _, c := range c.Measures {
		of := func(m *measured) any { return cell(c.Of(&m.Measures), c.Kind) }
		columns = append(columns, column[measured]{c.Name, c.Kind, of})
	}
	return relation[measured]{level + "_metrics", columns}
}

// end writes the rows. The links are read anew, and go through a level one by one.
func (l *level) end(ctx context.Context) error {
	nodes := l.fold.Nodes()
	if l.nodes != nil {
		for i := range nodes {
			if err := l.nodes.put(&nodes[i]); err != nil {
				return err
			}
		}
		if err := l.nodes.end(); err != nil {
			return err
		}
	}
	graph := rank.NewBuilder(len(nodes), 0, true)
	err := l.fold.EachLink(l.fold.Survey().EachLinkOf, func(k *export.Link) error {
		if l.metrics != nil { // whose nodes have dense ids
			graph.Add(k.From-1, k.To-1, export.Weight(k.Links))
		}
		return l.links.put(k)
	})
	if err := errors.Join(err, l.links.end()); err != nil || l.metrics == nil {
		return err
	}
	m, err := export.MetricsOf(ctx, graph.Graph())
	if err != nil {
		return err
	}
	return putMetrics(l.metrics, m, len(nodes), func(i int) uint32 { return nodes[i].ID })
}

// putMetrics writes the metrics of n nodes, whose ids are given.
func putMetrics(t *record[measured], m *export.Metrics, n int, id func(i int) uint32) error {
	for i := range n {
		if err := t.put(&measured{id(i), m.Of(i)}); err != nil {
			return err
		}
	}
	return t.end()
}

// A pageGraph is the pages, to be measured; nil: they are not measured.
type pageGraph struct {
	table *record[measured]
	rank  []uint32 // by page: its place among the pages
	ids   []schema.ID
}

func newPageGraph(t *record[measured], n int) *pageGraph {
	return &pageGraph{table: t, rank: make([]uint32, n)}
}

func (g *pageGraph) addPage(id schema.ID) {
	if g == nil {
		return
	}
	g.rank[id] = uint32(len(g.ids))
	g.ids = append(g.ids, id)
}

// end reads the links once more, of which there are so many.
func (g *pageGraph) end(ctx context.Context, s *survey.Survey, links int64) error {
	if g == nil {
		return nil
	}
	b := rank.NewBuilder(len(g.ids), int(links), false)
	if err := s.EachTarget(func(from, to schema.ID) { b.Add(g.rank[from], g.rank[to], 1) }); err != nil {
		return err
	}
	graph := b.Graph()
	graph.Together(func(node uint32) uint32 { return uint32(s.HostOf(g.ids[node])) })
	m, err := export.MetricsOf(ctx, graph)
	if err != nil {
		return err
	}
	return putMetrics(g.table, m, len(g.ids), func(i int) uint32 { return uint32(g.ids[i]) })
}
