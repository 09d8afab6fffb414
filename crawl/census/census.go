// Package census reports what a crawl still has to do: how many pages wait, at which depth, at which hosts,
// how long these will take, and why nothing is being requested at the moment. It is the one definition of a
// crawl's status and of its remaining time, for a live crawl and for a file.
//
// Times cover the pages known so far, not pages still to be discovered.
package census

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const (
	slowestHosts = 3 // that an ETA names
	maxTroubles  = 3 // that are reported
)

// A HostETA says how long a host will take for its remaining pages.
type HostETA struct {
	Domain  string  `json:"domain"`
	ToVisit int     `json:"pages_to_visit"`
	Seconds float64 `json:"eta_seconds"`
	Shown   string  `json:"domain_shown,omitempty"` // display form, if it differs from the domain
}

// A Trouble is a host with pages to visit that the crawl waits for, and why; or a host with a seed that is no
// longer requested.
type Trouble struct {
	Domain string  `json:"domain"`
	Shown  string  `json:"domain_shown,omitempty"` // display form, if it differs from the domain
	Why    string  `json:"why"`                    // what has failed; empty: nothing yet
	Robots bool    `json:"robots"`                 // the open request is for its robots.txt
	Again  float64 `json:"again_seconds"`          // until the next request to it; 0: now
	Silent float64 `json:"silent_seconds"`         // since the request that has no answer yet; 0: there is none
	Held   float64 `json:"held_seconds"`           // since it failed, if the network may be at fault; 0: it has not
	Over   bool    `json:"given_up"`               // it is not requested again in this run
}

// A Pace estimates how fast a run can be under its configuration.
type Pace struct {
	cfg       *config.Config
	run       schema.RunID
	allowance float64        // pages left until max-pages; 0 for a completed run
	seeds     map[string]int // per host
	find      Finder
}

// A Finder returns the record of a host; nil: there is none.
type Finder func(name string) *schema.Host

// NewPace returns the pace of a run. find returns its hosts.
func NewPace(cfg *config.Config, run *schema.Run, find Finder) Pace {
	p := Pace{cfg: cfg, seeds: map[string]int{}, find: find}
	for _, q := range cfg.Quality {
		for _, seed := range q.Seeds {
			if u, err := cfg.Rules().Parse(seed); err == nil {
				p.seeds[weburl.Host(u.Norm)]++
			}
		}
	}
	return p.at(run)
}

// at returns the pace for a later state of the run.
func (p Pace) at(run *schema.Run) Pace {
	p.run, p.allowance = run.ID, math.Inf(1)
	switch most := p.cfg.Crawler.MaxPages; {
	case run.Status == schema.RunCompleted:
		p.allowance = 0
	case most > 0:
		p.allowance = float64(max(0, most-run.Pages))
	}
	return p
}

// Of returns how many of a host's waiting pages the run will visit, as currently known, and how many seconds
// that takes. Both are 0 for a host that was given up or has used its budget. A host that does not answer
// takes as long as its remaining tries.
func (p Pace) Of(h *schema.Host, waiting int) (pages, seconds float64) {
	budget, perPage := float64(p.cfg.Budget(h.Name)), p.perPage(h)
	if h.Run == p.run {
		if h.RunGivenUp != schema.NotGivenUp {
			return 0, 0
		}
		budget -= float64(h.RunRequests)
	}
	pages = min(float64(waiting), math.Ceil(budget/perPage), p.allowance)
	if h.CrawlDelay > p.cfg.Politeness.MaxCrawlDelay { // only seeds are visited
		seeds := p.seeds[h.Name]
		if h.Run == p.run {
			seeds -= h.RunVisited
		}
		pages = min(pages, float64(seeds))
	}
	if pages <= 0 {
		return 0, 0
	}
	gap := clock.Rest(p.cfg, h)
	if p.cfg.Politeness.MaxParallelPerDomain == 1 { // otherwise requests overlap with responses
		gap += h.Smoothed
	}
	seconds = pages*perPage*gap.Seconds() + Suspended(h).Seconds()
	if t := p.trouble(h); t.Kind == schema.TroubleRobots {
		retry := p.cfg.Retry
		tries := time.Duration(max(1, retry.MaxRetries+1-t.Times))
		seconds = (max(0, time.Until(t.Until)) + tries*retry.Timeout + (tries-1)*retry.Delay).Seconds()
	}
	return pages, seconds
}

