package summary

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// citations record who links to whom on the pages of [survey.Survey.Speakers].
//
// An origin endorses the targets of its pages' links, as [schema.Link.Endorses] says, or all targets if
// all links are counted. A page of several origins speaks for the most specific one. Origins of one
// site count once.
type citations struct {
	survey  *survey.Survey
	counted export.Counted
	trust   []float64    // by host
	origin  []int        // by host: its most specific origin; -1: none
	sites   []int        // by origin: number of its site
	in      []uint32     // by page: number of pages that link to it
	foreign []uint32     // of these: endorsing pages of other hosts
	links   map[vote]int // endorsing links
	votes   map[schema.HostID]endorsed
	cites   cites
	matrix  map[[2]int]int // endorsing links from origin to origin

	hosts top[endorsed]
	pages top[citedPage]
}

// A vote is an endorsement of a host by a site of origins.
type vote struct {
	site int
	host schema.HostID
}

// An endorsed is a host endorsed by origins that it does not belong to.
type endorsed struct {
	name, class, coverage string
	origins, links        int
	trust                 float64
}

// A citedPage is a page endorsed by others.
type citedPage struct {
	url, title           string
	origins, in, foreign int
	trust                float64 // of its host
}

func newCitations(s *survey.Survey, counted export.Counted) *citations {
	c := &citations{
		survey: s, counted: counted, origin: make([]int, s.Hosts.Count()+1), in: make([]uint32, s.URLs()+1),
		foreign: make([]uint32, s.URLs()+1), links: map[vote]int{}, votes: map[schema.HostID]endorsed{},
		matrix: map[[2]int]int{}, hosts: newTop(folded, byEndorsement), pages: newTop(folded, byCitation),
	}
	numbers := map[string]int{}
	for _, site := range s.Scope().OriginSites() {
		if _, ok := numbers[site]; !ok {
			numbers[site] = len(numbers)
		}
		c.sites = append(c.sites, numbers[site])
	}
	return c
}

func byEndorsement(a, b endorsed) int {
	return cmp.Or(cmp.Compare(b.origins, a.origins), cmp.Compare(b.trust, a.trust), cmp.Compare(b.links, a.links),
		cmp.Compare(a.name, b.name))
}

func byCitation(a, b citedPage) int {
	return cmp.Or(cmp.Compare(b.origins, a.origins), cmp.Compare(b.trust, a.trust), cmp.Compare(b.foreign, a.foreign),
		cmp.Compare(b.in, a.in), cmp.Compare(a.url, b.url))
}

func (c *citations) addHost(r *survey.HostReport) {
	c.origin[r.Host.ID] = c.survey.Scope().Narrowest(r.Host.Name)
}

func (c *citations) readTrust() (err error) {
	c.trust, err = export.HostTrust(c.survey, c.counted)
	return err
}

// readLinks counts links. All hosts must have been added before.
func (c *citations) readLinks() error {
	speaks, err := c.survey.Speakers()
	if err != nil {
		return err
	}
	err = c.survey.Links.Each(func(from schema.ID, l schema.Link, _, _ schema.RunID) error {
		if speaks(from) {
			c.in[l.To]++
			if c.counted == export.AllLinks || l.Endorses() {
				c.addEndorsement(from, l.To)
			}
		}
		return nil
	})
	for v, links := range c.links {
		e := c.votes[v.host]
		e.origins, e.links = e.origins+1, e.links+links
		c.votes[v.host] = e
	}
	c.cites.compact()
	return err
}

func (c *citations) addEndorsement(from, to schema.ID) {
	host, target := c.survey.Hosts.Of(from), c.survey.Hosts.Of(to)
	if host != target {
		c.foreign[to]++
	}
	origin, own := c.origin[host], c.origin[target]
	if origin < 0 {
		return
	}
	if own >= 0 {
		c.matrix[[2]int{origin, own}]++
	}
	if origin != own {
		c.links[vote{c.sites[origin], target}]++
	}
	if own < 0 || c.sites[origin] != c.sites[own] {
		c.cites.add(to, c.sites[origin])
	}
}

// cites are the sites of origins that endorse pages: pairs of a page and a site, without duplicates
// after compact.
type cites struct {
	pairs []uint64
	kept  int // pairs after the last compact
}

func (c *cites) add(page schema.ID, site int) {
	c.pairs = append(c.pairs, uint64(page)<<32|uint64(site))
	if len(c.pairs) > 2*c.kept+1<<16 {
		c.compact()
	}
}

func (c *cites) compact() {
	slices.Sort(c.pairs)
	c.pairs = slices.Compact(c.pairs)
	c.kept = len(c.pairs)
}

// of returns the number of sites that endorse a page.
func (c *cites) of(page schema.ID) int {
	first, _ := slices.BinarySearch(c.pairs, uint64(page)<<32)
	last, _ := slices.BinarySearch(c.pairs, uint64(page+1)<<32)
	return last - first
}

// rank adds a host to the list of endorsed hosts, if it is one. All links must have been read before.
func (c *citations) rank(r *survey.HostReport) {
	e, ok := c.votes[r.Host.ID]
	if !ok || r.Class == schema.ClassBlacklisted {
		return
	}
	e.name, e.class, e.coverage, e.trust = r.Host.Name, r.Class.String(), r.Coverage, c.trust[r.Host.ID]
	c.hosts.add(e)
}

func (c *citations) addPage(p *survey.Page) {
	if c.in[p.ID] == 0 {
		return
	}
	line := citedPage{
		url: p.URL, origins: c.cites.of(p.ID), in: int(c.in[p.ID]), foreign: int(c.foreign[p.ID]), trust: c.trust[p.Host],
	}
	if p.Visit != nil {
		line.title = p.Visit.Title
	}
	c.pages.add(line)
}
