package export

import (
	"cmp"
	"context"
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Graph is the graph of a survey at one level. It must be used by one goroutine only.
type Graph struct {
	ctx     context.Context
	survey  *survey.Survey
	opts    Options
	meta    Meta
	columns *Columns
	rank    []uint32 // by id: rank among the nodes plus 1; 0: not in the graph
	count   int      // nodes

	nodes   []Node // above page level, by name
	links   []pair // above page level, by the ranks of their ends
	origins []bool // at page level, by rank: the page belongs to an origin

	outside outsiders

	into []schema.ID // with [Options.Collapse], by page of a cluster: the page whose node it belongs to; nil: without

	views [2]view // by Counted
}

// A view is the graph by one kind of links.
type view struct {
	counted Counted
	meter   *Meter
	metrics *Metrics
	picture *Picture
}

func (g *Graph) view() *view { return &g.views[g.opts.Counted] }

// New selects the nodes of a graph and, above page level, aggregates its links.
func New(s *survey.Survey, opts Options) (*Graph, error) {
	if opts.All {
		s = s.Ever()
	}
	g := &Graph{ctx: context.Background(), survey: s, opts: opts, columns: opts.Columns}
	g.views[AllLinks].counted = AllLinks
	if g.columns == nil {
		g.columns = AllColumns()
	}
	if opts.Inlinks {
		g.columns = withOutside(g.columns)
	}
	if err := g.readMeta(); err != nil {
		return nil, err
	}
	if err := g.selectNodes(); err != nil || !opts.Inlinks {
		return g, err
	}
	return g, g.findOutside()
}

func (g *Graph) selectNodes() error {
	if g.opts.Level != LevelPage {
		return g.fold()
	}
	if err := g.selectPages(); err != nil || !g.opts.Collapse {
		return err
	}
	return g.collapse()
}

// Until makes the graph's methods fail with the cause of ctx soon after ctx is done, and report
// progress to p.
func (g *Graph) Until(ctx context.Context, p Progress) { g.ctx, g.opts.Progress = ctx, p }

// ended returns why the work was cancelled, or nil.
func (g *Graph) ended() error {
	if g.ctx.Err() != nil {
		return context.Cause(g.ctx)
	}
	return nil
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return g.count }

// Level returns the level of the graph.
func (g *Graph) Level() Level { return g.opts.Level }

// Survey returns the survey of the graph.
func (g *Graph) Survey() *survey.Survey { return g.survey }

// Rank returns the position of a node among all nodes, from 0; false: it is not in the graph.
func (g *Graph) Rank(id uint32) (int, bool) {
	if int(id) >= len(g.rank) || g.rank[id] == 0 {
		return 0, false
	}
	return int(g.rank[id] - 1), true
}

func (g *Graph) selectPages() error {
	g.rank = make([]uint32, g.survey.URLs()+1)
	return g.survey.EachPlace(func(p *survey.Page) error {
		g.opts.Progress.Passing("pages", int(p.ID), g.survey.URLs())
		if !p.Gone && g.opts.Only.Has(p.Class) {
			g.count++
			g.rank[p.ID] = uint32(g.count)
			g.origins = append(g.origins, p.Class == schema.ClassQuality)
		}
		return nil
	})
}

// eachPageLink calls f for the page links selected by place.
func (g *Graph) eachPageLink(f survey.LinkFunc) error {
	return g.survey.Links.Each(g.selected(f))
}

// anchoredLinksOf is like eachPageLink, for links on some pages.
func (g *Graph) anchoredLinksOf(pages []schema.ID, f survey.LinkFunc) error {
	return g.survey.Links.EachIn(slices.Values(pages), g.selected(f))
}

// linksOf is anchoredLinksOf without anchors.
func (g *Graph) linksOf(pages []schema.ID, f survey.LinkFunc) error {
	return g.survey.Links.EachOf(pages, g.selected(f))
}

// selected returns a function that calls f for links selected by place.
func (g *Graph) selected(f survey.LinkFunc) survey.LinkFunc {
	return func(from schema.ID, l schema.Link, first, last schema.RunID) error {
		if err := g.ended(); err != nil {
			return err
		}
		if !g.opts.links(l) {
			return nil
		}
		return f(from, l, first, last)
	}
}

// fold aggregates the nodes and links of a level above pages.
func (g *Graph) fold() error {
	f := NewFold(g.survey, g.opts.Level)
	err := g.survey.Hosts.Each(func(r *survey.HostReport) error {
		f.AddHost(r)
		return nil
	})
	if err != nil {
		return err
	}
	each := g.survey.EachPlace
	if g.opts.Level == LevelEntity {
		each = g.survey.EachPage // an entity's title comes from the visit of its front page
	}
	err = each(func(p *survey.Page) error {
		g.opts.Progress.Passing("pages", int(p.ID), g.survey.URLs())
		f.AddPage(p, !p.Gone)
		return nil
	})
	if err != nil {
		return err
	}
	g.keepNodes(f.Nodes())
	err = f.EachLink(g.linksOf, func(l *Link) error {
		g.opts.Progress.Passing("links", int(l.From), len(g.rank))
		return g.keepLink(l)
	})
	slices.SortFunc(g.links, func(a, b pair) int {
		return cmp.Or(cmp.Compare(g.rank[a.from], g.rank[b.from]), cmp.Compare(g.rank[a.to], g.rank[b.to]))
	})
	return err
}

func (g *Graph) keepNodes(all []Node) {
	g.rank = make([]uint32, len(all)+1)
	g.nodes = all[:0]
	for _, n := range all {
		if n.Pages == 0 && !g.opts.All || !g.opts.Only.Has(n.Class) {
			continue
		}
		g.nodes = append(g.nodes, n)
	}
	SortNodes(g.nodes)
	for i := range g.nodes {
		g.rank[g.nodes[i].ID] = uint32(i + 1)
	}
	g.count = len(g.nodes)
}

// SortNodes sorts nodes by name.
func SortNodes(nodes []Node) {
	slices.SortFunc(nodes, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
}

func (g *Graph) keepLink(l *Link) error {
	if g.rank[l.From] != 0 && g.rank[l.To] != 0 && l.Links >= g.opts.MinWeight {
		g.links = append(g.links, newPair(l))
	}
	return nil
}

// EachNode calls f for every node: above page level by name, pages by id. A node is valid only during
// the call. An error from f ends the iteration.
func (g *Graph) EachNode(f func(*Node) error) error {
	if g.opts.Level != LevelPage {
		for i := range g.nodes {
			g.measured(&g.nodes[i], i)
			if err := f(&g.nodes[i]); err != nil {
				return err
			}
		}
		return nil
	}
	var n Node
	return g.survey.EachPage(func(p *survey.Page) error {
		i, ok := g.Rank(uint32(p.ID))
		if !ok {
			return nil
		}
		g.opts.Progress.Passing("nodes", i, g.count)
		n = pageNode(p)
		noted := g.survey.Hosts.Noted(p.HostName)
		n.Tags, n.Note = noted.TagText(), noted.Note
		g.measured(&n, i)
		if err := g.ended(); err != nil {
			return err
		}
		return f(&n)
	})
}

// EachLeading is like [Graph.EachNode], but above page level the most trusted nodes come first.
func (g *Graph) EachLeading(f func(*Node) error) error {
	if g.opts.Level == LevelPage {
		return g.EachNode(f)
	}
	m, err := g.Measure()
	if err != nil {
		return err
	}
	order := make([]int, g.count)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Trust[b], m.Trust[a]) })
	for _, i := range order {
		g.measured(&g.nodes[i], i)
		if err := f(&g.nodes[i]); err != nil {
			return err
		}
	}
	return nil
}

