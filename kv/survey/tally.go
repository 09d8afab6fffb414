package survey

import (
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// stateCount and classCount are the numbers of states and classes.
const (
	stateCount = int(schema.ContentMismatch) + 1
	classCount = int(schema.ClassStub) + 1
)

// deniedByRobots begins the error of a page that robots.txt forbids (SPEC 4).
const deniedByRobots = "denied by robots.txt"

// Counts are the pages of a terrain, counted.
type Counts struct {
	Pages     int
	Processed int                 // in the run
	ByState   [stateCount]int     // by schema.State
	ByClass   [classCount]int     // by schema.Class
	ByDepth   [kv.NoDepth + 1]int // by smallest depth; the last: pages without one
	Crawled   [kv.NoDepth + 1]int // those of Processed, by smallest depth
	NewHosts  [kv.NoDepth + 1]int // those of Hosts, by the smallest depth of their pages
	Hosts     int                 // quality and discovered hosts with pages
	Frontier  int                 // pages that wait, see [Page.Waits]
	Links     int                 // that stand
}

// A tally is what one pass over all pages counts.
type tally struct {
	counts Counts
	hosts  []hostTally // by id
}

// A hostTally is what is counted of one host.
type hostTally struct {
	byState   [stateCount]uint32
	known     uint32
	visited   uint32 // in the run
	processed uint32 // of those
	denied    uint32 // of those, by robots.txt
	blocked   uint32 // of those: 401, 403, 429
	unreached uint32 // of those: no connection
	html      uint32 // of those: HTML pages
	linkless  uint32 // of those: without links
	missing   uint32 // see Page.Missing
	capped    uint32 // of those: by a cap, a trap or a Crawl-delay
	linked    uint32 // links from other hosts
	nearest   uint8  // depth of all pages
	from, to  uint8  // depths of processed pages
	rules     []ruleTally
}

// A ruleTally is how many pages of a host a rule has capped.
type ruleTally struct {
	rule  string
	pages uint32
}

// cap counts a page that a rule has capped.
func (h *hostTally) cap(rule string) {
	h.capped++
	for i := range h.rules {
		if h.rules[i].rule == rule {
			h.rules[i].pages++
			return
		}
	}
	h.rules = append(h.rules, ruleTally{rule, 1})
}

// Counts counts all pages; it does so once.
func (s *Survey) Counts() (*Counts, error) {
	t, err := s.tallied()
	if err != nil {
		return nil, err
	}
	return &t.counts, nil
}

func (s *Survey) tallied() (*tally, error) {
	if s.tally != nil {
		return s.tally, nil
	}
	t := &tally{hosts: make([]hostTally, s.store.Hosts()+1)}
	for i := range t.hosts {
		h := &t.hosts[i]
		h.nearest, h.from = kv.NoDepth, kv.NoDepth
	}
	err := s.EachPage(func(p *Page) error {
		t.add(p)
		s.addLinks(t, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for id := range t.hosts {
		if h := &t.hosts[id]; h.known > 0 && s.hosts[id].verdict.Class.Visitable() {
			t.counts.Hosts++
			t.counts.NewHosts[h.nearest]++
		}
	}
	s.tally = t
	return t, nil
}

func (s *Survey) addLinks(t *tally, p *Page) {
	if p.Visit == nil {
		return
	}
	t.counts.Links += len(p.Visit.Links)
	for i := range p.Visit.Links {
		if to := s.store.HostOf(p.Visit.Links[i].To); to != p.Host {
			t.hosts[to].linked++
		}
	}
}

func (t *tally) add(p *Page) {
	c, h := &t.counts, &t.hosts[p.Host]
	c.Pages++
	c.ByState[p.State]++
	c.ByClass[p.Class]++
	c.ByDepth[p.Depth]++
	if p.Waits() {
		c.Frontier++
	}
	h.known++
	h.byState[p.State]++
	h.nearest = min(h.nearest, p.Depth)
	if p.Missing() {
		h.missing++
	}
	if p.Capped {
		h.cap(p.Rule)
	}
	if p.Visited && p.Class.Visitable() {
		h.visited++
		t.addVisited(p, h)
	}
}

func (t *tally) addVisited(p *Page, h *hostTally) {
	switch v := p.Visit; {
	case p.State == schema.Processed:
		t.counts.Processed++
		t.counts.Crawled[p.Depth]++
		h.processed++
		if p.Depth != kv.NoDepth {
			h.from, h.to = min(h.from, p.Depth), max(h.to, p.Depth)
		}
		if v.Charset != "" && p.RedirectTo == 0 { // only HTML has one
			h.html++
			if len(v.Links) == 0 {
				h.linkless++
			}
		}
	case v.State == schema.Failed && strings.HasPrefix(v.Error, deniedByRobots):
		h.denied++
	case v.Status == 401 || v.Status == 403 || v.Status == 429:
		h.blocked++
	case v.State == schema.Unreachable:
		h.unreached++
	}
}

// Waits reports whether a page is part of the frontier: it will be asked for, now
// or when its host has had its rest.
func (p *Page) Waits() bool {
	return p.State == schema.Queued || p.State == schema.RateLimited && !p.stands && (p.InRun || p.Left)
}

// Missing reports whether a page is within reach of the run, belongs to
// what it maps, and was not visited: it waits, its host's budget was used up, its
// host was given up, or a cap or trap was in the way.
func (p *Page) Missing() bool {
	switch p.State {
	case schema.Queued, schema.RequestLimitHit:
		return true
	case schema.RateLimited, schema.Unreachable, schema.Failed:
		return !p.stands && (p.InRun || p.Left)
	}
	return p.Capped || p.Lost
}
