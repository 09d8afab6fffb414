package sqlite

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A level is the tables of a level above pages.
type level struct {
	fold    *export.Fold
	nodes   *record[export.Node] // nil: hosts, which are written from their reports
	links   *record[export.Link]
	metrics *record[export.Measured] // nil: no metrics
	counted export.Counted
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
		hosts.counted, site.counted = opts.Counted, opts.Counted
	}
	return []*level{hosts, site, entities}
}

// nodeRelation returns the relation of the nodes of a level; name is the column of their names.
func nodeRelation(table, name string, c *export.Columns) relation[export.Node] {
	return relation[export.Node]{table, append([]column[export.Node]{
		{"id", integer, func(n *export.Node) any { return int64(n.ID) }},
		{name, text, func(n *export.Node) any { return sanitize.SQL(n.Name) }},
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

// levelLinks returns the relation of the links of a level.
func levelLinks(level string, c *export.Columns) relation[export.Link] {
	return relation[export.Link]{level + "_links", append([]column[export.Link]{
		{"from_id", integer, func(l *export.Link) any { return int64(l.From) }},
		{"to_id", integer, func(l *export.Link) any { return int64(l.To) }},
		{"links", integer, func(l *export.Link) any { return int64(l.Links) }},
	}, figures(c.Links, export.InLevels)...)}
}

// metricRelation returns the relation of the metrics of a level.
func metricRelation(level string, c *export.Columns) relation[export.Measured] {
	columns := []column[export.Measured]{{level + "_id", integer, func(m *export.Measured) any { return int64(m.ID) }}}
	for _, c := range c.Measures {
		of := func(m *export.Measured) any { return cell(c.Of(&m.Measures), c.Kind) }
		columns = append(columns, column[export.Measured]{c.Name, c.Kind, of})
	}
	return relation[export.Measured]{level + "_metrics", columns}
}

// end writes the rows. It reads the links again and processes them one by one.
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
	var ranking *export.Ranking
	if l.metrics != nil {
		ranking = export.NewRanking(l.fold.Survey(), nodes, l.counted)
	}
	err := l.fold.EachLink(l.fold.Survey().Links.EachOf, func(k *export.Link) error {
		if ranking != nil {
			ranking.Add(k)
		}
		return l.links.put(k)
	})
	if err := errors.Join(err, l.links.end()); err != nil || ranking == nil {
		return err
	}
	m, err := ranking.Measure(ctx)
	if err != nil {
		return err
	}
	return putMetrics(l.metrics, m)
}

// putMetrics writes the metrics of nodes.
func putMetrics(t *record[export.Measured], all []export.Measured) error {
	for i := range all {
		if err := t.put(&all[i]); err != nil {
			return err
		}
	}
	return t.end()
}

// A pageGraph measures the pages on another core while the rest is written. If nil, pages are not
// measured.
type pageGraph struct {
	table     *record[export.Measured]
	counted   export.Counted
	metrics   []export.Measured
	measuring errgroup.Group
	leave     context.CancelFunc // nil: not started
}

// begin reads the links and starts measuring.
func (g *pageGraph) begin(ctx context.Context, s *survey.Survey) error {
	if g == nil {
		return nil
	}
	pages, err := export.New(s, export.Options{Counted: g.counted})
	if err != nil {
		return err
	}
	measure, err := pages.Measuring()
	if err != nil {
		return err
	}
	ctx, g.leave = context.WithCancel(ctx)
	g.measuring.Go(func() (err error) {
		g.metrics, err = measure(ctx)
		return err
	})
	return nil
}

// end waits for the metrics and writes them.
func (g *pageGraph) end() error {
	if g == nil {
		return nil
	}
	if err := g.measuring.Wait(); err != nil {
		return err
	}
	return putMetrics(g.table, g.metrics)
}

// stop cancels the measuring.
func (g *pageGraph) stop() {
	if g == nil || g.leave == nil {
		return
	}
	g.leave()
	_ = g.measuring.Wait() // end has reported any error
}
