package survey

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A lack is a number of missing pages of a host, and the reason.
type lack struct {
	pages uint32
	cover Cover  // cover of a host that lacks nothing else
	why   string // text among other lacks
	alone string // text if it is the only lack; empty: why
}

// lacks returns the reasons why pages of a host are missing, by cover.
func (cv *coverage) lacks(h *host, r *schema.Host, t *hostTally) []lack {
	if !h.verdict.Class.Visitable() {
		return cv.lackListed(h, r)
	}
	var all []lack
	add := func(l lack, ok bool) {
		if ok {
			all = append(all, l)
		}
	}
	add(cv.lackLinks(t))
	add(cv.lackWaiting(h, r, t.missing-t.capped))
	for _, c := range t.cappedBy {
		add(lackCapped(c), true)
	}
	add(cv.lackRecord(r))
	add(cv.lackHosts(t))
	add(cv.lackText(t))
	add(cv.lackSitemaps(r))
	add(cv.lackFiles(r))
	add(cv.lackURLs(t))
	all = append(all, lacksVisited(t)...)
	slices.SortFunc(all, func(a, b lack) int {
		return cmp.Or(cmp.Compare(a.cover, b.cover), cmp.Compare(b.pages, a.pages), cmp.Compare(a.why, b.why))
	})
	return all
}

// lackListed says that a host is on a list. Some URLs of such a host may be unrecorded, too.
func (cv *coverage) lackListed(h *host, r *schema.Host) []lack {
	class := h.verdict.Class.String()
	if l, ok := cv.lackRecord(r); ok {
		return []lack{{cover: l.cover, why: class + ", " + l.alone}}
	}
	return []lack{{cover: CoverListed, why: class}}
}

// lackRecord says that URLs of a host were found and not recorded; ok: there were any.
func (cv *coverage) lackRecord(r *schema.Host) (l lack, ok bool) {
	limit := cv.core.cfg.Traps.MaxURLsPerHost
	reached := r.Run == cv.core.run.ID && r.Overflow > 0 || max(r.Others, r.Known-r.Files-r.Others) >= limit
	n, key := cv.overflowOf(r), limitOf("max-urls-per-host", limit, reached)
	why := "not recorded (" + key + ")"
	alone := fmt.Sprintf("capped as a trap (%s not recorded: %s)", amount.Of(n, "URL", "URLs"), key)
	return lack{uint32(n), CoverTrap, why, alone}, n > 0
}

func (cv *coverage) overflowOf(r *schema.Host) int {
	return overflow(r, cv.core.run.ID, cv.left)
}

// lackWaiting says why pages wait that only their host, or the run, keeps from being visited. For a
// host that was given up it applies even without such pages.
func (cv *coverage) lackWaiting(h *host, r *schema.Host, pages uint32) (l lack, ok bool) {
	trouble := cv.trouble(r)
	switch {
	case cv.core.imports():
		return lack{pages, CoverArchives, CoverArchives.String(), ""}, pages > 0
	case pages > 0 && h.held == schema.RequestLimitHit:
		return lack{pages, CoverBudget, "cut by budget (" + h.budget + ")", ""}, true
	case trouble.Kind == schema.TroubleGivenUp:
		return lack{pages, CoverGivenUp, trouble.String(), ""}, true
	case pages > 0 && cv.core.past != nil:
		return lack{pages, CoverLost, "cut", ""}, true
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

// trouble returns the trouble that the run had with a host. An unavailable robots.txt is not
// trouble if the run continued without it, because of a copy or because everything is allowed.
func (cv *coverage) trouble(r *schema.Host) schema.Trouble {
	t, cfg := r.Trouble(cv.core.run.ID), cv.core.cfg
	stood := !r.RobotsAt.IsZero() && r.RobotsDue.Sub(r.RobotsAt) < schema.MaxRobotsAge
	allowed := cfg.Politeness.RobotsUnreachable == config.RobotsAllow && int(r.RobotsTries) > cfg.Retry.MaxRetries
	if t.Kind != schema.TroubleRobots || !stood && !allowed {
		return t
	}
	without := *r
	without.RobotsTries, without.RobotsFrom = 0, ""
	return without.Trouble(cv.core.run.ID)
}

// lackCapped says which limit capped pages.
func lackCapped(c cappedPages) lack {
	switch c.by.by {
	case hinderedByDelay:
		return lack{c.pages, CoverSlow, "slowed by Crawl-delay (" + c.by.text + ")", ""}
	case hinderedByWalls:
		return lack{c.pages, CoverBlocked, c.by.text, ""}
	case hinderedByMaze:
		return lack{c.pages, CoverTrap, "capped as a maze (" + c.by.text + ")", ""}
	case hinderedByTrap:
		return lack{c.pages, CoverTrap, "capped as a trap (" + c.by.text + ")", ""}
	}
	return lack{c.pages, CoverTrap, "capped (" + c.by.text + ")", ""}
}

// brokenAll returns the number of pages that ended in a server error, if all did. If only some did,
// the host still counts as complete.
func (t *hostTally) brokenAll() uint32 {
	if t.broken < t.visited {
		return 0
	}
	return t.broken
}

// lacksVisited says which pages were requested and are missing nevertheless. A host with a few
// unreachable, unanswered, blocked or walled pages still counts as complete.
func lacksVisited(t *hostTally) (all []lack) {
	silent := CoverComplete
	if t.unreached+t.unanswered+t.brokenAll() == t.visited && t.missing == t.capped { // otherwise why they wait says more
		silent = CoverGivenUp
	}
	if n := t.unreached; n > 0 {
		all = append(all, lack{n, silent, t.unreachable(), ""})
	}
	if n := t.unanswered; n > 0 {
		alone := fmt.Sprintf("no answer (to %d of %d pages)", n, t.visited)
		all = append(all, lack{n, silent, "without an answer", alone})
	}
	if n := t.brokenAll(); n > 0 {
		alone := fmt.Sprintf("server errors (5xx on %d of %d pages)", n, t.visited)
		all = append(all, lack{n, silent, "server errors (5xx)", alone})
	}
	for _, refusal := range []struct {
		pages uint32
		words string
		where string // without the number of pages
	}{
		{t.blocked, "blocked", "401, 403 or 429"},
		{t.unpaid, "asks for payment", "402"},
		{t.walled, "walled", ""},
	} {
		n, some, alone := refusal.pages, refusal.words, fmt.Sprintf("%d of %d pages", refusal.pages, t.visited)
		if n == 0 {
			continue
		}
		if refusal.where != "" {
			some, alone = some+" ("+refusal.where+")", refusal.where+" on "+alone
		}
		l := lack{n, CoverComplete, some, refusal.words + " (" + alone + ")"}
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

// unreachable says that visits ended without a connection, with the reason if there was only one.
func (t *hostTally) unreachable() string {
	if t.away == schema.CauseNone || t.mixed {
		return "unreachable"
	}
	return "unreachable: " + t.away.String()
}
