// Package census tells what a crawl still has to do: how many pages wait, at which
// depth, at which hosts, how long these will take, and why nothing is being asked
// at this moment. It is the one definition of a crawl's status and of the time that
// is left, of a live crawl and of a file.
//
// Times are what is known to be left: pages that nobody has found yet are not in
// them.
package census

import (
	"cmp"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const slowestHosts = 3 // that an ETA names

// A HostETA says how long a host will take with what waits.
type HostETA struct {
	Domain  string  `json:"domain"`
	Waiting int     `json:"pages_waiting"`
	Seconds float64 `json:"eta_seconds"`
}

// A Pace is how fast a run can be under its configuration.
type Pace struct {
	cfg     *config.Config
	run     schema.RunID
	perPage float64 // requests
}

// NewPace returns the pace of a run, by what its pages have cost until now.
func NewPace(cfg *config.Config, run *schema.Run) Pace {
	p := Pace{cfg: cfg, run: run.ID, perPage: 1}
	if run.Pages > 0 {
		p.perPage = max(1, float64(run.Requests)/float64(run.Pages))
	}
	return p
}

// Of returns how many of a host's waiting pages the run can still visit, and how
// many seconds that takes: none of a host that was given up, or has no budget left.
func (p Pace) Of(h *schema.Host, waiting int) (pages, seconds float64) {
	budget := float64(p.cfg.Terrain().Budget(h.Name, p.cfg.Crawler.MaxDomainRequests))
	if h.Run == p.run {
		if h.RunGivenUp != schema.NotGivenUp {
			return 0, 0
		}
		budget -= float64(h.RunRequests)
	}
	if waiting == 0 || budget <= 0 {
		return 0, 0
	}
	pages = min(float64(waiting), budget/p.perPage)
	gap := max(p.cfg.FullDelay(h), h.Smoothed)
	return pages, pages*p.perPage*gap.Seconds() + Suspended(h).Seconds()
}

// Suspended returns how long a host still wants to be left alone.
func Suspended(h *schema.Host) time.Duration {
	if h.Throttles == 0 {
		return 0
	}
	return max(0, time.Until(h.SuspendedTo))
}

// A count is what the hosts of a run still have to do.
type count struct {
	waiting, suspended, givenUp int
	depth                       int // smallest; -1: none
	slowest                     []HostETA
	work                        float64 // pages that will be visited
}

// add counts a host of a map that began with a generation.
func (c *count) add(p Pace, generation uint32, h *schema.Host) {
	if h.Run == p.run && h.RunGivenUp != schema.NotGivenUp {
		c.givenUp++
		return
	}
	waiting := 0
	if h.Generation == generation {
		waiting = h.Waiting
	}
	if h.Run == p.run {
		waiting += len(h.Retries)
	}
	pages, seconds := p.Of(h, waiting)
	if pages == 0 {
		return
	}
	c.waiting += waiting
	c.work += pages
	if h.Generation == generation {
		c.nearest(h.Queues)
	}
	if Suspended(h) > 0 {
		c.suspended++
	}
	c.rank(HostETA{h.Name, waiting, seconds})
}

// nearest notes the smallest depth that pages of a host wait at.
func (c *count) nearest(queues []schema.Queue) {
	for i := range queues {
		if d, page := schema.PriorityDepth(queues[i].Priority); page && (c.depth < 0 || int(d) < c.depth) {
			c.depth = int(d)
		}
	}
}

// rank keeps the hosts that will take longest.
func (c *count) rank(e HostETA) {
	if len(c.slowest) == slowestHosts && c.slowest[slowestHosts-1].Seconds >= e.Seconds {
		return
	}
	c.slowest = append(c.slowest, e)
	slices.SortStableFunc(c.slowest, func(a, b HostETA) int { return cmp.Compare(b.Seconds, a.Seconds) })
	c.slowest = c.slowest[:min(len(c.slowest), slowestHosts)]
}
