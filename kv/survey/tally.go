package survey

import (
	"errors"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// Counts are the pages of a terrain, counted.
type Counts struct {
	Pages            int
	Gone             int                     // of those: neither the last completed run nor a later one has met them
	Processed        int                     // in the run
	ByState          [schema.StateCount]int  // by schema.State
	ByAnswer         [schema.AnswerCount]int // those that the run visited, by schema.Answer
	ByClass          [schema.ClassCount]int  // by schema.Class
	ByDepth          [kv.NoDepth + 1]int     // by smallest depth; the last: pages without one
	ProcessedByDepth [kv.NoDepth + 1]int     // those of Processed, by smallest depth
	StandingByDepth  [kv.NoDepth + 1]int     // those processed in this run or an older one, by smallest depth
	HostsByDepth     [kv.NoDepth + 1]int     // those of Hosts, by the smallest depth of their pages
	Hosts            int                     // with pages, of the classes that are visited
	Listed           int                     // hosts with pages that are blacklisted or stubs
	Frontier         int                     // waiting pages, see [Page.Waits]
	Links            int                     // current links
	LinksOmitted     int                     // see [Page.LinksOmitted]; of [Survey.Speakers]
	LinksRefused     int                     // of those: not URLs, or longer than max-length
	leftBefore       int                     // of those: left out by traps, of pages that an earlier run read
	Shells           int                     // of Processed: likely to need scripts, and not rendered
	Rendered         int                     // of Processed
	Hindered         int                     // of Rendered: some requests of their scripts were refused
	Refusals         schema.Refusals         // of those: by kind
	CutByBudget      int                     // of Rendered and Unrendered: a host's budget, or the room, was used up
	StillEmpty       int                     // of Rendered: without links and next to no text
	Unrendered       int                     // of Processed: as fetched; the browser failed or the result was too large
	TimedOut         int                     // of Unrendered: their scripts used up the time of a page
	TriedOnce        int                     // of Unrendered: not tried again, since pages of their host had timed out
	Errors           map[string]int          // of the run, by kind, see [tallies.countErrors]
}

// A tally is the result of one pass over all pages.
type tally struct {
	counts Counts
	misled int         // pages visited in the run whose redirects come back, or are too many
	hosts  []hostTally // by id
}

// A hostTally is the count for one host.
type hostTally struct {
	byState     [schema.StateCount]uint32
	known       uint32
	visited     uint32       // in the run
	processed   uint32       // of visited
	denied      uint32       // of visited: by robots.txt
	blocked     uint32       // of visited: 401, 403, 429
	unpaid      uint32       // of visited: 402
	walled      uint32       // of visited: a wall, and no earlier visit that counts
	unreached   uint32       // of visited: no connection
	unanswered  uint32       // of visited: a connection, and no answer
	broken      uint32       // of visited: 5xx
	html        uint32       // of processed: HTML pages
	linkless    uint32       // of html: without links, except to feeds
	shells      uint32       // of html: that likely need scripts
	timedOut    uint32       // of html: their scripts used up the time of a page
	triedOnce   uint32       // of html: tried once, because of the former
	short       uint32       // of html: see isShort
	waits       uint32       // see Page.Waits
	missing     uint32       // see Page.Missing; and of visited: 503, if the host was given up for its requests to wait
	ruled       uint32       // not visited because exclude, include or nofollow leaves them out
	capped      uint32       // of missing: because of a cap, a trap or a Crawl-delay
	unasked     uint32       // got no visit because the host could not be reached
	failed      schema.Seq   // the last visit that did not reach the host
	away        schema.Cause // of that visit
	mixed       bool         // other visits had other causes
	omitted     uint32       // links of its pages that were not recorded
	refused     uint32       // of those: not URLs, or longer than max-length
	beyond      uint32       // of those: by max-links-per-page
	limit       int          // the highest such limit under which a page was read
	beyondHosts uint32       // of those: to hosts beyond max-hosts-per-page
	beyondText  uint32       // of those: by the text of the URLs
	nearest     uint8        // depth of all pages
	from, to    uint8        // depths of processed pages
	cappedBy    []cappedPages
	others      others
	walls       map[string]uint32 // of visited: pages that met a wall, by rule; nil: none did
}

// A cappedPages counts the pages of a host that an obstacle keeps from being visited.
type cappedPages struct {
	by    obstacle
	pages uint32
}

// cap counts a page that is capped.
func (h *hostTally) cap(by obstacle) {
	h.capped++
	for i := range h.cappedBy {
		if h.cappedBy[i].by == by {
			h.cappedBy[i].pages++
			return
		}
	}
	h.cappedBy = append(h.cappedBy, cappedPages{by, 1})
}

// tallies counts all pages once.
type tallies struct {
	core  *core
	hosts *hosts
	pages *pages
	tally *tally // nil: not counted yet
}

// counts counts all pages, once.
func (ts *tallies) counts() (*Counts, error) {
	t, err := ts.tallied()
	if err != nil {
		return nil, err
	}
	return &t.counts, nil
}

func (ts *tallies) tallied() (*tally, error) {
	var err error
	if ts.tally == nil {
		err = ts.along(func(*Page) error { return nil })
	}
	return ts.tally, err
}

// along sketches all pages for f, and counts them on the way unless that was already done.
func (ts *tallies) along(f func(*Page) error) error {
	if ts.tally != nil {
		return ts.pages.sketches(f)
	}
	t := ts.empty()
	count := ts.countInto(t)
	err := ts.pages.sketches(func(p *Page) error { return errors.Join(count(p), f(p)) })
	if err == nil {
		ts.countHosts(t)
		ts.countErrors(t)
		ts.tally = t
	}
	return err
}

// countHosts counts the hosts with pages.
func (ts *tallies) countHosts(t *tally) {
	for id := range t.hosts {
		switch h := &t.hosts[id]; {
		case h.known == 0:
		case ts.hosts.byID[id].verdict.Class.Visitable():
			t.counts.Hosts++
			t.counts.HostsByDepth[h.nearest]++
		default:
			t.counts.Listed++
		}
	}
}

// empty returns a tally without counts.
func (ts *tallies) empty() *tally {
	t := &tally{hosts: make([]hostTally, ts.core.store.Hosts()+1)}
	for i := range t.hosts {
		h := &t.hosts[i]
		h.nearest, h.from = kv.NoDepth, kv.NoDepth
	}
	return t
}

// countInto returns a function that adds a page to t.
func (ts *tallies) countInto(t *tally) func(*Page) error {
	return func(p *Page) error {
		t.add(p)
		t.counts.Links += p.LinkCount
		ts.addOmitted(t, p)
		ts.addErrors(t, p)
		return ts.addOthers(&t.hosts[p.Host].others, p)
	}
}

// ofHost counts the pages of one host, or of all if that was done or is necessary, see
// [tallies.leftBefore].
func (ts *tallies) ofHost(id schema.HostID) (*hostTally, error) {
	if ts.tally != nil || !ts.core.firstOfAll() {
		t, err := ts.tallied()
		if err != nil {
			return nil, err
		}
		return &t.hosts[id], nil
	}
	t := ts.empty()
	err := ts.pages.sketchesOf(id, ts.countInto(t))
	return &t.hosts[id], err
}

// leftBefore counts the links that limits of [traps] kept from being recorded, on pages that an
// earlier run read.
func (ts *tallies) leftBefore() (int, error) {
	if ts.core.firstOfAll() {
		return 0, nil
	}
	t, err := ts.tallied()
	if err != nil {
		return 0, err
	}
	return t.counts.leftBefore, nil
}

func (t *tally) add(p *Page) {
	c, h := &t.counts, &t.hosts[p.Host]
	c.Pages++
	if p.Gone {
		c.Gone++
	}
	c.ByState[p.State]++
	c.ByClass[p.Class]++
	c.ByDepth[p.Depth]++
	if p.State == schema.Processed {
		c.StandingByDepth[p.Depth]++
	}
	if p.Waits() {
		c.Frontier++
		h.waits++
	}
	h.known++
	h.byState[p.State]++
	h.nearest = min(h.nearest, p.Depth)
	if p.Missing() {
		h.missing++
	}
	if p.capped.by != unhindered {
		h.cap(p.capped)
	} else if p.State == schema.Discovered && p.Class.Visitable() && p.Rule != "" && p.Rule == p.Error {
		h.ruled++
	}
	if p.VisitedNow() {
		h.visited++
		c.ByAnswer[p.Answer]++
		t.addVisited(p, h)
	}
}

func (t *tally) addVisited(p *Page, h *hostTally) {
	v := p.Visit
	if v.Answer == schema.AnswerChallenge {
		if h.walls == nil {
			h.walls = map[string]uint32{}
		}
		h.walls[v.AnswerRule]++
	}
	switch {
	case p.State == schema.Processed:
		t.counts.Processed++
		t.counts.ProcessedByDepth[p.Depth]++
		h.processed++
		if p.Depth != kv.NoDepth {
			h.from, h.to = min(h.from, p.Depth), max(h.to, p.Depth)
		}
		if isHTML(v) {
			h.html++
			if p.LinkCount == p.feeds {
				h.linkless++
			}
			if isShort(v) {
				h.short++
			}
			t.countRendering(h, v)
		}
	default:
		if n := h.lackOf(p); n != nil {
			*n++
		}
	}
}

// lackOf returns the count of a page that was visited, and not processed, among the missing pages of
// its host; nil: it is not missing.
func (h *hostTally) lackOf(p *Page) *uint32 {
	switch v := p.Visit; {
	case v.Reason.Cause == schema.CauseDenied:
		return &h.denied
	case v.Reason.Cause == schema.CauseChallenge:
		return &h.walled
	case v.Status == 401 || v.Status == 403 || v.Status == 429:
		return &h.blocked
	case v.Status == 402:
		return &h.unpaid
	case v.State == schema.RateLimited:
		return &h.missing
	case v.State == schema.Unreachable:
		return &h.unreached
	case v.State == schema.Failed && v.Reason.Cause.Unanswered():
		return &h.unanswered
	case v.State == schema.Failed && v.Status >= 500:
		return &h.broken
	}
	return nil
}

// Lacks returns a function that reports whether a sketched page is one of the missing pages of its
// host: [HostFigures.KnownMissing] without [HostReport.NotRecorded].
func (s *Survey) Lacks() (func(*Page) bool, error) {
	t, err := s.tallies.tallied()
	return func(p *Page) bool {
		h := &t.hosts[p.Host]
		switch {
		case !s.tallies.hosts.byID[p.Host].verdict.Class.Visitable():
			return false
		case p.Missing():
			return true
		case p.State == schema.Processed || !p.VisitedNow():
			return false
		}
		n := h.lackOf(p)
		return n != nil && (n != &h.broken || h.brokenAll() > 0)
	}, err
}

// VisitedNow reports whether the run of the survey visited a page of a class that is visited.
func (p *Page) VisitedNow() bool { return p.Visited && p.Class.Visitable() }

// countRendering counts a page that was rendered or likely needs rendering.
func (t *tally) countRendering(h *hostTally, v *schema.Visit) {
	if v.Rendering&schema.RenderBudget != 0 {
		t.counts.CutByBudget++
	}
	switch {
	case v.Rendering&schema.Rendered != 0:
		t.counts.Rendered++
		if v.Rendering.InPart(v.Refusals) {
			t.counts.Hindered++
		}
		if v.Rendering&schema.RenderEmpty != 0 {
			t.counts.StillEmpty++
		}
		for kind, n := range v.Refusals {
			t.counts.Refusals[kind] += n
		}
		return
	case v.Rendering != 0:
		t.counts.Unrendered++
		if v.Rendering&schema.RenderTimedOut != 0 {
			h.timedOut++
			t.counts.TimedOut++
		}
		if v.Rendering&schema.RenderOnce != 0 {
			h.triedOnce++
			t.counts.TriedOnce++
		}
	}
	if v.Shell != 0 {
		h.shells++
		t.counts.Shells++
	}
}

// Waits reports whether a page is part of the frontier: it will be requested, now or when its host
// may be requested again.
func (p *Page) Waits() bool {
	return p.State == schema.Queued || p.State == schema.RateLimited && !p.fromVisit && (p.InRun || p.Left)
}

// Missing reports whether a page is within reach of the run, belongs to what it maps, and was not
// visited: it waits, its host's budget was used up, its host was given up, or a cap or trap refused
// it.
func (p *Page) Missing() bool {
	switch p.State {
	case schema.Queued, schema.RequestLimitHit:
		return true
	case schema.RateLimited, schema.Unreachable, schema.Failed:
		return !p.fromVisit && (p.InRun || p.Left)
	}
	return p.capped.by != unhindered || p.Lost
}
