package export

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/sumi-ripple/ripple/export/rank"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

// seed makes communities and pictures the same each time.
const seed = 1

// Counted says which links rank the nodes of a graph, form its communities and draw its picture.
type Counted uint8

// The links that can be counted.
const (
	// Endorsements are links as [schema.Link.Endorses] says, between different hosts; where the
	// origins are of several sites, between different sites. One owner's names thus do not raise
	// each other, nor does what stands on every page.
	Endorsements Counted = iota
	// AllLinks are all links between the nodes.
	AllLinks
)

func countedNames() []string { return []string{"text", "all"} }

// String returns the name on the command line.
func (c Counted) String() string { return countedNames()[c] }

// Other returns the other kind.
func (c Counted) Other() Counted { return AllLinks - c }

// ParseCounted reads "text" or "all".
func ParseCounted(name string) (Counted, error) {
	i, err := choose("kind of links", name, countedNames())
	return Counted(i), err
}

// Metrics are the measures of a graph's nodes, by their place among the nodes.
type Metrics struct {
	In, Out   []uint32
	Trust     []float64
	PageRank  []float64
	Harmonic  []float64
	Component []int32
	Community []int32
}

// Of returns the measures of the i-th node.
func (m *Metrics) Of(i int) Measures {
	return Measures{
		InDegree: m.In[i], OutDegree: m.Out[i], Trust: m.Trust[i], PageRank: m.PageRank[i], Harmonic: m.Harmonic[i],
		Component: m.Component[i], Community: m.Community[i],
	}
}

// A Meter measures nodes by the links between them. It is the one definition of what is measured,
// so that a number has one value in all outputs that are of the same run and count the same links.
//
// Degrees and components are of all links. Trust, PageRank, harmonic centrality and communities are
// of those that are [Counted]; above page level a link weighs as many pairs of pages as count.
// PageRank ends with [rank.Tolerance], at [rank.Damping], and jumps from a node without links to
// any node. Trust does so to the nodes of origins (class quality) alone: to each site of theirs as
// often, and there to each node.
//
// Above page level nodes have their places by name, so that no number depends on the order in which
// hosts were met. Pages, which are too many to be sorted, have them by id.
type Meter struct {
	counted  Counted
	weighted bool
	apart    []uint32 // by place: links between nodes of one such group do not count
	jumps    []float64

	in, out          []uint32
	parts            *rank.Sets
	from, to, weight []uint32 // links that count
}

// NewMeter begins to measure nodes above page level, which are in the order of their names.
func NewMeter(s *survey.Survey, nodes []Node, counted Counted) *Meter {
	hosts, sites := make(numbering), make(numbering)
	several := severalSites(s.Terrain())
	m := newMeter(len(nodes), counted, func(place int) (group, origin uint32) {
		n := &nodes[place]
		if group = hosts.of(n.Host); several {
			group = sites.of(n.Site)
		}
		if n.Class == schema.ClassQuality {
			origin = sites.of(n.Site)
		}
		return group, origin
	})
	m.weighted = true
	return m
}

// severalSites reports whether the origins are of several sites.
func severalSites(t *terrain.Terrain) bool {
	sites := t.OriginSites()
	return slices.ContainsFunc(sites, func(site string) bool { return site != sites[0] })
}

// A numbering numbers texts, from 1 on.
type numbering map[string]uint32

func (n numbering) of(text string) uint32 {
	number, ok := n[text]
	if !ok {
		number = uint32(len(n) + 1)
		n[text] = number
	}
	return number
}

// newMeter begins to measure n nodes. Each tells of the node at a place the group that it belongs
// to, and of a node of an origin the number of its site; 0: it is of none.
func newMeter(n int, counted Counted, each func(place int) (group, origin uint32)) *Meter {
	m := &Meter{
		counted: counted, apart: make([]uint32, n), in: make([]uint32, n), out: make([]uint32, n),
		parts: rank.NewSets(n),
	}
	origin := make([]uint32, n)
	nodes := map[uint32]int{} // by site of an origin
	for place := range n {
		m.apart[place], origin[place] = each(place)
		if origin[place] != 0 {
			nodes[origin[place]]++
		}
	}
	if len(nodes) == 0 {
		return m
	}
	m.jumps = make([]float64, n)
	for place, o := range origin {
		if o != 0 {
			m.jumps[place] = 1 / float64(len(nodes)) / float64(nodes[o])
		}
	}
	return m
}

