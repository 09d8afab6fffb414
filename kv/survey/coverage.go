package survey

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/amount"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// A Cover says how well a host is covered, and why not completely.
type Cover uint8

// The covers, in order of precedence: the first that applies is the host's.
const (
	CoverListed     Cover = iota // blacklisted or stub: never visited
	CoverGivenUp                 // not requested any more in this run, never reached, or silent
	CoverBudget                  // its budget, or that of the run, was used up
	CoverSuspended               // it asked to be left alone
	CoverSlow                    // its Crawl-delay is too long: only its seeds are visited
	CoverWaiting                 // the run has not finished it
	CoverLost                    // an older run left pages out, and the reason is no longer known
	CoverArchives                // the archives of an import lack pages
	CoverTrap                    // a cap or trap kept pages from being visited, or links from being recorded
	CoverBlocked                 // at least half of its answers were 401, 402, 403, 429 or walls
	CoverDenied                  // robots.txt forbids pages
	CoverComplete                // all of its pages were visited
	CoverByRule                  // all but those that exclude, include or nofollow leaves out
	CoverToDepth                 // all of its pages within reach were visited; others are too deep
	CoverNotVisited              // none of its pages is within reach, or the results of an earlier run still apply

	CoverCount // the number of covers
)

// Cut reports whether pages of a host within reach were not visited.
func (c Cover) Cut() bool { return c > CoverListed && c < CoverComplete }

// A HostReport is what is known about a host in the run of the survey.
type HostReport struct {
	Host    *schema.Host
	Class   schema.Class
	Rule    string
	Site    string
	Entity  string // of all its pages; empty: it depends on their paths
	Origins []int  // numbers of the origins that the host belongs to
	Noted   schema.HostNote

	HostFigures
	HostDetails

	FromDepth, ToDepth uint8 // of its processed pages; FromDepth is kv.NoDepth if none has one

	Processed int // visited pages
	ByState   [schema.StateCount]int
	Linkless  int    // pages of HTML without links
	Unreached int    // visits that ended without a connection
	Broken    int    // visits that ended in 5xx, if all did
	Away      string // the same as text, with the reason

	Cover        Cover
	Budget       string // the key that limited the host, "max-domain-requests = 500"; empty: none did
	Limit        int    // requests for pages that a run may send to the host
	LimitKey     string // the key and value that set Limit
	NotRecorded  int    // of KnownMissing: found, and beyond the limits for new URLs, so not pages of the map
	SiteOverflow int    // links to further hosts of its site, which were not recorded
}

// Unlinked reports whether the processed pages of a host have no links, so that scripts probably
// build them. For a host of no origin, a single page is not enough evidence.
func (r *HostReport) Unlinked() bool {
	return r.HTML > 0 && r.Linkless == r.HTML && (r.Class == schema.ClassQuality || r.HTML > 1)
}

// OnlyHTTP reports whether a host was seen only as http:// and was not reached over HTTPS.
func (r *HostReport) OnlyHTTP() bool {
	away := r.Unreached > 0 || r.Cover == CoverGivenUp && r.Host.RunGivenUp == schema.GaveUpConnection
	return r.Known > 0 && r.Processed == 0 && !r.Host.HTTPS && away
}

// coverage derives how well each host is covered.
type coverage struct {
	core    *core
	stands  *stands
	hosts   *hosts
	tallies *tallies
	walls   *walls

	left     int // see [tallies.leftBefore]
	cut      []CutSite
	overflow map[string]int // links omitted, by site; nil: not read yet
	met      *bitset        // hosts with a URL in the map; nil: not read yet, see mapped
}

// each calls f for every host of the map by id. A report is valid while f runs. An error
// of f ends it.
func (cv *coverage) each(f func(*HostReport) error) error {
	return cv.core.view(func(tx *kv.Tx) error {
		if err := cv.warm(tx); err != nil {
			return err
		}
		return cv.untitled(func(r *HostReport) (err error) {
			if r.Title, err = cv.titleOf(r.Host.Name); err != nil {
				return err
			}
			return f(r)
		})
	})
}

