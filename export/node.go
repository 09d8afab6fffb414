package export

import (
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Node is a page, host, entity or site.
type Node struct {
	ID       uint32
	Name     string // a page's URL, a host, an entity, a site
	Title    string // a page's, else that of the front page; empty: unknown
	Class    schema.Class
	Depth    uint8  // the smallest of its pages; kv.NoDepth: none
	State    string // a page's state; else how well it is covered, with what was in the way
	Cover    string // above page level: how well it is covered, in a word or two
	Host     string // that it is on; of an entity or site of several, one that no other node has
	Site     string // that it belongs to
	Entity   string // of a page
	Tags     string // that people gave its hosts, or the host of a page, each once, separated by commas
	Note     string // that people made on these hosts
	Hosts    int    // that its pages are on
	Pages    int    // selected
	Visited  int    // of those, in the newest run, unless a list keeps the crawl away now
	Overflow int    // of a site: links to further hosts, which are not recorded
	First    schema.RunID
	Last     schema.RunID

	Page *survey.Page // at page level; valid while the node is

	Measures         // zero until [Graph.Measure]
	Placed   bool    // by [Graph.Picture]
	X, Y     float32 // the unit is the radius of a small node; y grows downwards
	Radius   float64
}

// Measures are what the links alone say of a node.
type Measures struct {
	InDegree, OutDegree uint32
	Trust               float64
	PageRank, Harmonic  float64
	Component           int32 // that hangs together when directions are left out; 0 is the largest
	Community           int32
}

// A Link leads from one node to another.
type Link struct {
	From, To     uint32
	Links        int // pairs of pages: its weight
	Pages        int // that link
	Endorsements int // of the pairs: as [schema.Link.Endorses] says
	SiteWide     int // of the pairs: to what most pages of the host link to
	First, Last  schema.RunID

	Page *schema.Link // at page level, with its anchor; valid while the link is
}

// A pair is a link above page level as a graph holds it: there may be as many as there are
// links between pages, of which a store has fewer than 2^32.
type pair struct {
	from, to                             uint32
	links, pages, endorsements, siteWide uint32
	first, last                          schema.RunID
}

func newPair(l *Link) pair {
	return pair{
		l.From, l.To, uint32(l.Links), uint32(l.Pages), uint32(l.Endorsements), uint32(l.SiteWide), l.First, l.Last,
	}
}

func (p *pair) link() Link {
	return Link{
		From: p.from, To: p.to, Links: int(p.links), Pages: int(p.pages), Endorsements: int(p.endorsements),
		SiteWide: int(p.siteWide), First: p.first, Last: p.last,
	}
}

// NewPageLink returns a link between two pages, with the runs that saw it.
func NewPageLink(from schema.ID, l *schema.Link, first, last schema.RunID) Link {
	one := Link{From: uint32(from), To: uint32(l.To), Links: 1, Pages: 1, First: first, Last: last, Page: l}
	if l.Endorses() {
		one.Endorsements = 1
	}
	if l.SiteWide {
		one.SiteWide = 1
	}
	return one
}

// better reports whether a class says more of a node that has pages of both.
func better(a, b schema.Class) bool { return weight(a) > weight(b) }

func weight(c schema.Class) int {
	switch c {
	case schema.ClassQuality:
		return 3
	case schema.ClassDiscovered:
		return 2
	case schema.ClassStub:
		return 1
	}
	return 0
}
