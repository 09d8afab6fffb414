package sqlite

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

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
	err := l.fold.EachLink(l.fold.Survey().Links.EachOf, func(k *export.Link) error {
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

// A pageGraph is the pages, which are measured on another core while the rest is written; nil:
// they are not.
type pageGraph struct {
	table     *record[measured]
	ids       []schema.ID // of the pages, by their place among them
	metrics   *export.Metrics
	measuring errgroup.Group
	leave     context.CancelFunc // nil: it has not begun
}

// begin reads the links, and begins to measure them.
func (g *pageGraph) begin(ctx context.Context, s *survey.Survey) error {
	if g == nil {
		return nil
	}
	graph, err := g.read(s)
	if err != nil {
		return err
	}
	ctx, g.leave = context.WithCancel(ctx)
	g.measuring.Go(func() (err error) {
		g.metrics, err = export.MetricsOf(ctx, graph)
		return err
	})
	return nil
}

// read reads the log twice: to count links, and to take them.
func (g *pageGraph) read(s *survey.Survey) (*rank.Graph, error) {
	place := make([]uint32, s.URLs()+1)
	var hosts []uint32
	for id := range place {
		if id := schema.ID(id); s.IsPage(id) {
			place[id] = uint32(len(g.ids))
			g.ids, hosts = append(g.ids, id), append(hosts, uint32(s.Hosts.Of(id)))
		}
	}
	graph := &rank.Graph{Off: make([]int64, len(g.ids)+1)}
	if err := s.Links.EachTargetWritten(func(from, _ schema.ID) { graph.Off[place[from]+1]++ }); err != nil {
		return nil, err
	}
	for i := range g.ids {
		graph.Off[i+1] += graph.Off[i]
	}
	graph.To = make([]uint32, graph.Off[len(g.ids)])
	var at int64
	var before schema.ID
	err := s.Links.EachTargetWritten(func(from, to schema.ID) {
		if from != before {
			at, before = graph.Off[place[from]], from
		}
		graph.To[at] = place[to]
		at++
	})
	graph.Together(func(place uint32) uint32 { return hosts[place] })
	return graph, err
}

// end writes what was measured, when it is.
func (g *pageGraph) end() error {
	if g == nil {
		return nil
	}
	if err := g.measuring.Wait(); err != nil {
		return err
	}
	return putMetrics(g.table, g.metrics, len(g.ids), func(i int) uint32 { return uint32(g.ids[i]) })
}

// stop has nothing measured any more.
func (g *pageGraph) stop() {
	if g == nil || g.leave == nil {
		return
	}
	g.leave()
	_ = g.measuring.Wait() // end has told what failed
}
