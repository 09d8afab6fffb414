package summary

import (
	"cmp"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// citations are who links to whom: what the pages of [survey.Survey.Speakers] say.
//
// An origin endorses what a page of it links to, as [schema.Link.Endorses] says. A page
// of several origins speaks for the narrowest.
type citations struct {
	survey  *survey.Survey
	origin  []int        // by host: the narrowest that it belongs to; -1: none
	in      []uint32     // by page: the pages that link to it
	foreign []uint32     // of these: pages of other hosts
	links   map[vote]int // that endorse
	votes   map[schema.HostID]endorsed
	matrix  map[[2]int]int // links that endorse, from origin to origin

	hosts top[endorsed]
	pages top[citedPage]
}

// A vote is an origin that endorses a host.
type vote struct {
	origin int
	host   schema.HostID
}

// An endorsed is a host that origins endorse which it does not belong to.
type endorsed struct {
	name, class, coverage string
	origins, links        int
}

// A citedPage is a page with the pages that link to it.
type citedPage struct {
	url, title  string
	in, foreign int
}

func newCitations(s *survey.Survey) *citations {
	return &citations{
		survey: s, origin: make([]int, s.Hosts.Count()+1), in: make([]uint32, s.URLs()+1),
		foreign: make([]uint32, s.URLs()+1), links: map[vote]int{}, votes: map[schema.HostID]endorsed{},
		matrix: map[[2]int]int{}, hosts: newTop(folded, byEndorsement), pages: newTop(folded, byCitation),
	}
}

func byEndorsement(a, b endorsed) int {
	return cmp.Or(cmp.Compare(b.origins, a.origins), cmp.Compare(b.links, a.links), cmp.Compare(a.name, b.name))
}

func byCitation(a, b citedPage) int {
	return cmp.Or(cmp.Compare(b.foreign, a.foreign), cmp.Compare(b.in, a.in), cmp.Compare(a.url, b.url))
}

func (c *citations) addHost(r *survey.HostReport) {
	c.origin[r.Host.ID] = c.survey.Terrain().Narrowest(r.Host.Name)
}

// readLinks counts links. All hosts are known by then.
func (c *citations) readLinks() error {
	speaks, err := c.survey.Speakers()
	if err != nil {
		return err
	}
	err = c.survey.Links.Each(func(from schema.ID, l schema.Link, _, _ schema.RunID) error {
		if !speaks(from) {
			return nil
		}
		c.in[l.To]++
		host, target := c.survey.Hosts.Of(from), c.survey.Hosts.Of(l.To)
		if host != target {
			c.foreign[l.To]++
		}
		origin := c.origin[host]
		if origin < 0 || !l.Endorses() {
			return nil
		}
		if to := c.origin[target]; to >= 0 {
			c.matrix[[2]int{origin, to}]++
		}
		if origin != c.origin[target] {
			c.links[vote{origin, target}]++
		}
		return nil
	})
	for v, links := range c.links {
		e := c.votes[v.host]
		e.origins, e.links = e.origins+1, e.links+links
		c.votes[v.host] = e
	}
	return err
}

// rank shows a host to the list of those that are endorsed. All links are known by then.
func (c *citations) rank(r *survey.HostReport) {
	e, ok := c.votes[r.Host.ID]
	if !ok || r.Class == schema.ClassBlacklisted {
		return
	}
	e.name, e.class, e.coverage = r.Host.Name, r.Class.String(), r.Coverage
	c.hosts.add(e)
}

func (c *citations) addPage(p *survey.Page) {
	if c.in[p.ID] == 0 {
		return
	}
	line := citedPage{url: p.URL, in: int(c.in[p.ID]), foreign: int(c.foreign[p.ID])}
	if p.Visit != nil {
		line.title = p.Visit.Title
	}
	c.pages.add(line)
}