func pageNode(p *survey.Page) Node {
	n := Node{
		ID: uint32(p.ID), Name: p.URL, Class: p.Class, Depth: p.Depth, State: p.State.String(),
		Host: p.HostName, Site: p.Site, Entity: p.Entity, Hosts: 1, Pages: 1, First: p.FirstRun, Last: p.LastRun, Page: p,
	}
	if p.Visit != nil {
		n.Title, n.Said = p.Visit.Title, p.Visit.Preferences
	}
	if p.Visited && p.Class.Visitable() {
		n.Visited = 1
	}
	return n
}

// EachLink calls f for every link, by the ranks of its ends; links of clusters that were collapsed come last. A link is
// valid only during the call. An error from f ends the iteration.
func (g *Graph) EachLink(f func(*Link) error) error {
	if g.opts.Level != LevelPage {
		for i := range g.links {
			one := g.links[i].link()
			g.opts.Progress.Passing("links", i, len(g.links))
			if err := f(&one); err != nil {
				return err
			}
		}
		return nil
	}
	if g.opts.MinWeight > 1 && g.into == nil {
		return nil
	}
	return g.joined(g.eachPageLink, g.anchoredLinksOf, func(l *Link) error {
		g.opts.Progress.Passing("links", int(l.From), g.survey.URLs())
		return f(l)
	})
}

// within returns a function that calls f for links with both ends in the graph.
func (g *Graph) within(f func(*Link) error) survey.LinkFunc {
	var one Link
	var body schema.Link
	return func(from schema.ID, l schema.Link, first, last schema.RunID) error {
		if g.rank[from] == 0 || g.rank[l.To] == 0 {
			return nil
		}
		body = l
		one = NewPageLink(from, &body, first, last)
		return f(&one)
	}
}