// perPage returns how many requests a page of a host costs, as measured in this run. Failures at other hosts
// are not evidence for it.
func (p Pace) perPage(h *schema.Host) float64 {
	if h.Run == p.run && h.RunVisited > 0 {
		return max(1, float64(h.RunRequests)/float64(h.RunVisited))
	}
	if p.cfg.Crawler.HeadCheck == config.HeadAlways {
		return 2
	}
	return 1
}

// trouble returns the trouble that a run has with a host. An unreachable robots.txt is not trouble
// while the run continues without it. A suspension ends when the crawl considers it over.
func (p Pace) trouble(h *schema.Host) schema.Trouble {
	t := h.Trouble(p.run)
	if t.Kind == schema.TroubleRest {
		t.Until = h.RestsUntil(time.Now())
	}
	if t.Kind != schema.TroubleRobots {
		return t
	}
	if now := time.Now(); !clock.CopyStands(p.cfg, h, now) && !clock.AllAllowed(p.cfg, h, now) {
		return t
	}
	without := *h
	without.RobotsTries, without.RobotsFrom = 0, ""
	return without.Trouble(p.run)
}

// Trouble returns the trouble that a run has with a host, and when the host is next requested, which is never
// before its delay has passed. If its robots.txt redirects to another host, that one may have trouble and a delay
// of its own.
func (p Pace) Trouble(h *schema.Host) schema.Trouble {
	t := p.trouble(h)
	if t.Kind <= schema.TroubleGivenUp {
		return t
	}
	until := []time.Time{h.LastByte.Add(p.cfg.FullDelay(h))}
	if t.From != "" {
		if other := p.find(t.From); other != nil {
			of := p.trouble(other)
			t.Why.Detail = of.String()
			until = append(until, of.Until, clock.Ready(p.cfg, other))
		}
	}
	for _, at := range until {
		if at.After(t.Until) {
			t.Until = at
		}
	}
	return t
}

// Suspended returns the remaining time of a host's suspension.
func Suspended(h *schema.Host) time.Duration {
	if h.Throttles == 0 {
		return 0
	}
	return max(0, time.Until(h.RestsUntil(time.Now())))
}

// A count sums up what the hosts of a run still have to do.
type count struct {
	waiting, suspended, givenUp int
	hosts                       int // with pages that will be visited
	depth                       int // smallest depth of the pages to visit; -1: none
	slowest                     []HostETA
	work                        float64 // pages that will be visited
	troubles                    []ranked
	troubled                    int // number of hosts with trouble
	groups                      []Group
	origins                     []Origin             // in the order of the configuration
	unasked                     map[string]int       // pages that count as errors without a visit, by kind
	lost                        map[schema.State]int // pages of hosts that were given up, by state
}

// A ranked is the trouble of a host, with the host's number of seeds and remaining seconds.
type ranked struct {
	Trouble
	seeds   int
	seconds float64
}

// add counts a host. generation is that of the map.
func (c *count) add(p Pace, generation uint32, h *schema.Host, of hush) {
	waiting := 0
	if h.Generation == generation {
		waiting = h.Waiting
	}
	if h.Run == p.run {
		waiting += len(h.Retries)
	}
	c.addWaiting(p, generation, h, waiting, of)
}

// addWaiting counts a host with the given number of waiting pages.
func (c *count) addWaiting(p Pace, generation uint32, h *schema.Host, waiting int, of hush) {
	pages, seconds := p.Of(h, waiting)
	c.addOrigins(p, h, pages, seconds)
	if h.Run == p.run && h.RunGivenUp != schema.NotGivenUp {
		c.addGroup(p, h, waiting, 0)
		if c.givenUp++; p.seeds[h.Name] > 0 {
			c.tell(p, h, hush{}, 0)
		}
		return
	}
	c.addGroup(p, h, waiting, pages)
	if pages == 0 {
		return
	}
	if !of.asked.IsZero() && p.trouble(h).Kind == schema.TroubleRobots {
		seconds = max(1, seconds-time.Since(of.asked).Seconds())
	}
	c.hosts++
	c.waiting += waiting
	c.work += pages
	if h.Generation == generation {
		c.nearest(h.Queues)
	}
	if Suspended(h) > 0 {
		c.suspended++
	}
	c.rank(HostETA{Domain: h.Name, ToVisit: int(pages), Seconds: seconds})
	c.tell(p, h, of, seconds)
}

