package survey

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A Cover says how well a host is covered, and what was in the way.
type Cover uint8

// The covers, in the order in which the first that holds is the host's.
const (
	CoverListed     Cover = iota // blacklisted or stub: not to be visited
	CoverGivenUp                 // not asked any more in this run, never reached, or silent
	CoverBudget                  // its budget, or that of the run, was used up
	CoverSuspended               // it asks for rest
	CoverSlow                    // its Crawl-delay is too long: only its seeds are visited
	CoverWaiting                 // the run has not finished with it
	CoverLost                    // an older run left pages out, and it is not known any more why
	CoverTrap                    // a cap or trap kept pages or links from being visited or recorded
	CoverBlocked                 // half of its answers or more were 401, 403 or 429
	CoverDenied                  // robots.txt forbids pages
	CoverComplete                // all of its pages within reach were visited
	CoverNotVisited              // none of its pages is within reach
)

// Cut reports whether pages of a host within reach were not visited.
func (c Cover) Cut() bool { return c > CoverListed && c < CoverComplete }

// A HostReport is what is known of a host in the run of the survey.
type HostReport struct {
	Host    *schema.Host
	Class   schema.Class
	Rule    string
	Site    string
	Origins []int  // that it belongs to
	Title   string // of its front page

	MinDepth           uint8 // of its pages; kv.NoDepth: none
	FromDepth, ToDepth uint8 // of its processed pages; FromDepth is kv.NoDepth if none has one

	Known     int // pages
	Visited   int // of those, in the run
	Processed int // of those
	Waiting   int // pages that were to be visited and were not: queued, or over budget
	ByState   [stateCount]int
	HTML      int // pages of HTML that were processed
	Linkless  int // of those: without links
	Unreached int // visits that ended without a connection
	Linked    int // links from other hosts

	Cover        Cover
	Coverage     string // the cover in words, with all that was in the way
	Budget       string // the key that cut the host, "max-domain-requests = 500"; empty: none did
	Limit        int    // requests for pages that a run may send to it
	LimitKey     string // the key that says so, and its value
	LinksOmitted int    // links of its pages that are not recorded
	SiteOverflow int    // links to further hosts of its site, which are not recorded
	KnownMissing int    // pages that should be on the map: not visited, denied, blocked, silent, or met and not recorded
}

// coverage says how well each host is covered.
type coverage struct {
	core    *core
	hosts   *hosts
	tallies *tallies

	cut      []CutSite
	overflow map[string]int // of cut, by site; nil: not read yet
}

// each calls f for every host by id. A report is valid while f runs. An error
// of f ends it.
func (cv *coverage) each(f func(*HostReport) error) error {
	t, err := cv.tallies.tallied()
	if err != nil {
		return err
	}
	return cv.core.view(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(r *schema.Host) (bool, error) {
			report, err := cv.report(tx, cv.core.known(r), &t.hosts[r.ID])
			if err == nil {
				err = f(report)
			}
			return err == nil, err
		})
	})
}

// of returns the report on a host.
func (cv *coverage) of(id schema.HostID) (*HostReport, error) {
	t, err := cv.tallies.tallied()
	if err != nil {
		return nil, err
	}
	var report *HostReport
	err = cv.core.view(func(tx *kv.Tx) error {
		r, err := tx.Hosts.At(id)
		if err == nil {
			report, err = cv.report(tx, cv.core.known(r), &t.hosts[id])
		}
		return err
	})
	return report, err
}

func (cv *coverage) report(tx *kv.Tx, r *schema.Host, t *hostTally) (*HostReport, error) {
	h, err := cv.hosts.host(tx, r.ID)
	if err != nil {
		return nil, err
	}
	report := &HostReport{
		Host: r, Class: h.verdict.Class, Rule: h.verdict.Rule, Site: h.site, Origins: h.origins,
		MinDepth: t.nearest, FromDepth: t.from, ToDepth: t.to,
		Known: int(t.known), Visited: int(t.visited), Processed: int(t.processed),
		Waiting: int(t.byState[schema.Queued] + t.byState[schema.RequestLimitHit]),
		HTML:    int(t.html), Linkless: int(t.linkless), Unreached: int(t.unreached), Linked: int(t.linked),
	}
	for i, n := range t.byState {
		report.ByState[i] = int(n)
	}
	report.LinksOmitted, report.KnownMissing = int(t.omitted), cv.overflowOf(r)
	if h.verdict.Class.Visitable() {
		report.KnownMissing += int(t.missing + t.denied + t.blocked + t.unreached + t.unanswered)
	}
	if _, err := cv.cutSites(tx); err != nil {
		return nil, err
	}
	report.SiteOverflow = cv.overflow[h.site]
	report.Limit = cv.core.terrain.Budget(r.Name, cv.core.cfg.Crawler.MaxDomainRequests)
	report.LimitKey = cv.hosts.budgetKey(r.Name, report.Limit)
	lacks := cv.lacks(h, r, t)
	report.Cover, report.Coverage = cover(lacks, t)
	if report.Cover == CoverBudget {
		report.Budget = cmp.Or(h.budget, cv.core.maxPages())
	}
	report.Title, err = cv.titleOf(h)
	return report, err
}

// titleOf returns the title of a host's front page.
func (cv *coverage) titleOf(h *host) (string, error) {
	id, ok, err := cv.core.lookup("https://" + h.name + "/")
	if err != nil || !ok || cv.core.latest(id) == 0 {
		return "", err
	}
	v, err := cv.core.standing(cv.core.tx, cv.core.latest(id))
	if err != nil {
		return "", err
	}
	return v.Title, nil
}

// A lack is a number of pages that are missing of a host, and why.
type lack struct {
	pages uint32
	cover Cover  // of a host that lacks nothing else
	why   string // among others
	alone string // if there is no other; empty: why
}