// untitled is each without titles.
func (cv *coverage) untitled(f func(*HostReport) error) error {
	t, err := cv.tallies.tallied()
	if err != nil {
		return err
	}
	return cv.core.view(func(tx *kv.Tx) error {
		maps, err := cv.mapped(tx)
		if err != nil {
			return err
		}
		return tx.Hosts.Each(1, func(r *schema.Host) (bool, error) {
			if !maps(r) {
				return true, nil
			}
			report, err := cv.report(tx, cv.core.known(r), &t.hosts[r.ID])
			if err == nil {
				err = f(report)
			}
			return err == nil, err
		})
	})
}

// mapped returns a function that reports whether the map has a host: it has a page or a sitemap of it, or the crawl has
// requested something from it. Every host belongs to the map of the latest run of a file without archives.
func (cv *coverage) mapped(tx *kv.Tx) (func(*schema.Host) bool, error) {
	c := cv.core
	if c.ever || len(c.store.Imports()) == 0 && c.past == nil {
		return func(*schema.Host) bool { return true }, nil
	}
	if cv.met == nil {
		met := newBitset(c.store.Hosts())
		for id := schema.ID(1); int(id) <= c.urls(); id++ {
			host := int(c.store.HostOf(id))
			if met.has(host) || !c.isPage(id) && c.imports() { // archives name no sitemaps
				continue
			}
			unmet, err := cv.tallies.pages.sights.unmet(tx, id)
			if err != nil {
				return nil, err
			}
			if !unmet {
				met.set(host)
			}
		}
		cv.met = met
	}
	return func(h *schema.Host) bool {
		return cv.met.has(int(h.ID)) || h.Requests > 0 && c.past == nil && !c.imports()
	}, nil
}

// of returns the report on a host.
func (cv *coverage) of(id schema.HostID) (*HostReport, error) {
	t, err := cv.tallies.ofHost(id)
	if err != nil {
		return nil, err
	}
	var report *HostReport
	err = cv.core.view(func(tx *kv.Tx) error {
		r, err := tx.Hosts.At(id)
		if err == nil {
			report, err = cv.report(tx, cv.core.known(r), t)
		}
		if err == nil {
			report.Title, err = cv.titleOf(r.Name)
		}
		return err
	})
	return report, err
}

// report returns the report on a host, without its title.
func (cv *coverage) report(tx *kv.Tx, r *schema.Host, t *hostTally) (*HostReport, error) {
	h, err := cv.hosts.host(tx, r.ID)
	if err != nil {
		return nil, err
	}
	if cv.left, err = cv.tallies.leftBefore(); err != nil {
		return nil, err
	}
	report := &HostReport{
		Host: r, Class: h.verdict.Class, Rule: h.verdict.Rule, Site: h.site, Entity: h.entity, Origins: h.origins,
		Noted: cv.core.notes.Of(r.Name),
		HostFigures: HostFigures{
			Known: int(t.known), Visited: int(t.visited), Waiting: int(t.waits + t.byState[schema.RequestLimitHit]),
			Visits: r.Visits, Requests: r.Requests, DelayMS: cv.core.cfg.FullDelay(r).Milliseconds(),
			KnownMissing: cv.overflowOf(r),
		},
		HostDetails: HostDetails{LinksOmitted: int(t.omitted), HTML: int(t.html), Shells: int(t.shells),
			TimedOut: int(t.timedOut), TriedOnce: int(t.triedOnce), Preferences: preference.Written(r.Preferences)},
		FromDepth: t.from, ToDepth: t.to, Processed: int(t.processed),
		Linkless: int(t.linkless), Unreached: int(t.unreached), Broken: int(t.brokenAll()),
	}
	if t.nearest != kv.NoDepth {
		depth := int(t.nearest)
		report.MinDepth = &depth
	}
	for i, n := range t.byState {
		report.ByState[i] = int(n)
	}
	if err := cv.answers(tx, report, t); err != nil {
		return nil, err
	}
	report.NotRecorded, report.Away = report.KnownMissing, t.unreachable()
	if h.verdict.Class.Visitable() {
		report.KnownMissing += int(t.missing + t.denied + t.blocked + t.unpaid + t.walled + t.unreached + t.unanswered +
			t.brokenAll())
	}
	if _, err := cv.cutSites(tx); err != nil {
		return nil, err
	}
	report.SiteOverflow = cv.overflow[h.site]
	report.Limit, report.LimitKey = cv.core.cfg.Budget(r.Name), cv.core.cfg.BudgetKey(r.Name)
	lacks := cv.lacks(h, r, t)
	report.Cover, report.Coverage = cover(lacks, t)
	if report.Cover == CoverComplete {
		cv.qualify(report, t)
	}
	if report.Cover == CoverBudget {
		report.Budget = cmp.Or(h.budget, cv.core.maxPages())
		used, err := cv.usedBy(tx, r, &t.others)
		if err != nil {
			return nil, err
		}
		report.Coverage += used
	}
	if r.RobotsHTML {
		report.Coverage += "; robots.txt is a web page"
	}
	return report, nil
}

