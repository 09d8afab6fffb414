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
	State    string // a page's state; otherwise its coverage, with what limited it
	Cover    string // above page level: its coverage in a word or two
	Host     string // its host; for an entity or site with several hosts, a name that no other node has
	Site     string // its site
	Entity   string // for a page
	Tags     string // tags of its hosts, or of a page's host, without duplicates, separated by commas
	Note     string // notes on these hosts
	Wall     string // see [survey.HostDetails]; of the first of its hosts that has one
	Said     string // what its owner says about its use, see package preference; otherwise one of its hosts, the strictest
	Missing  string // how its host answers requests for missing pages; with several hosts, the least informative answer
	Parked   string // the rule by which its domain, or one of them, is for sale; empty: none is
	Walled   int    // of Visited: met a wall
	Hosts    int    // number of hosts of its pages
	Pages    int    // selected
	Visited  int    // visited pages among those, in the newest run, except pages now excluded by a list
	Overflow int    // for a site: links to further hosts, which are not recorded
	First    schema.RunID
	Last     schema.RunID

	Page    *survey.Page // at page level; valid as long as the node
	Outside *Outside     // not nil: a host outside the terrain, with no figures of its own, see [Graph.EachOutside]

	Measures         // zero until [Graph.Measure]
	Placed   bool    // by [Graph.Picture]
	X, Y     float32 // the unit is the radius of a small node; y grows downwards
	Radius   float64
}

// class returns the class of a node, or "outside".
func (n *Node) class() string {
	if n.Outside != nil {
		return "outside"
	}
	return n.Class.String()
}

// Measures are the figures of a node computed from the links alone.
type Measures struct {
	InDegree, OutDegree uint32
	Trust               float64
	PageRank, Harmonic  float64
	Component           int32 // weakly connected component; 0 is the largest
	Community           int32
}

// A Link leads from one node to another.
type Link struct {
	From, To     uint32
	Links        int // pairs of pages: its weight
	Pages        int // linking pages
	Endorsements int // pairs that endorse, see [schema.Link.Endorses]
	SiteWide     int // pairs with a site-wide link
	First, Last  schema.RunID

	Page    *schema.Link // at page level, with its anchor; valid as long as the link
	Outside bool         // from a host outside the terrain; only the weight is known
}

// A pair is a link above page level as stored in a graph. There may be as many as links between pages,
// of which a store has fewer than 2^32.
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

// better reports whether a takes precedence over b as the class of a node with pages of both.
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