// A Ranking measures the nodes of a fold as a [Graph] of the whole terrain does.
type Ranking struct {
	nodes []Node // that are in the graph, by name
	place []uint32
	meter *Meter
}

// NewRanking begins to measure nodes, all of a level by id.
func NewRanking(s *survey.Survey, all []Node, counted Counted) *Ranking {
	r := &Ranking{place: make([]uint32, len(all)+1)}
	for _, n := range all {
		if n.Pages > 0 {
			r.nodes = append(r.nodes, n)
		}
	}
	SortNodes(r.nodes)
	for i, n := range r.nodes {
		r.place[n.ID] = uint32(i + 1)
	}
	r.meter = NewMeter(s, r.nodes, counted)
	return r
}

// Add adds a link.
func (r *Ranking) Add(l *Link) {
	if from, to := r.place[l.From], r.place[l.To]; from != 0 && to != 0 {
		r.meter.Add(int(from-1), int(to-1), l)
	}
}

// Measure measures the nodes, once, and returns the measures of those in the graph by id.
func (r *Ranking) Measure(ctx context.Context) ([]Measured, error) {
	m, err := r.meter.Measure(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Measured, len(r.nodes))
	for i, n := range r.nodes {
		all[i] = Measured{n.ID, m.Of(i)}
	}
	slices.SortFunc(all, func(a, b Measured) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// A Measured is a node with what the links say of it.
type Measured struct {
	ID uint32
	Measures
}

// Add adds a link between the nodes at two places, in any order.
func (m *Meter) Add(from, to int, l *Link) {
	m.out[from]++
	m.in[to]++
	m.parts.Join(uint32(from), uint32(to))
	weight := m.weigh(from, to, l)
	if weight == 0 {
		return
	}
	m.from, m.to = append(m.from, uint32(from)), append(m.to, uint32(to))
	if m.weighted {
		m.weight = append(m.weight, weight)
	}
}

// weigh returns how many pairs of pages count of a link between the nodes at two places.
func (m *Meter) weigh(from, to int, l *Link) uint32 {
	switch {
	case m.counted == AllLinks:
		return weight32(l.Links)
	case m.apart[from] == m.apart[to]:
		return 0
	}
	return weight32(l.Endorsements)
}

// graph returns the links that count. It takes them from the meter.
func (m *Meter) graph(ctx context.Context) *rank.Graph {
	g := rank.Build(len(m.in), m.from, m.to, m.weight)
	m.from, m.to, m.weight = nil, nil, nil
	g.Until(ctx)
	if !m.weighted {
		g.Together(func(place uint32) uint32 { return m.apart[place] })
	}
	return g
}

// Measure measures the nodes, once, until ctx is done. Communities come first, which need most
// memory besides what was measured before.
func (m *Meter) Measure(ctx context.Context) (*Metrics, error) {
	g := m.graph(ctx)
	all := &Metrics{In: m.in, Out: m.out}
	for _, measure := range []func(){
		func() { all.Community = rank.Communities(g, seed) },
		func() { all.Component = m.parts.Numbers() },
		func() { all.Harmonic, _ = rank.Harmonic(g) },
		func() { all.PageRank = rank.PageRank(g, rank.Damping, rank.Tolerance) },
		func() { all.Trust = m.trust(g) },
	} {
		if ctx.Err() != nil { // the next one would make its room before it finds that out
			break
		}
		measure()
	}
	return all, context.Cause(ctx)
}

// trustUntil is that measure alone. It takes the place of [Meter.Measure].
func (m *Meter) trustUntil(ctx context.Context) ([]float64, error) {
	return m.trust(m.graph(ctx)), context.Cause(ctx)
}

func (m *Meter) trust(g *rank.Graph) []float64 {
	return rank.Personalised(g, m.jumps, rank.Damping, rank.Tolerance)
}

// Measure computes the metrics of the nodes, once.
func (g *Graph) Measure() (*Metrics, error) {
	return g.view().measure(g)
}

// MeasureBy is [Graph.Measure] by the links that are to count.
func (g *Graph) MeasureBy(counted Counted) (*Metrics, error) { return g.views[counted].measure(g) }

// Counted returns the links that count in the graph.
func (g *Graph) Counted() Counted { return g.opts.Counted }

// Weigh returns how many pairs of pages of a link count; the nodes have been measured by that.
func (g *Graph) Weigh(counted Counted, l *Link) uint32 {
	return g.views[counted].meter.weigh(int(g.rank[l.From]-1), int(g.rank[l.To]-1), l)
}

func (v *view) measure(g *Graph) (*Metrics, error) {
	if v.metrics != nil {
		return v.metrics, nil
	}
	m, err := g.meter(v.counted)
	if err != nil {
		return nil, err
	}
	g.opts.Progress.At("metrics", 0, 0)
	metrics, err := m.Measure(g.ctx)
	if err == nil {
		v.meter, v.metrics = m, metrics
	}
	return metrics, err
}

// HostTrust returns how much every host is trusted, by id, until the survey's context is done.
func HostTrust(s *survey.Survey, counted Counted) ([]float64, error) {
	g, err := New(s, Options{Level: LevelHost, Counted: counted})
	if err != nil {
		return nil, err
	}
	m, err := g.meter(counted)
	if err != nil {
		return nil, err
	}
	byPlace, err := m.trustUntil(s.Context())
	if err != nil {
		return nil, err
	}
	trust := make([]float64, s.Hosts.Count()+1)
	for host := range trust {
		if place, ok := g.Rank(uint32(host)); ok {
			trust[host] = byPlace[place]
		}
	}
	return trust, nil
}

// Measuring reads the links between the pages of a graph, and returns what then measures them
// without the survey: the measures by id.
func (g *Graph) Measuring() (func(context.Context) ([]Measured, error), error) {
	m, err := g.pageMeter(g.opts.Counted)
	if err != nil {
		return nil, err
	}
	ids := g.ids()
	return func(ctx context.Context) ([]Measured, error) {
		metrics, err := m.Measure(ctx)
		if err != nil {
			return nil, err
		}
		all := make([]Measured, len(ids))
		for i, id := range ids {
			all[i] = Measured{uint32(id), metrics.Of(i)}
		}
		return all, nil
	}, nil
}

// meter takes the links of the graph.
func (g *Graph) meter(counted Counted) (m *Meter, err error) {
	if g.opts.Level == LevelPage {
		return g.pageMeter(counted)
	}
	m = NewMeter(g.survey, g.nodes, counted)
	return m, g.EachLink(func(l *Link) error {
		m.Add(int(g.rank[l.From]-1), int(g.rank[l.To]-1), l)
		return nil
	})
}

// pageMeter takes the links between pages.
func (g *Graph) pageMeter(counted Counted) (*Meter, error) {
	groups, sites := make([]uint32, g.survey.Hosts.Count()+1), make([]uint32, g.survey.Hosts.Count()+1) // by host
	numbers, several := make(numbering), severalSites(g.survey.Terrain())
	err := g.survey.Hosts.EachUntitled(func(r *survey.HostReport) error {
		sites[r.Host.ID] = numbers.of(r.Site)
		if groups[r.Host.ID] = uint32(r.Host.ID); several {
			groups[r.Host.ID] = sites[r.Host.ID]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ids := g.ids()
	m := newMeter(g.count, counted, func(place int) (group, origin uint32) {
		host := g.survey.Hosts.Of(ids[place])
		if g.origins[place] {
			origin = sites[host]
		}
		return groups[host], origin
	})
	return m, g.survey.Links.EachWritten(g.selected(g.within(func(l *Link) error {
		m.Add(int(g.rank[l.From]-1), int(g.rank[l.To]-1), l)
		return nil
	})))
}

// ids returns the pages by their places.
func (g *Graph) ids() []schema.ID {
	ids := make([]schema.ID, 0, g.count)
	for id, place := range g.rank {
		if place != 0 {
			ids = append(ids, schema.ID(id))
		}
	}
	return ids
}

// weight32 is a number of links as the metrics take it.
func weight32(links int) uint32 { return uint32(min(links, math.MaxUint32)) }

// measured fills in what is computed of a node.
func (g *Graph) measured(n *Node, i int) {
	v := g.view()
	if v.metrics != nil {
		n.Measures = v.metrics.Of(i)
	}
	if p := v.picture; p != nil {
		n.Placed, n.X, n.Y, n.Radius = true, p.At[i].X, p.At[i].Y, p.Radius[i]
	}
}