// answers adds what a host answers instead of pages.
func (cv *coverage) answers(tx *kv.Tx, report *HostReport, t *hostTally) error {
	if report.Visited == 0 {
		report.Wall = report.Host.RobotsWall
		return nil
	}
	ps := cv.tallies.pages
	asked, err := ps.missing.of(tx, report.Host.ID)
	if err != nil {
		return err
	}
	if asked != nil {
		report.MissingPages = asked.manner.String()
		for id := range asked.rules {
			if ps.core.visited(id) {
				report.SoftPages++
			}
		}
	}
	offered, err := ps.parked.of(tx, report.Host.ID)
	if err != nil {
		return err
	}
	report.Parked = offered.rule
	for _, n := range t.walls {
		report.WalledPages += int(n)
	}
	if report.Wall, err = cv.walls.of(tx, report.Host.ID, t); report.Wall == "" {
		report.Wall = report.Host.RobotsWall
	}
	if report.Wall == WallSuspected && report.Parked != "" { // an offer of the domain explains it
		report.Wall = ""
	}
	return err
}

// qualify adds what a complete host still lacks.
func (cv *coverage) qualify(report *HostReport, t *hostTally) {
	if t.byState[schema.DepthExceeded] > 0 {
		report.Cover = CoverToDepth
		report.Coverage = fmt.Sprintf("complete to depth %d", cv.core.cfg.Crawler.MaxDepth)
	}
	if t.ruled == 0 {
		return
	}
	if report.Cover == CoverComplete {
		report.Cover = CoverByRule
	}
	report.Coverage += ", without " + amount.Of(int(t.ruled), "page", "pages") + " that rules leave out"
}

// warm prepares the look-ups of all front pages.
func (cv *coverage) warm(tx *kv.Tx) error {
	var fronts []string
	err := tx.Hosts.Each(1, func(r *schema.Host) (bool, error) {
		fronts = append(fronts, front(r.Name))
		return true, nil
	})
	return errors.Join(err, cv.core.warm(fronts))
}

// front returns the identity of a host's front page.
func front(host string) string { return "https://" + host + "/" }

// titleOf returns the title of a host's front page.
func (cv *coverage) titleOf(host string) (string, error) {
	id, ok, err := cv.core.lookup(front(host))
	if err != nil || !ok || cv.core.latest(id) == 0 {
		return "", err
	}
	v, err := cv.stands.visit(cv.core.tx, cv.core.latest(id))
	if err != nil {
		return "", err
	}
	return v.Title, nil
}
