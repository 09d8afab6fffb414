// Package suggest finds hosts and entities that are worth adding to the terrain, because many origins
// link to them, and hosts of different sites that could be one entity, see [Owner].
//
// An origin votes for what its own pages endorse ([schema.Link.Endorses]), if they are among
// [survey.Survey.Speakers]. An origin has one vote per candidate, however many links it has, and
// origins of one site share a vote. Other links are counted but are not votes. Candidates with the same
// number of votes are sorted by trust: that of the candidate's hosts as computed by [export.Meter], to
// four digits. A part of a host has the trust of the host. A page of several origins votes for the most
// specific one. Candidates that never answered a request come last. Hosts that people have deferred
// ("later") are excluded, and so are domains for sale ([schema.AnswerParked]).
package suggest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// trustDigits is the number of significant digits of trust that are compared. Similar candidates differ
// in the last digits.
const trustDigits = 4

// A Candidate is a host, or an entity formed by [[entity]], that origins link to.
type Candidate struct {
	Name   string // the entity
	Title  string // of its front page; empty: not visited
	Class  schema.Class
	Hosts  int
	Pages  int
	Votes  int // sites of origins that endorse it
	Links  int // pairs of pages, over all origins
	Trust  float64
	Origin []Origin // voting origins first, then by name

	Coverage string // of its host, or of all its hosts
	Missing  int    // pages of its host known to be missing; 0 for several hosts
	Silent   bool   // its hosts have never answered a request
	Answers  string // URL of a page that answered, preferably the front page; empty: none

	node   uint32
	voter  string        // the site that voted last
	met    schema.ID     // the first page that links to it
	host   schema.HostID // target of its first link
	label  string        // name of that host
	answer schema.ID     // 0: none
	front  schema.ID     // 0: none
}

// An Origin is an origin that links to a candidate.
type Origin struct {
	Name      string // domain of the entry
	Editorial int    // endorsements
	Elsewhere int    // other links that are not site-wide
	SiteWide  int    // site-wide links
	From, To  string // a page that links and the target; an endorsement if possible
	Anchor    string
	Place     string // empty: a redirect

	from, to schema.ID
}

// Suggestions are the results, best first.
type Suggestions struct {
	Origins    int // number of sites of the configured origins
	Discovered []Candidate
	Stubs      []Candidate
	Owners     []Owner // of hosts that could be one entity
}

// A finder collects votes.
type finder struct {
	survey     *survey.Survey
	fold       *export.Fold
	links      *survey.LinkTable
	origin     []int // by host: the origin that its pages vote for; -1: none
	hosts      []string
	entity     []string             // by host; empty: it depends on paths
	silent     []bool               // by host
	excluded   []bool               // by host: people have deferred it, or its domain is for sale
	class      []schema.Class       // by page
	answered   []bool               // by page
	trust      []float64            // by host
	trusted    []bool               // by host: its trust is included in that of its node
	near       []float64            // by node: trust
	answers    map[uint32]schema.ID // by node: the first page that answered
	speaks     []bool               // by node: it has a page on a host that is not silent
	target     []uint32             // by number of a page: its candidate node; 0: none
	candidates []*Candidate         // by node; nil: no links
	votes      []vote               // by node, of one origin
	voted      []uint32             // nodes with a vote of that origin
}

// Options are the search parameters.
type Options struct {
	MinOrigins int            // minimum votes of a candidate
	Limit      int            // maximum number of stub candidates, of others, and of owners
	Counted    export.Counted // links used to compute trust
}

