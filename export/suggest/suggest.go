// Package suggest finds hosts and entities that are worth adding to the terrain:
// those that many origins point to.
//
// An origin votes for what its own pages link to in their text, or redirect to; however
// many links it has, that is one vote. A link that stands elsewhere, as in a footer, or
// leads where most pages of its host do, is counted, but is no vote. Equal numbers of
// votes are ordered by personalised PageRank: how often a walker comes by who sets out
// from pages of the class quality. A page of several origins votes for the narrowest.
// Candidates that were asked and never answered come last; hosts that people decided to
// leave for later are none.
package suggest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/rank"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Candidate is a host, or what [[entity]] makes of it, that origins link to.
type Candidate struct {
	Name   string // the entity
	Title  string // of its front page; empty: not visited
	Class  schema.Class
	Hosts  int
	Pages  int
	Votes  int // origins that link there in the text of a page
	Links  int // pairs of pages, of all origins
	Rank   float64
	Origin []Origin // those that vote first, then by name

	Coverage string // of its host, or of its hosts together
	Missing  int    // pages of its host that are known to be missing; 0 of several hosts
	Silent   bool   // none of its hosts that were asked has ever answered
	Answers  string // the URL of a page that answered, the front page if it can be; empty: none

	host   schema.HostID // the first that was met
	label  string        // name of that host
	answer schema.ID     // 0: none
	front  schema.ID     // 0: none
	origin map[int]*Origin
}

// An Origin is one that links to a candidate.
type Origin struct {
	Name      string // the entry's domain
	Editorial int    // links in the text of a page, and redirects, which are as much a vote
	Elsewhere int    // other links that are not site-wide
	SiteWide  int    // links to what most pages of the host link to
	From, To  string // a page that links, and where: in the text if there is one
	Anchor    string
	Place     string // empty: a redirect

	from, to schema.ID
}

// Suggestions are what was found, best first.
type Suggestions struct {
	Origins    int // in the configuration
	Discovered []Candidate
	Stubs      []Candidate
}

// A finder gathers votes.
type finder struct {
	survey     *survey.Survey
	fold       *export.Fold
	links      *survey.LinkTable
	origin     []int // by host: the origin that its pages vote for; -1: none
	hosts      []string
	silent     []bool               // by host
	later      []bool               // by host: people decided to leave it for now
	speaks     map[uint32]bool      // nodes with a page on a host that is not silent
	class      []schema.Class       // by page
	answered   []bool               // by page
	answers    map[uint32]schema.ID // by node: a page that answered, see [Candidate.Answers]
	fronts     map[uint32]schema.ID // by node: its front page
	candidates map[uint32]*Candidate
	sources    []uint32
}

// Find returns the candidates with at least minOrigins votes: at most limit that are
// stubs, and as many that are not. It ends with [survey.Survey.Context].
func Find(s *survey.Survey, minOrigins, limit int) (*Suggestions, error) {
	f := &finder{
		survey: s, fold: export.NewFold(s, export.LevelEntity), origin: make([]int, s.HostCount()+1),
		hosts: make([]string, s.HostCount()+1), silent: make([]bool, s.HostCount()+1), later: make([]bool, s.HostCount()+1),
		speaks: make(map[uint32]bool), class: make([]schema.Class, s.URLs()+1), answered: make([]bool, s.URLs()+1),
		answers: make(map[uint32]schema.ID), fronts: make(map[uint32]schema.ID), candidates: make(map[uint32]*Candidate),
	}
	for _, step := range []func() error{f.readLinks, f.readHosts, f.readPages, f.vote} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	all, err := f.ranked(minOrigins)
	if err != nil {
		return nil, err
	}
	found := &Suggestions{Origins: len(s.Terrain().Origins())}
	for _, c := range all {
		list := &found.Discovered
		if c.Class == schema.ClassStub {
			list = &found.Stubs
		}
		if len(*list) < limit {
			*list = append(*list, *c)
		}
	}
	if err := f.name(found.Discovered, found.Stubs); err != nil {
		return nil, err
	}
	return found, nil
}

func (f *finder) readHosts() error {
	origins := f.survey.Terrain().Origins()
	return f.survey.EachHostUntitled(func(r *survey.HostReport) error {
		f.fold.AddHost(r)
		f.hosts[r.Host.ID] = r.Host.Name
		f.silent[r.Host.ID], f.later[r.Host.ID] = r.Host.Silent(), r.Noted.Later
		f.origin[r.Host.ID] = -1
		for _, o := range r.Origins {
			if at := f.origin[r.Host.ID]; at < 0 || len(origins[o].Name) > len(origins[at].Name) {
				f.origin[r.Host.ID] = o
			}
		}
		return nil
	})
}

// readLinks reads all links, and of the pages what can be counted.
func (f *finder) readLinks() (err error) {
	f.links, err = f.survey.LinkTable(func(p *survey.Page) error {
		f.answered[p.ID] = p.Class == schema.ClassDiscovered && p.State == schema.Processed && p.RedirectTo == 0
		return nil
	})
	return err
}

func (f *finder) readPages() error {
	return f.survey.EachPlace(func(p *survey.Page) error {
		f.class[p.ID] = p.Class
		f.fold.AddPage(p, true)
		node := f.fold.Node(p.ID)
		if !f.silent[p.Host] {
			f.speaks[node] = true
		}
		if p.Class == schema.ClassQuality {
			f.sources = append(f.sources, uint32(p.ID))
		}
		front := strings.TrimSuffix(p.URL, "/") == "https://"+p.Entity
		if front {
			f.fronts[node] = p.ID
		}
		if f.answered[p.ID] && (front || f.answers[node] == 0) { // the front page before all others
			f.answers[node] = p.ID
		}
		return nil
	})
}

