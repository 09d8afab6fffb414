package survey

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// judge derives the state of a page, and what the server answered instead of it.
func (ps *pages) judge(tx *kv.Tx, h *host, pathQuery string, p *Page) error {
	return errors.Join(ps.judgeState(tx, h, pathQuery, p), ps.answer(tx, p))
}

// judgeState derives the state of a page: gone, class, visited, depth, rule, host.
func (ps *pages) judgeState(tx *kv.Tx, h *host, pathQuery string, p *Page) error {
	if err := ps.redirects.followRedirects(tx, p); err != nil {
		return err
	}
	switch {
	case p.Gone:
		p.State, p.Error = schema.Discovered, fmt.Sprintf("not met in run #%d", ps.core.since())
		return nil
	case p.Class == schema.ClassBlacklisted:
		p.State = schema.Blacklisted
		return nil
	case p.Class == schema.ClassStub:
		p.State = schema.Stubbed
		return nil
	case ps.core.store.Foreign(p.Host):
		p.State = schema.Foreign
		return nil
	case p.Visited:
		again, err := ps.reopened(tx, h, p.Visit)
		if err != nil || !again {
			ps.applyVisit(p)
			return err
		}
		return ps.judgeReopened(tx, h, pathQuery, p)
	}
	return ps.judgeUnvisited(tx, h, pathQuery, p)
}

// applyVisit gives a page the state of its last visit.
func (ps *pages) applyVisit(p *Page) {
	v := p.Visit
	p.State, p.Error, p.cause, p.fromVisit = v.State, v.Reason.String(), v.Reason, true
	p.Rule = cmp.Or(v.Rule, p.Rule)
	if why := p.misled(); why != schema.CauseNone {
		p.State, p.cause = schema.Failed, schema.Reason{Cause: why}
		p.Error = p.cause.String()
	}
}

// misled returns why the redirects that were followed from a page lead nowhere; none: they lead
// somewhere.
func (p *Page) misled() schema.Cause {
	switch {
	case p.loops:
		return schema.CauseRedirectLoop
	case p.RedirectCount > schema.MaxRedirects:
		return schema.CauseRedirects
	}
	return schema.CauseNone
}

// reopened reports whether a visited page waits again, for a form that was unknown when it was
// visited, or because of an answer to HEAD that is no longer believed.
func (ps *pages) reopened(tx *kv.Tx, h *host, v *schema.Visit) (bool, error) {
	if ps.core.past != nil {
		return false, nil
	}
	if v.Doubted(h.heads) {
		return true, nil
	}
	if !Unanswered(v) && v.Form == "" && ps.core.store.MayReopen(v, false) { // a sketch has no form
		var err error
		if v, err = tx.Visits.At(v.Seq); err != nil {
			return false, err
		}
	}
	return tx.URLs.Reopens(v, Unanswered(v))
}

// Unanswered reports whether another form of a visited page may answer better: the visit made a
// request and got neither a 2xx nor a redirect to another page; or robots.txt forbids all known
// forms, or the form that they lead to.
func Unanswered(v *schema.Visit) bool {
	if v.Reason.Cause == schema.CauseDenied {
		return true
	}
	return (v.Requests > 0 || v.Kept) && (v.State == schema.DeadLink || v.State == schema.Unreachable ||
		v.State == schema.Failed && v.Status/100 != 2)
}

// judgeReopened queues a page that has an answer, if nothing else keeps it from being requested
// again; otherwise the answer counts.
func (ps *pages) judgeReopened(tx *kv.Tx, h *host, pathQuery string, p *Page) error {
	rule := p.Rule
	if err := ps.judgeUnvisited(tx, h, pathQuery, p); err != nil || p.State == schema.Queued {
		return err
	}
	p.Rule, p.capped = rule, obstacle{}
	ps.applyVisit(p)
	return nil
}

// judgeUnvisited derives the state of a page that the run has not visited.
func (ps *pages) judgeUnvisited(tx *kv.Tx, h *host, pathQuery string, p *Page) error {
	switch {
	case !p.InRun && p.Visit != nil && ps.core.speaks(p.ID):
		ps.applyVisit(p)
		return nil
	case !p.InRun && !p.Left && (p.Depth == kv.NoDepth || int(p.Depth) <= ps.core.cfg.Crawler.MaxDepth):
		p.State = schema.Discovered
		return ps.explainNoDepth(tx, p)
	case int(p.Depth) > ps.core.cfg.Crawler.MaxDepth && !p.Left:
		p.State = schema.DepthExceeded
		p.Error = ps.core.tooDeep
		return nil
	}
	rule, err := ps.refusing(h, pathQuery, p)
	full := obstacle{}
	if err == nil && rule == "" && !(p.Visited && p.Visit.Requests > 0) { // otherwise it already has a place in its groups
		full, err = ps.fullCap(tx, h, pathQuery, p)
	}
	switch {
	case err != nil:
		return err
	case rule == "" && p.Visit != nil && !p.Visit.Archived && (full.by != unhindered || h.spent):
		// the results of an earlier run still apply
		ps.applyVisit(p)
		return nil
	case rule != "" || full.by != unhindered:
		p.State, p.capped = schema.Discovered, cmp.Or(p.capped, full)
		p.Rule = cmp.Or(rule, full.String())
		p.Error = p.Rule
		return nil
	}
	p.State, p.Error, p.cause, p.Lost = h.held, h.why, h.cause, ps.core.past != nil || ps.core.imports()
	if p.State == schema.Queued {
		for _, r := range h.retries {
			if r.URL == p.ID {
				p.Retries, p.Error = r.Attempts, r.Reason.String()
			}
		}
	}
	return nil
}

