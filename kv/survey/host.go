package survey

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A host is what a host means for its pages.
type host struct {
	name     string
	site     string
	entity   string // of all its pages; empty: it depends on their paths
	verdict  scope.Verdict
	origins  []int         // the origins that the host belongs to
	admitted bool          // counts for max-subdomains in the newest run
	vouched  bool          // named by its own site, or an origin, in the newest run
	slow     string        // why a Crawl-delay leaves only seeds to be visited; empty: it does not
	held     schema.State  // state of the pages that nothing else keeps from being visited
	why      string        // why held is not Queued; empty: it is
	cause    schema.Reason // the error behind why; zero: none
	budget   string        // the key and its value, if the budget is used up
	spent    bool          // the newest run has no visit left for its pages, or met only walls: earlier results apply
	retries  []schema.Retry
	away     schema.Cause // see [schema.Host.OutOfReach], of the newest run
	heads    schema.Heads
	others   bool                 // the newest run ended the requests to URLs that only other hosts name, because of walls
	mazes    schema.Mazes         // empty: none is left out
	probe    *schema.MissingProbe // nil: it was not asked for a page that does not exist
}

// hosts derives and caches what each host means for its pages.
type hosts struct {
	core *core
	byID []*host // nil: not derived yet
}

func (hs *hosts) host(tx *kv.Tx, id schema.HostID) (*host, error) {
	if int(id) < len(hs.byID) && hs.byID[id] != nil {
		return hs.byID[id], nil
	}
	record, err := tx.Hosts.At(id)
	if err != nil {
		return nil, err
	}
	hs.byID[id] = hs.newHost(hs.core.known(record))
	return hs.byID[id], nil
}

func (hs *hosts) newHost(r *schema.Host) *host {
	h := &host{
		name: r.Name, site: weburl.Site(r.Name), held: schema.Queued, heads: r.Heads,
		verdict: hs.core.scope.HostClass(r.Name), origins: hs.core.scope.OriginsOf(r.Name),
	}
	if r.Missing.Run != 0 {
		probe := r.Missing
		h.probe = &probe
	}
	if entity, ok := hs.core.scope.EntityOfHost(r.Name); ok {
		h.entity = entity
	}
	if hs.core.cfg.Traps.Maze {
		h.mazes = r.Mazes
	}
	limit := hs.core.cfg.Politeness.MaxCrawlDelay
	if r.CrawlDelay > limit && (r.Run != hs.core.run.ID || r.RunGivenUp != schema.GaveUpCrawlDelay) {
		h.slow = fmt.Sprintf("%s > max-crawl-delay = %s", r.CrawlDelay, limit)
	}
	if r.Run == hs.core.run.ID {
		h.admitted, h.vouched, h.retries, h.away = r.Admitted, r.Vouched, r.Retries, r.OutOfReach(hs.core.run.ID)
		h.others = r.RunOthersEnded
		hs.hold(h, r)
	}
	if hs.core.past != nil {
		h.held, h.why = schema.Discovered, fmt.Sprintf("not visited by run %d; why is not known any more", hs.core.run.ID)
	}
	if hs.core.imports() {
		h.held, h.why = schema.Discovered, "not in the archives"
	}
	shown := r.Run != hs.core.run.ID || r.RunGivenUp != schema.GaveUpWall // walls say nothing of pages
	h.spent = h.budget != "" || !shown ||
		hs.core.maxPages() != "" && (r.Run != hs.core.run.ID || r.RunGivenUp == schema.NotGivenUp)
	if h.held == schema.Queued && r.Throttles > 0 {
		h.held, h.why = schema.RateLimited, "suspended"
		if !r.SuspendedTo.IsZero() {
			h.why += " until " + r.RestsUntil(time.Now()).UTC().Format(time.RFC3339)
		}
	}
	return h
}

// hold sets why the newest run requests nothing more from a host.
func (hs *hosts) hold(h *host, r *schema.Host) {
	if hs.core.cfg.UsedUp(r, 0) {
		h.budget = hs.core.cfg.BudgetKey(r.Name)
		h.held, h.why = schema.RequestLimitHit, h.budget
		return
	}
	switch r.RunGivenUp {
	case schema.GaveUpConnection:
		h.held = schema.Unreachable
	case schema.GaveUpRateLimit, schema.GaveUpCrawlDelay:
		h.held = schema.RateLimited
	case schema.GaveUpRobots, schema.GaveUpWall, schema.GaveUpPayment:
		h.held = schema.Failed
	default:
		return
	}
	h.why, h.cause = r.RunGivenUpWhy.String(), r.RunGivenUpWhy
}