// lacks are the reasons for which pages of a host are missing, by cover.
func (cv *coverage) lacks(h *host, r *schema.Host, t *hostTally) []lack {
	if !h.verdict.Class.Visitable() {
		return cv.lackListed(h, r)
	}
	var all []lack
	if l, ok := cv.lackLinks(t); ok {
		all = append(all, l)
	}
	if l, ok := cv.lackWaiting(h, r, t.missing-t.capped); ok {
		all = append(all, l)
	}
	for _, c := range t.cappedBy {
		all = append(all, lackCapped(c))
	}
	if l, ok := cv.lackRecord(r); ok {
		all = append(all, l)
	}
	if l, ok := cv.lackHosts(t); ok {
		all = append(all, l)
	}
	if l, ok := cv.lackSitemaps(r); ok {
		all = append(all, l)
	}
	if l, ok := cv.lackFiles(r); ok {
		all = append(all, l)
	}
	all = append(all, lacksVisited(t)...)
	slices.SortFunc(all, func(a, b lack) int {
		return cmp.Or(cmp.Compare(a.cover, b.cover), cmp.Compare(b.pages, a.pages), cmp.Compare(a.why, b.why))
	})
	return all
}

// lackListed says that a host is on a list. Of its URLs, too, some may not be recorded.
func (cv *coverage) lackListed(h *host, r *schema.Host) []lack {
	class := h.verdict.Class.String()
	if l, ok := cv.lackRecord(r); ok {
		return []lack{{cover: l.cover, why: class + ", " + l.alone}}
	}
	return []lack{{cover: CoverListed, why: class}}
}

// lackRecord says that URLs of a host were met and not recorded, if they were.
func (cv *coverage) lackRecord(r *schema.Host) (l lack, ok bool) {
	limit := cv.core.cfg.Traps.MaxURLsPerHost
	reached := r.Run == cv.core.run.ID && r.Overflow > 0 || r.Known-r.Files >= limit
	n, key := cv.overflowOf(r), limitOf("max-urls-per-host", limit, reached)
	why, alone := "not recorded ("+key+")", fmt.Sprintf("capped as a trap (%d URLs not recorded: %s)", n, key)
	return lack{uint32(n), CoverTrap, why, alone}, n > 0
}

func (cv *coverage) overflowOf(r *schema.Host) int {
	return overflow(r, cv.core.run.ID, cv.tallies.tally.counts.leftBefore)
}

// lackWaiting says why pages wait that nothing but their host, or the run, keeps
// from being visited. Of a host that was given up it says so also without any.
func (cv *coverage) lackWaiting(h *host, r *schema.Host, pages uint32) (l lack, ok bool) {
	trouble := r.Trouble(cv.core.run.ID)
	switch {
	case pages > 0 && h.held == schema.RequestLimitHit:
		return lack{pages, CoverBudget, "cut by budget (" + h.budget + ")", ""}, true
	case trouble.Kind == schema.TroubleGivenUp:
		return lack{pages, CoverGivenUp, trouble.String(), ""}, true
	case pages > 0 && cv.core.past != nil:
		return lack{pages, CoverLost, "cut, it is not known any more by what", ""}, true
	case pages > 0 && h.held == schema.RateLimited:
		return lack{pages, CoverSuspended, h.why, ""}, true
	case pages > 0 && cv.core.maxPages() != "":
		return lack{pages, CoverBudget, "cut by budget (" + cv.core.maxPages() + ")", ""}, true
	case pages > 0 && r.CrawlDelay > cv.core.cfg.Crawler.MinimumTimeOnPage:
		return lack{pages, CoverWaiting, fmt.Sprintf("slowed by Crawl-delay (%s)", r.CrawlDelay), ""}, true
	case pages > 0 && trouble.Kind != schema.TroubleNone:
		return lack{pages, CoverWaiting, "not finished: " + trouble.String(), ""}, true
	case pages > 0:
		return lack{pages, CoverWaiting, "not finished", ""}, true
	}
	return lack{}, false
}

// lackCapped says by what pages were capped.
func lackCapped(c cappedPages) lack {
	switch c.by.by {
	case hinderedByDelay:
		return lack{c.pages, CoverSlow, "slowed by Crawl-delay (" + c.by.text + ")", ""}
	case hinderedByTrap:
		return lack{c.pages, CoverTrap, "capped as a trap (" + c.by.text + ")", ""}
	}
	return lack{c.pages, CoverTrap, "capped (" + c.by.text + ")", ""}
}

// lacksVisited says which pages were asked for and are missing all the same. Some
// that are unreachable, unanswered or blocked leave a host complete.
func lacksVisited(t *hostTally) (all []lack) {
	silent := CoverComplete
	if t.unreached+t.unanswered == t.visited {
		silent = CoverGivenUp
	}
	if n := t.unreached; n > 0 {
		all = append(all, lack{n, silent, "unreachable", ""})
	}
	if n := t.unanswered; n > 0 {
		alone := fmt.Sprintf("no answer (to %d of %d pages)", n, t.visited)
		all = append(all, lack{n, silent, "without an answer", alone})
	}
	if n := t.blocked; n > 0 {
		alone := fmt.Sprintf("blocked (401, 403 or 429 on %d of %d pages)", n, t.visited)
		l := lack{n, CoverComplete, "blocked (401, 403 or 429)", alone}
		if 2*n >= t.visited {
			l.cover = CoverBlocked
		}
		all = append(all, l)
	}
	if n := t.denied; n > 0 {
		alone := fmt.Sprintf("denied by robots.txt (%d of %d pages)", n, t.visited)
		all = append(all, lack{n, CoverDenied, "denied by robots.txt", alone})
	}
	return all
}
