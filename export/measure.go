package export

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/sumi-ripple/ripple/export/rank"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// seed makes communities and pictures reproducible.
const seed = 1

// Counted selects the links that are used to rank the nodes of a graph, find its communities and
// draw its picture.
type Counted uint8

// The links that can be counted.
const (
	// Endorsements are the links that [schema.Link.Endorses] accepts, between different hosts or, if
	// the origins belong to several sites, between different sites. So the names of one owner do not
	// raise each other, and neither do links repeated on every page.
	Endorsements Counted = iota
	// AllLinks are all links between the nodes.
	AllLinks
)

func countedNames() []string { return []string{"text", "all"} }

// String returns the name used on the command line.
func (c Counted) String() string { return countedNames()[c] }

// Other returns the other kind.
func (c Counted) Other() Counted { return AllLinks - c }

// ParseCounted parses "text" or "all".
func ParseCounted(name string) (Counted, error) {
	i, err := choose("kind of links", name, countedNames())
	return Counted(i), err
}

// Metrics are the measures of a graph's nodes, by rank.
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

// A Meter measures nodes by the links between them. It is the single definition of the measures, so a
// number is the same in all outputs of one run that count the same links.
//
// Degrees and components use all links. Trust, PageRank, harmonic centrality and communities use the
// links that are [Counted]; above page level the weight of a link is the number of its page pairs that
// count. PageRank ends at [rank.Tolerance], uses [rank.Damping], and jumps from a node without links to
// any node. Trust jumps only to nodes of origins (class quality): to each of their sites equally often,
// and there to each node.
//
// Above page level nodes are ranked by name, so no number depends on the order in which hosts were
// found. Pages are too many to sort; they are ranked by id.
type Meter struct {
	counted  Counted
	weighted bool
	apart    []uint32 // by rank: links between nodes of the same group do not count
	jumps    []float64

	in, out          []uint32
	parts            *rank.Sets
	from, to, weight []uint32 // links that count
}

// NewMeter returns a meter for nodes above page level, which must be sorted by name.
func NewMeter(s *survey.Survey, nodes []Node, counted Counted) *Meter {
	hosts, sites := make(numbering), make(numbering)
	several := severalSites(s.Scope())
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

// severalSites reports whether the origins belong to several sites.
func severalSites(t *scope.Scope) bool {
	sites := t.OriginSites()
	return slices.ContainsFunc(sites, func(site string) bool { return site != sites[0] })
}

// A numbering numbers texts from 1.
type numbering map[string]uint32

func (n numbering) of(text string) uint32 {
	number, ok := n[text]
	if !ok {
		number = uint32(len(n) + 1)
		n[text] = number
	}
	return number
}

// newMeter returns a meter for n nodes. For each rank, each returns the node's group and, for a node of
// an origin, the number of its site; otherwise 0.
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
	nodes []Node // those in the graph, by name
	place []uint32
	meter *Meter
}

// NewRanking returns a ranking of all nodes of a level, given by id.
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

// Measure measures the nodes and returns the measures of those in the graph, by id. It must be called
// only once.
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

// A Measured is a node id with its measures.
type Measured struct {
	ID uint32
	Measures
}

// Add adds a link between the nodes at two ranks. The order of links does not matter.
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

// weigh returns how many page pairs count in a link between the nodes at two ranks.
func (m *Meter) weigh(from, to int, l *Link) uint32 {
	switch {
	case m.counted == AllLinks:
		return weight32(l.Links)
	case m.apart[from] == m.apart[to]:
		return 0
	}
	return weight32(l.Endorsements)
}

// graph returns the counted links. It removes them from the meter.
func (m *Meter) graph(ctx context.Context) *rank.Graph {
	g := rank.Build(len(m.in), m.from, m.to, m.weight)
	m.from, m.to, m.weight = nil, nil, nil
	g.Until(ctx)
	if !m.weighted {
		g.Together(func(place uint32) uint32 { return m.apart[place] })
	}
	return g
}

// Measure measures the nodes, until ctx is done. It must be called only once. Communities come first,
// because they need the most memory in addition to earlier results.
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
		if ctx.Err() != nil { // otherwise the next one would allocate memory before checking
			break
		}
		measure()
	}
	return all, context.Cause(ctx)
}

// trustUntil computes trust only. It is used instead of [Meter.Measure].
func (m *Meter) trustUntil(ctx context.Context) ([]float64, error) {
	return m.trust(m.graph(ctx)), context.Cause(ctx)
}

func (m *Meter) trust(g *rank.Graph) []float64 {
	return rank.Personalised(g, m.jumps, rank.Damping, rank.Tolerance)
}

// Measure computes the metrics of the nodes once and caches them.
func (g *Graph) Measure() (*Metrics, error) {
	return g.view().measure(g)
}

// MeasureBy is like [Graph.Measure], for the given kind of links.
func (g *Graph) MeasureBy(counted Counted) (*Metrics, error) { return g.views[counted].measure(g) }

// Counted returns the kind of links that count in the graph.
func (g *Graph) Counted() Counted { return g.opts.Counted }

// Weigh returns how many page pairs of a link count. The nodes must have been measured with counted
// before.
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

// HostTrust returns the trust of every host by id, until the survey's context is done.
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

// Measuring reads the links between the pages of a graph. It returns a function that computes the
// measures by id without the survey.
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

// meter returns a meter with the links of the graph.
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

// pageMeter returns a meter with the links between pages.
func (g *Graph) pageMeter(counted Counted) (*Meter, error) {
	groups, sites := make([]uint32, g.survey.Hosts.Count()+1), make([]uint32, g.survey.Hosts.Count()+1) // by host
	numbers, several := make(numbering), severalSites(g.survey.Scope())
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
	written := func(f survey.LinkFunc) error { return g.survey.Links.EachWritten(g.selected(f)) }
	return m, g.joined(written, g.linksOf, func(l *Link) error {
		m.Add(int(g.rank[l.From]-1), int(g.rank[l.To]-1), l)
		return nil
	})
}

// ids returns the pages by rank.
func (g *Graph) ids() []schema.ID {
	ids := make([]schema.ID, 0, g.count)
	for id, place := range g.rank {
		if place != 0 {
			ids = append(ids, schema.ID(id))
		}
	}
	return ids
}

// weight32 limits a number of links to 32 bits.
func weight32(links int) uint32 { return uint32(min(links, math.MaxUint32)) }

// measured fills in the computed values of a node.
func (g *Graph) measured(n *Node, i int) {
	v := g.view()
	if v.metrics != nil {
		n.Measures = v.metrics.Of(i)
	}
	if p := v.picture; p != nil {
		n.Placed, n.X, n.Y, n.Radius = true, p.At[i].X, p.At[i].Y, p.Radius[i]
	}
}