// An obstacle is a limit that keeps pages within reach from being visited, so that
// the map lacks them.
type obstacle struct {
	by   hindrance
	text string // the key and its value
}

// A hindrance is a kind of obstacle.
type hindrance uint8

const (
	unhindered hindrance = iota
	hinderedByCap
	hinderedByTrap
	hinderedByMaze
	hinderedByDelay // a Crawl-delay leaves only seeds to be visited
	hinderedByWalls // the pages that only other hosts name are walled
)

func obstacleOf(r scope.Rule) obstacle {
	if r.Trap {
		return obstacle{hinderedByTrap, r.Text}
	}
	return obstacle{hinderedByCap, r.Text}
}

// String returns the rule by which pages are refused.
func (o obstacle) String() string {
	switch o.by {
	case hinderedByTrap:
		return scope.Rule{Trap: true, Text: o.text}.String()
	case hinderedByMaze:
		return schema.Reason{Cause: schema.CauseMaze, Detail: o.text}.String()
	case hinderedByDelay:
		return schema.Reason{Cause: schema.CauseCrawlDelay, Detail: o.text}.String()
	}
	return o.text
}

// refusing returns the rule, other than a cap, that keeps a page within reach from being visited.
// It marks the page if that is a trap or a Crawl-delay.
func (ps *pages) refusing(h *host, pathQuery string, p *Page) (string, error) {
	if rule, refused := ps.core.scope.Refuse(h.name, pathQuery); refused {
		if rule.Trap {
			p.capped = obstacleOf(rule)
		}
		return rule.String(), nil
	}
	if p.Hops > schema.MaxRedirects && !p.Left {
		return schema.Reason{Cause: schema.CauseRedirects}.String(), nil
	}
	if h.slow != "" && !p.Seed {
		p.capped = obstacle{hinderedByDelay, h.slow}
		return p.capped.String(), nil
	}
	if ps.core.cfg.Crawler.Sitemaps == config.SitemapsOnly && !p.Seed {
		if err := ps.readListed(); err != nil {
			return "", err
		}
		if !ps.listed.has(int(p.ID)) {
			return `sitemaps = "only"`, nil
		}
	}
	return "", nil
}

// readListed reads the pages for which the sitemaps of the run, including those of other shards,
// count.
func (ps *pages) readListed() error {
	if ps.listed != nil {
		return nil
	}
	listed := newBitset(ps.core.urls())
	err := ps.core.eachListed(func(sitemap schema.ID) bool {
		return ps.core.visited(sitemap) && ps.core.ofRun(sitemap)
	}, func(page schema.ID, _ bool) {
		if ps.core.isPage(page) {
			listed.set(int(page))
		}
	})
	if err == nil {
		err = ps.core.eachTold(func(id schema.ID, told schema.Inbound) {
			if told.Listed {
				listed.set(int(id))
			}
		})
	}
	if err == nil {
		ps.listed = listed
	}
	return err
}

// cachedLinks are the links of the visit that was last read to explain a page without depth. Pages
// that were found together have one referrer.
type cachedLinks struct {
	page  schema.ID
	visit *schema.Visit
}

// explainNoDepth says why a known page does not belong to the run.
func (ps *pages) explainNoDepth(tx *kv.Tx, p *Page) error {
	p.Error = ps.core.notReached
	if p.Referrer == 0 || !ps.core.visited(p.Referrer) {
		return nil
	}
	if ps.ref.page != p.Referrer {
		v, err := ps.stands.visit(tx, ps.core.latest(p.Referrer))
		if err != nil {
			return err
		}
		ps.ref = cachedLinks{p.Referrer, v}
	}
	if link, ok := linkTo(ps.ref.visit.Links, p.ID); ok && link.Kinds == schema.OnlyFeed {
		p.Error = "a feed, not a page"
	} else if ok {
		if rule := refusal(ps.core.cfg.Crawler, link, ps.ref.visit.NoFollow); rule != "" {
			p.Rule, p.Error = rule, rule
		}
	}
	return nil
}