// vote counts the links of origins to candidates. Hosts and pages are known by then.
func (f *finder) vote() error {
	ctx := f.survey.Context()
	for from := schema.ID(1); int(from) <= f.survey.URLs(); from++ {
		origin := f.origin[f.survey.HostOf(from)]
		if origin < 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for at := f.links.Off[from]; at < f.links.Off[from+1]; at++ {
			to := schema.ID(f.links.To[at])
			if f.later[f.survey.HostOf(to)] ||
				f.class[to] != schema.ClassDiscovered && f.class[to] != schema.ClassStub {
				continue
			}
			if node := f.fold.Node(to); node != f.fold.Node(from) {
				f.countLink(node, origin, from, at)
			}
		}
	}
	return nil
}

// countLink counts a link of an origin's page.
func (f *finder) countLink(node uint32, origin int, from schema.ID, at int64) {
	to := schema.ID(f.links.To[at])
	c := f.candidates[node]
	if c == nil {
		host := f.survey.HostOf(to)
		c = &Candidate{host: host, label: f.hosts[host], origin: make(map[int]*Origin)}
		f.candidates[node] = c
	}
	c.Links++
	o := c.origin[origin]
	if o == nil {
		o = &Origin{Name: f.survey.Terrain().Origins()[origin].Name}
		c.origin[origin] = o
	}
	editorial := f.links.Endorses(from, at)
	if o.from == 0 || editorial && o.Editorial == 0 {
		o.from, o.to = from, to
	}
	switch {
	case f.links.SiteWide(from, at):
		o.SiteWide++
	case !editorial:
		o.Elsewhere++
	default:
		if o.Editorial++; o.Editorial == 1 {
			c.Votes++
		}
	}
}

// nearness returns how often the walker comes by at each node.
func (f *finder) nearness() ([]float64, error) {
	near := make([]float64, len(f.fold.Nodes())+1)
	g, ctx := &rank.Graph{Off: f.links.Off, To: f.links.To}, f.survey.Context()
	g.Until(ctx)
	g.Together(func(page uint32) uint32 { return uint32(f.survey.HostOf(schema.ID(page))) })
	for page, share := range rank.Personalised(g, f.sources) {
		if page > 0 && page < len(f.class) {
			near[f.fold.Node(schema.ID(page))] += share
		}
	}
	return near, context.Cause(ctx)
}

// ranked completes the candidates and puts them in order.
func (f *finder) ranked(minOrigins int) ([]*Candidate, error) {
	nodes := f.fold.Nodes()
	near, err := f.nearness()
	if err != nil {
		return nil, err
	}
	var all []*Candidate
	for node, c := range f.candidates {
		n := nodes[node-1]
		if c.Votes < minOrigins || n.Class != schema.ClassDiscovered && n.Class != schema.ClassStub {
			continue
		}
		c.Name, c.Class, c.Hosts, c.Pages, c.Rank = n.Name, n.Class, n.Hosts, n.Pages, near[node]
		c.Coverage, c.answer, c.front, c.Silent = n.State, f.answers[node], f.fronts[node], !f.speaks[node]
		for _, o := range c.origin {
			c.Origin = append(c.Origin, *o)
		}
		slices.SortFunc(c.Origin, func(a, b Origin) int {
			return cmp.Or(cmp.Compare(min(b.Editorial, 1), min(a.Editorial, 1)), cmp.Compare(a.Name, b.Name))
		})
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Candidate) int {
		switch {
		case b.Silent && !a.Silent:
			return -1
		case a.Silent && !b.Silent:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(b.Rank, a.Rank), cmp.Compare(a.Name, b.Name))
	})
	return all, nil
}

// name fills in what is told of the hosts, and of the links that are shown.
func (f *finder) name(lists ...[]Candidate) error {
	ctx := f.survey.Context()
	var cited []*Origin
	for _, candidates := range lists {
		for i := range candidates {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			c := &candidates[i]
			if err := f.cover(c); err != nil {
				return err
			}
			for i := range c.Origin {
				cited = append(cited, &c.Origin[i])
			}
		}
	}
	return f.cite(cited)
}

// cite fills in the links of origins that are shown.
func (f *finder) cite(cited []*Origin) error {
	pairs := make([][2]schema.ID, len(cited))
	for i, o := range cited {
		var err error
		if o.From, err = f.survey.Norm(o.from); err != nil {
			return err
		}
		if o.To, err = f.survey.Norm(o.to); err != nil {
			return err
		}
		pairs[i] = [2]schema.ID{o.from, o.to}
	}
	return f.survey.EachLinkBetween(pairs, func(i int, l schema.Link) error {
		cited[i].Anchor, cited[i].Place = l.Anchor, l.Where()
		return nil
	})
}

// cover fills in how a candidate is covered, its title, and a page of it that answered.
func (f *finder) cover(c *Candidate) error {
	if c.Hosts == 1 {
		report, err := f.survey.Host(c.host)
		if err != nil {
			return err
		}
		c.Coverage, c.Missing = report.Coverage, report.KnownMissing
	}
	if c.front != 0 {
		p, err := f.survey.Page(c.front)
		if err != nil {
			return err
		}
		if p.Visit != nil {
			c.Title = p.Visit.Title
		}
	}
	if c.answer == 0 {
		return nil
	}
	p, err := f.survey.Page(c.answer)
	if err == nil {
		c.Answers = cmp.Or(p.FetchURL, p.URL)
	}
	return err
}
