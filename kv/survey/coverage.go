package survey

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A Cover says how well a host is covered, and what was in the way.
type Cover uint8

// The covers, in the order in which the first that holds is the host's.
const (
	CoverListed     Cover = iota // blacklisted or stub: not to be visited
	CoverGivenUp                 // not asked any more in this run, or never reached
	CoverBudget                  // its budget, or that of the run, was used up
	CoverSuspended               // it asks for rest
	CoverSlow                    // of a Crawl-delay that is too long, seeds only
	CoverWaiting                 // the run has not finished with it
	CoverLost                    // an older run left pages out, and it is not known any more why
	CoverTrap                    // a cap or trap kept pages from being visited or recorded
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
	Coverage     string // the cover in words, with what was in the way
	Budget       string // the key that cut the host, "max-domain-requests = 500"; empty: none
	KnownMissing int    // pages that should be on the map: not visited, denied, blocked, or met and not recorded
}

// EachHost calls f for every host by id. A report is valid while f runs. An error
// of f ends it.
func (s *Survey) EachHost(f func(*HostReport) error) error {
	t, err := s.tallied()
	if err != nil {
		return err
	}
	return s.view(func(tx *kv.Tx) error {
		return tx.EachHost(1, func(r *schema.Host) (bool, error) {
			report, err := s.report(tx, s.known(r), &t.hosts[r.ID])
			if err == nil {
				err = f(report)
			}
			return err == nil, err
		})
	})
}

// Host returns the report on a host.
func (s *Survey) Host(id schema.HostID) (*HostReport, error) {
	t, err := s.tallied()
	if err != nil {
		return nil, err
	}
	var report *HostReport
	err = s.view(func(tx *kv.Tx) error {
		r, err := tx.Host(id)
		if err == nil {
			report, err = s.report(tx, s.known(r), &t.hosts[id])
		}
		return err
	})
	return report, err
}

func (s *Survey) report(tx *kv.Tx, r *schema.Host, t *hostTally) (*HostReport, error) {
	h, err := s.host(tx, r.ID)
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
	if h.verdict.Class.Visitable() {
		report.KnownMissing = int(t.missing+t.denied+t.blocked+t.unreached) + r.Overflow
	}
	report.Cover, report.Coverage = s.cover(h, r, t)
	if report.Cover == CoverBudget {
		report.Budget = cmp.Or(h.budget, s.maxPages())
	}
	report.Title, err = s.titleOf(h)
	return report, err
}

// titleOf returns the title of a host's front page.
func (s *Survey) titleOf(h *host) (string, error) {
	id, ok, err := s.Lookup("https://" + h.name + "/")
	if err != nil || !ok || s.latest(id) == 0 {
		return "", err
	}
	v, err := s.standing(s.tx, s.latest(id))
	if err != nil {
		return "", err
	}
	return v.Title, nil
}

// cover decides how a host is covered.
func (s *Survey) cover(h *host, r *schema.Host, t *hostTally) (Cover, string) {
	held := t.missing > t.capped // pages that only the host keeps from being visited
	switch {
	case !h.verdict.Class.Visitable():
		return CoverListed, h.verdict.Class.String()
	case held && h.held == schema.RequestLimitHit:
		return CoverBudget, "cut by budget (" + h.budget + ")"
	case r.Run == s.run.ID && r.RunGivenUp != schema.NotGivenUp:
		return CoverGivenUp, "given up: " + r.RunGivenUpWhy
	case held && s.past != nil:
		return CoverLost, "cut, it is not known any more by what"
	case held && h.held == schema.RateLimited:
		return CoverSuspended, h.why
	case h.slow != "" && t.capped > 0:
		return CoverSlow, "slowed by Crawl-delay (" + h.slow + ")"
	case held && s.maxPages() != "":
		return CoverBudget, "cut by budget (" + s.maxPages() + ")"
	case held && r.CrawlDelay > s.cfg.Crawler.MinimumTimeOnPage:
		return CoverWaiting, fmt.Sprintf("slowed by Crawl-delay (%s)", r.CrawlDelay)
	case held:
		return CoverWaiting, "not finished"
	}
	return s.coverSettled(r, t)
}

// coverSettled decides how a host is covered that has nothing waiting.
func (s *Survey) coverSettled(r *schema.Host, t *hostTally) (Cover, string) {
	switch {
	case t.capped > 0:
		return CoverTrap, capped(t.rule)
	case r.Overflow > 0:
		return CoverTrap, fmt.Sprintf("capped as a trap (%d URLs not recorded: max-urls-per-host = %d)",
			r.Overflow, s.cfg.Traps.MaxURLsPerHost)
	case t.unreached > 0 && t.unreached == t.visited:
		return CoverGivenUp, "unreachable"
	case t.blocked > 0 && 2*t.blocked >= t.visited:
		return CoverBlocked, fmt.Sprintf("blocked (401, 403 or 429 on %d of %d pages)", t.blocked, t.visited)
	case t.denied > 0:
		return CoverDenied, fmt.Sprintf("denied by robots.txt (%d of %d pages)", t.denied, t.visited)
	case t.visited > 0:
		return CoverComplete, "complete"
	}
	return CoverNotVisited, "not visited"
}

// capped says by which rule a host was capped.
func capped(rule string) string {
	if trap, ok := strings.CutPrefix(rule, "trap: "); ok {
		return "capped as a trap (" + trap + ")"
	}
	return "capped (" + rule + ")"
}

// maxPages names [crawler] max-pages and its value if it ended the run.
func (s *Survey) maxPages() string {
	if limit := s.cfg.Crawler.MaxPages; limit > 0 && s.run.Pages >= limit {
		return fmt.Sprintf("max-pages = %d", limit)
	}
	return ""
}