// left returns the remaining work as a Left.
func (c *count) left(p Pace) Left {
	l := Left{
		PagesToVisit: int(min(c.work, p.allowance)), Depth: c.depth, MaxDepth: p.cfg.Crawler.MaxDepth,
		ETAHosts: slices.Clone(c.slowest),
	}
	for i := range l.ETAHosts {
		l.ETAHosts[i].Shown = weburl.ShownIfOther(l.ETAHosts[i].Domain)
	}
	if len(c.slowest) > 0 {
		l.ETA = c.slowest[0].Seconds
	}
	return l
}

// A Remainder adds up, host by host, the remaining work of a run in a file that no process is crawling.
type Remainder struct {
	count      count
	pace       Pace
	generation uint32
}

// NewRemainder returns an empty sum for a run with the given pace.
func NewRemainder(store *kv.Store, pace Pace) *Remainder {
	return &Remainder{count: count{depth: -1, slowest: []HostETA{}}, pace: pace, generation: store.Generation()}
}

// Add adds a host that will take seconds for its pages, see [Pace.Of].
func (r *Remainder) Add(h *schema.Host, pages, seconds float64) {
	if pages == 0 {
		return
	}
	r.count.work += pages
	if h.Generation == r.generation {
		r.count.nearest(h.Queues)
	}
	r.count.rank(HostETA{Domain: h.Name, ToVisit: int(pages), Seconds: seconds})
}

// Left returns the sum so far.
func (r *Remainder) Left() Left { return r.count.leftBy(r.pace) }

// leftBy returns the remaining work for the next process that crawls.
func (c *count) leftBy(p Pace) Left {
	l := c.left(p)
	l.endBy(p.cfg.Crawler.MaxRunTime, 0)
	return l
}

// countOf counts the hosts of a run in a file that no process is crawling.
func countOf(store *kv.Store, cfg *config.Config, run *schema.Run) (c count, p Pace, err error) {
	c = count{depth: -1}
	err = store.View(func(tx *kv.Tx) error {
		p = NewPace(cfg, run, finder(tx))
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			waiting, err := survey.WaitingPages(store, tx, run, h)
			c.addWaiting(p, store.Generation(), h, waiting, hush{})
			return true, err
		})
	})
	return c, p, err
}

// finder finds hosts in a transaction.
func finder(tx *kv.Tx) Finder {
	return func(name string) *schema.Host { return survey.RecordOf(tx, name) }
}

// nearest updates the smallest depth at which pages wait.
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

// tell keeps the troubles of hosts with seeds, then of those that will take longest.
func (c *count) tell(p Pace, h *schema.Host, of hush, seconds float64) {
	t := p.Trouble(h)
	if t.Kind == schema.TroubleNone && of == (hush{}) {
		return
	}
	c.troubled++
	told := Trouble{Domain: h.Name, Why: t.String(), Over: t.Kind == schema.TroubleGivenUp,
		Robots: h.RobotsAt.IsZero() || t.Kind == schema.TroubleRobots}
	switch {
	case !of.failed.IsZero():
		told.Why, told.Held = of.why, time.Since(of.failed).Seconds()
	case !of.asked.IsZero():
		told.Silent = time.Since(of.asked).Seconds()
	default:
		told.Again = max(0, time.Until(t.Until).Seconds())
	}
	c.troubles = append(c.troubles, ranked{told, p.seeds[h.Name], seconds})
	slices.SortStableFunc(c.troubles, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(min(b.seeds, 1), min(a.seeds, 1)), cmp.Compare(b.seconds, a.seconds))
	})
	c.troubles = c.troubles[:min(len(c.troubles), maxTroubles)]
}

// told returns the troubles that were kept.
func (c *count) told() []Trouble {
	all := make([]Trouble, len(c.troubles))
	for i, t := range c.troubles {
		all[i] = t.Trouble
		all[i].Shown = weburl.ShownIfOther(t.Domain)
	}
	return all
}
