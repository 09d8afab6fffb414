package survey

import (
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A host is what a host means for its pages.
type host struct {
	name     string
	site     string
	verdict  terrain.Verdict
	origins  []int        // the host belongs to them
	admitted bool         // counts for max-subdomains in the newest run
	slow     string       // why a Crawl-delay leaves only seeds to be visited; empty: it does not
	held     schema.State // of the pages that nothing else keeps from being visited
	why      string       // held is not Queued
	budget   string       // the key and its value, once the budget is used up
	spent    bool         // the newest run has no visit left for its pages
	retries  []schema.Retry
}

func (s *Survey) host(tx *kv.Tx, id schema.HostID) (*host, error) {
	if int(id) < len(s.hosts) && s.hosts[id] != nil {
		return s.hosts[id], nil
	}
	record, err := tx.Host(id)
	if err != nil {
		return nil, err
	}
	s.hosts[id] = s.newHost(s.known(record))
	return s.hosts[id], nil
}

func (s *Survey) newHost(r *schema.Host) *host {
	h := &host{
		name: r.Name, site: weburl.Site(r.Name), verdict: s.terrain.HostClass(r.Name), origins: s.terrain.OriginsOf(r.Name),
		held: schema.Queued,
	}
	limit := s.cfg.Politeness.MaxCrawlDelay
	if r.CrawlDelay > limit {
		h.slow = fmt.Sprintf("%s > max-crawl-delay = %s", r.CrawlDelay, limit)
	}
	if r.Run == s.run.ID {
		h.admitted, h.retries = r.Admitted, r.Retries
		s.hold(h, r)
	}
	if s.past != nil {
		h.held, h.why = schema.Discovered, fmt.Sprintf("not visited by run %d; why is not known any more", s.run.ID)
	}
	h.spent = h.budget != "" || s.maxPages() != "" && (r.Run != s.run.ID || r.RunGivenUp == schema.NotGivenUp)
	if h.held == schema.Queued && r.Throttles > 0 {
		h.held, h.why = schema.RateLimited, "suspended"
		if !r.SuspendedTo.IsZero() {
			h.why += " until " + r.SuspendedTo.UTC().Format(time.RFC3339)
		}
	}
	return h
}

// hold says what keeps the newest run from asking a host any further.
func (s *Survey) hold(h *host, r *schema.Host) {
	if limit := s.terrain.Budget(r.Name, s.cfg.Crawler.MaxDomainRequests); r.RunRequests >= limit {
		h.budget = s.budgetKey(r.Name, limit)
		h.held, h.why = schema.RequestLimitHit, h.budget
		return
	}
	switch r.RunGivenUp {
	case schema.GaveUpConnection:
		h.held = schema.Unreachable
	case schema.GaveUpRateLimit:
		h.held = schema.RateLimited
	case schema.GaveUpRobots:
		h.held = schema.Failed
	default:
		return
	}
	h.why = r.RunGivenUpWhy
}

// budgetKey names the key that a host's budget comes from, and its value.
func (s *Survey) budgetKey(name string, limit int) string {
	if s.terrain.Budget(name, -1) != -1 {
		return fmt.Sprintf("max-requests = %d", limit)
	}
	return fmt.Sprintf("max-domain-requests = %d", limit)
}

// FullDelay returns the time that passes at least between two requests to a host
// (SPEC 7), what its answers add to it left out.
func (s *Survey) FullDelay(h *schema.Host) time.Duration {
	return max(s.cfg.Crawler.MinimumTimeOnPage, h.CrawlDelay)
}

// Robots returns the copy of a host's robots.txt; it is zero where there is none.
func (s *Survey) Robots(id schema.HostID) (schema.RobotsCopy, error) {
	var c schema.RobotsCopy
	err := s.view(func(tx *kv.Tx) (err error) {
		c, _, err = tx.Robots(id)
		return err
	})
	return c, err
}