// Find returns the candidates. It stops when [survey.Survey.Context] is done.
func Find(s *survey.Survey, opts Options) (*Suggestions, error) {
	hosts, urls := s.Hosts.Count()+1, s.URLs()+1
	f := &finder{
		survey: s, fold: export.NewFold(s, export.LevelEntity), origin: make([]int, hosts), hosts: make([]string, hosts),
		entity: make([]string, hosts), silent: make([]bool, hosts), excluded: make([]bool, hosts),
		class: make([]schema.Class, urls), answered: make([]bool, urls), answers: make(map[uint32]schema.ID),
		target: make([]uint32, urls), trusted: make([]bool, hosts),
	}
	for _, step := range []func() error{
		func() (err error) { f.trust, err = export.HostTrust(s, opts.Counted); return err }, f.readLinks, f.readHosts,
		func() error { return s.Hold(s.Context(), f.readPages) }, f.vote,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	sites := s.Scope().OriginSites()
	slices.Sort(sites)
	found := &Suggestions{Origins: len(slices.Compact(sites))}
	for _, c := range f.ranked(opts.MinOrigins) {
		list := &found.Discovered
		if c.Class == schema.ClassStub {
			list = &found.Stubs
		}
		if len(*list) < opts.Limit {
			*list = append(*list, *c)
		}
	}
	err := s.Hold(s.Context(), func() (err error) {
		if found.Owners, err = f.owners(opts.Limit); err != nil {
			return err
		}
		return f.name(found.Discovered, found.Stubs)
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// readLinks reads all links, and the data of pages that is needed to count them.
func (f *finder) readLinks() (err error) {
	f.links, err = f.survey.LinkTable(func(p *survey.Page) error {
		f.class[p.ID] = p.Class
		f.answered[p.ID] = p.Class == schema.ClassDiscovered && p.State == schema.Processed && p.RedirectTo == 0
		return nil
	})
	return err
}

func (f *finder) readHosts() error {
	return f.survey.Hosts.EachUntitled(func(r *survey.HostReport) error {
		f.fold.AddHost(r)
		f.hosts[r.Host.ID], f.entity[r.Host.ID] = r.Host.Name, r.Entity
		f.silent[r.Host.ID], f.excluded[r.Host.ID] = r.Host.Silent(), r.Noted.Later || r.Parked != ""
		f.origin[r.Host.ID] = f.survey.Scope().Narrowest(r.Host.Name)
		return nil
	})
}

// readPages assigns all pages to nodes. It reads URLs only where the node depends on them.
func (f *finder) readPages() error {
	ctx := f.survey.Context()
	for id := schema.ID(1); int(id) <= f.survey.URLs(); id++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if ok, err := f.survey.Maps(id); err != nil {
			return err
		} else if !ok {
			continue
		}
		host := f.survey.Hosts.Of(id)
		p := survey.Page{ID: id, Host: host, Class: f.class[id], Entity: f.entity[host]}
		if p.Entity == "" {
			norm, err := f.survey.Norm(id)
			if err != nil {
				return err
			}
			p.Entity = f.survey.Scope().Entity(norm)
		}
		f.fold.AddPage(&p, true)
		node := f.fold.Node(id)
		if !f.excluded[host] && (p.Class == schema.ClassDiscovered || p.Class == schema.ClassStub) {
			f.target[f.links.Number(id)] = node
		}
		if int(node) >= len(f.speaks) {
			f.speaks = append(f.speaks, make([]bool, node+1)...)
			f.near = append(f.near, make([]float64, node+1)...)
		}
		switch {
		case f.entity[host] == "":
			f.near[node] = f.trust[host]
		case !f.trusted[host]:
			f.trusted[host] = true
			f.near[node] += f.trust[host]
		}
		if !f.silent[host] {
			f.speaks[node] = true
		}
		if f.answered[id] && f.answers[node] == 0 {
			f.answers[node] = id
		}
	}
	return nil
}

// vote counts the links of origins to candidates, after hosts and pages have been read.
func (f *finder) vote() error {
	if err := f.links.FindSiteWide(); err != nil {
		return err
	}
	speaks, err := f.survey.Speakers()
	if err != nil {
		return err
	}
	hosts := make([][]schema.HostID, len(f.survey.Scope().Origins())) // by origin
	for host, origin := range f.origin {
		if host > 0 && origin >= 0 {
			hosts[origin] = append(hosts[origin], schema.HostID(host))
		}
	}
	nodes := len(f.fold.Nodes()) + 1
	f.candidates, f.votes = make([]*Candidate, nodes), make([]vote, nodes)
	sites := f.survey.Scope().OriginSites()
	for _, origin := range bySite(sites) {
		if err := f.countLinks(hosts[origin], speaks); err != nil {
			return err
		}
		f.cast(origin, sites[origin])
	}
	return nil
}

// bySite returns the indices of sites so that equal sites are adjacent.
func bySite(sites []string) []int {
	order := make([]int, len(sites))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sites[a], sites[b]) })
	return order
}

// A vote counts the links of one origin to a candidate.
type vote struct {
	editorial, elsewhere, siteWide uint32
	from, to                       schema.ID // the first link, an endorsement if possible
	met, leads                     schema.ID // the first linking page, and the target of its first link
}

// countLinks counts the links of the speaking pages on an origin's hosts.
func (f *finder) countLinks(hosts []schema.HostID, speaks func(schema.ID) bool) error {
	ctx := f.survey.Context()
	for _, host := range hosts {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for n := f.links.Ends[host-1]; n < f.links.Ends[host]; n++ {
			if !speaks(f.links.Page[n]) {
				continue
			}
			own := f.fold.Node(f.links.Page[n])
			for at := f.links.Off[n]; at < f.links.Off[n+1]; at++ {
				if node := f.target[f.links.To[at]]; node != 0 && node != own {
					f.countLink(node, n, at)
				}
			}
		}
	}
	return nil
}

