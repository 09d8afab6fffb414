package census

import (
	"cmp"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// MaxOrigins is the most origins that are reported.
const MaxOrigins = 1000

// An Origin is the progress of a run with an origin: the sums over its hosts.
type Origin struct {
	Origin  string  `json:"quality_origin"`
	Hosts   int     `json:"hosts"`           // with pages
	Pages   int     `json:"pages_requested"` // visits of the run that made a request
	ToVisit int     `json:"pages_to_visit"`  // in this run
	Used    int     `json:"request_count"`   // of the budgets of its hosts
	Limit   int     `json:"request_limit"`
	ETA     float64 `json:"eta_seconds"` // of the slowest host; 0: not in this run
}

// addOrigins counts a host with the given remaining pages and seconds in each of its origins.
func (c *count) addOrigins(p Pace, h *schema.Host, pages, seconds float64) {
	lists := p.cfg.Scope()
	if c.origins == nil {
		c.origins = make([]Origin, len(lists.Origins()))
		for i, named := range lists.Origins() {
			c.origins[i].Origin = named.Name
		}
	}
	if h.Known <= h.Files {
		return
	}
	for _, i := range lists.OriginsOf(h.Name) {
		o := &c.origins[i]
		o.Hosts++
		o.Limit += p.cfg.Budget(h.Name)
		if h.Run == p.run {
			o.Pages += h.RunVisited
			o.Used += h.RunRequests
		}
		o.ToVisit += int(pages)
		o.ETA = max(o.ETA, seconds)
	}
}

// foremost returns the origins that take longest, at most [MaxOrigins].
func (c *count) foremost() []Origin {
	all := slices.Clone(c.origins)
	slices.SortStableFunc(all, func(a, b Origin) int { return cmp.Compare(b.ETA, a.ETA) })
	return all[:min(len(all), MaxOrigins)]
}

// within limits the times of origins to the remaining time.
func (l *Left) within(all []Origin) []Origin {
	cut := append([]Origin{}, all...)
	for i := range cut {
		cut[i].ETA = l.Within(cut[i].ETA)
	}
	return cut
}

// OriginsOf returns the progress of a run by origin, slowest first and at most [MaxOrigins], for a file that
// no process is crawling.
func OriginsOf(store *kv.Store, cfg *config.Config, run *schema.Run) ([]Origin, error) {
	c, p, err := countOf(store, cfg, run)
	if err != nil {
		return nil, err
	}
	l := c.leftBy(p)
	return l.within(c.foremost()), nil
}
