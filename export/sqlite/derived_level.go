package sqlite

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/rank"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A folded is a level above pages.
type folded struct {
	nodes   []export.Node
	links   []export.Link
	to      []uint32 // places in links, by target
	metrics []measured
}

// fold adds the terrain up to a level, once.
func (d *derived) fold(level export.Level) (*folded, error) {
	if f := d.levels[level]; f != nil {
		return f, nil
	}
	s, f := d.db.survey, export.NewFold(d.db.survey, level)
	err := s.Hosts.Each(func(r *survey.HostReport) error {
		f.AddHost(r)
		return nil
	})
	if err == nil {
		err = s.EachPage(func(p *survey.Page) error {
			f.AddPage(p, !p.Gone)
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	nodes := f.Nodes()
	links, err := f.Links(s.Links.EachOf)
	if err != nil {
		return nil, err
	}
	d.levels[level] = &folded{nodes: nodes, links: links}
	return d.levels[level], nil
}

// toward returns the places of the links to a node.
func (f *folded) toward(node int64) []uint32 {
	if f.to == nil {
		f.to = make([]uint32, len(f.links))
		for i := range f.to {
			f.to[i] = uint32(i)
		}
		slices.SortStableFunc(f.to, func(a, b uint32) int { return cmp.Compare(f.links[a].To, f.links[b].To) })
	}
	from, to := equal(len(f.to), node, func(i int) uint32 { return f.links[f.to[i]].To })
	return f.to[from:to]
}

// equal returns the first of n ascending ids that is a node's, and the first after it that is not.
func equal(n int, node int64, id func(i int) uint32) (from, to int) {
	return sort.Search(n, func(i int) bool { return int64(id(i)) >= node }),
		sort.Search(n, func(i int) bool { return int64(id(i)) > node })
}

// measure measures the nodes of a level, once.
func (d *derived) measure(level export.Level) ([]measured, error) {
	f, err := d.fold(level)
	if err != nil {
		return nil, err
	}
	if f.metrics != nil {
		return f.metrics, nil
	}
	graph := rank.NewBuilder(len(f.nodes), len(f.links), true)
	for _, l := range f.links { // ids of nodes are dense
		graph.Add(l.From-1, l.To-1, export.Weight(l.Links))
	}
	m, err := export.MetricsOf(d.db.ctx, graph.Graph())
	if err != nil {
		return nil, err
	}
	f.metrics = make([]measured, len(f.nodes))
	for i := range f.nodes {
		f.metrics[i] = measured{f.nodes[i].ID, m.Of(i)}
	}
	return f.metrics, nil
}

// measurePages measures the pages, once.
func (d *derived) measurePages() ([]measured, error) {
	if d.pageMetrics != nil {
		return d.pageMetrics, nil
	}
	g, err := d.links.graph()
	if err != nil {
		return nil, err
	}
	s := d.db.survey
	all := []measured{}
	rankOf := make([]uint32, s.URLs()+1)
	for id := range rankOf {
		if s.IsPage(schema.ID(id)) {
			rankOf[id] = uint32(len(all))
			all = append(all, measured{id: uint32(id)})
		}
	}
	b := rank.NewBuilder(len(all), len(g.to), false)
	for id := range rankOf {
		for at := g.start[id]; at < g.start[id+1]; at++ {
			b.Add(rankOf[id], rankOf[g.to[at]], 1)
		}
	}
	graph := b.Graph()
	graph.Together(func(node uint32) uint32 { return uint32(s.Hosts.Of(schema.ID(all[node].id))) })
	m, err := export.MetricsOf(d.db.ctx, graph)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Measures = m.Of(i)
	}
	d.pageMetrics = all
	return all, nil
}
