package sqlite

import (
	"cmp"
	"slices"
	"sort"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// A folded is a level above pages.
type folded struct {
	nodes   []export.Node
	links   []export.Link
	to      []uint32 // positions in links, sorted by target
	metrics []export.Measured
}

// fold aggregates the terrain to a level, once.
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

// toward returns the positions of the links to a node.
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

// equal returns the range of ids equal to node among n ascending ids.
func equal(n int, node int64, id func(i int) uint32) (from, to int) {
	return sort.Search(n, func(i int) bool { return int64(id(i)) >= node }),
		sort.Search(n, func(i int) bool { return int64(id(i)) > node })
}

// measure measures the nodes of a level, once.
func (d *derived) measure(level export.Level) ([]export.Measured, error) {
	f, err := d.fold(level)
	if err != nil {
		return nil, err
	}
	if f.metrics != nil {
		return f.metrics, nil
	}
	ranking := export.NewRanking(d.db.survey, f.nodes, d.db.counted)
	for i := range f.links {
		ranking.Add(&f.links[i])
	}
	f.metrics, err = ranking.Measure(d.db.ctx)
	return f.metrics, err
}

// measurePages measures the pages, once.
func (d *derived) measurePages() ([]export.Measured, error) {
	if d.pageMetrics != nil {
		return d.pageMetrics, nil
	}
	g, err := export.New(d.db.survey, export.Options{Counted: d.db.counted})
	if err != nil {
		return nil, err
	}
	measure, err := g.Measuring()
	if err == nil {
		d.pageMetrics, err = measure(d.db.ctx)
	}
	return d.pageMetrics, err
}