// countLink counts link at of the page with number n. Pages of different hosts come in any order; the
// page with the lowest id provides the first link.
func (f *finder) countLink(node, n uint32, at int64) {
	from, to, v := f.links.Page[n], f.links.Page[f.links.To[at]], &f.votes[node]
	if v.met == 0 {
		f.voted = append(f.voted, node)
	}
	if v.met == 0 || from < v.met {
		v.met, v.leads = from, to
	}
	siteWide := f.links.SiteWide(n, at)
	editorial := f.links.Endorses(n, at)
	if first := editorial == (v.editorial > 0) && from < v.from; v.from == 0 || first || editorial && v.editorial == 0 {
		v.from, v.to = from, to
	}
	switch {
	case siteWide:
		v.siteWide++
	case !editorial:
		v.elsewhere++
	default:
		v.editorial++
	}
}

// cast adds the votes of an origin to the candidates. Origins of one site must be cast consecutively.
func (f *finder) cast(origin int, site string) {
	for _, node := range f.voted {
		v, c := f.votes[node], f.candidates[node]
		if c == nil {
			c = &Candidate{node: node}
			f.candidates[node] = c
		}
		if c.met == 0 || v.met < c.met {
			c.met, c.host = v.met, f.survey.Hosts.Of(v.leads)
		}
		c.Links += int(v.editorial + v.elsewhere + v.siteWide)
		if v.editorial > 0 && c.voter != site {
			c.Votes++
			c.voter = site
		}
		c.Origin = append(c.Origin, Origin{
			Name: f.survey.Scope().Origins()[origin].Name, Editorial: int(v.editorial), Elsewhere: int(v.elsewhere),
			SiteWide: int(v.siteWide), from: v.from, to: v.to,
		})
		f.votes[node] = vote{}
	}
	f.voted = f.voted[:0]
}

// ranked completes the candidates and sorts them.
func (f *finder) ranked(minOrigins int) []*Candidate {
	nodes := f.fold.Nodes()
	var all []*Candidate
	for _, c := range f.candidates {
		if c == nil || c.Votes < minOrigins {
			continue
		}
		n := nodes[c.node-1]
		if n.Class != schema.ClassDiscovered && n.Class != schema.ClassStub {
			continue
		}
		c.Name, c.Class, c.Hosts, c.Pages, c.Trust = n.Name, n.Class, n.Hosts, n.Pages, f.near[c.node]
		c.label, c.Coverage, c.answer, c.Silent = f.hosts[c.host], n.State, f.answers[c.node], !f.speaks[c.node]
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Candidate) int {
		switch {
		case b.Silent && !a.Silent:
			return -1
		case a.Silent && !b.Silent:
			return 1
		}
		return cmp.Or(cmp.Compare(b.Votes, a.Votes), cmp.Compare(rounded(b.Trust), rounded(a.Trust)),
			cmp.Compare(a.Name, b.Name))
	})
	return all
}

// rounded returns trust as it is compared.
func rounded(trust float64) float64 {
	trust, _ = strconv.ParseFloat(strconv.FormatFloat(trust, 'e', trustDigits-1, 64), 64) // always valid
	return trust
}

// name fills in the details of the candidates and links that are shown.
func (f *finder) name(lists ...[]Candidate) error {
	ctx := f.survey.Context()
	var shown []*Candidate
	var fronts []string
	for _, candidates := range lists {
		for i := range candidates {
			c := &candidates[i]
			shown, fronts = append(shown, c), append(fronts, "https://"+c.label+"/", "https://"+c.Name, "https://"+c.Name+"/")
		}
	}
	if err := f.survey.Warm(fronts); err != nil {
		return err
	}
	var cited []*Origin
	for _, c := range shown {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := errors.Join(f.findFront(c), f.cover(c)); err != nil {
			return err
		}
		slices.SortFunc(c.Origin, func(a, b Origin) int {
			return cmp.Or(cmp.Compare(min(b.Editorial, 1), min(a.Editorial, 1)), cmp.Compare(a.Name, b.Name))
		})
		for i := range c.Origin {
			cited = append(cited, &c.Origin[i])
		}
	}
	return f.cite(cited)
}

// findFront finds the front page of a candidate. If it answered, it is preferred to other pages that
// did.
func (f *finder) findFront(c *Candidate) error {
	var fronts []schema.ID
	for _, norm := range []string{"https://" + c.Name, "https://" + c.Name + "/"} {
		id, ok, err := f.survey.Lookup(norm)
		if ok && err == nil {
			ok, err = f.survey.Maps(id)
		}
		if err != nil {
			return err
		}
		if ok && f.fold.Node(id) == c.node {
			fronts = append(fronts, id)
		}
	}
	slices.Sort(fronts)
	for _, id := range fronts {
		if c.front = id; f.answered[id] {
			c.answer = id
		}
	}
	return nil
}

// cite fills in the cited links of origins.
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
	return f.survey.Links.EachBetween(pairs, func(i int, l schema.Link) error {
		cited[i].Anchor, cited[i].Place = l.Anchor, l.Where()
		return nil
	})
}

// cover fills in the coverage and title of a candidate, and a page that answered.
func (f *finder) cover(c *Candidate) error {
	if c.Hosts == 1 {
		report, err := f.survey.Hosts.Report(c.host)
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
