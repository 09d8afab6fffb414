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
	maxTroubles  = 3 // that are told
)

// A HostETA says how long a host will take with what is to be visited of it.
type HostETA struct {
	Domain  string  `json:"domain"`
	ToVisit int     `json:"pages_to_visit"`
	Seconds float64 `json:"eta_seconds"`
	Shown   string  `json:"domain_shown,omitempty"` // to a person, if that is not the domain alone
}

// A Trouble is a host with pages to visit that the crawl waits for, and why; or one
// with a seed that it does not ask any more.
type Trouble struct {
	Domain string  `json:"domain"`
	Shown  string  `json:"domain_shown,omitempty"` // to a person, if that is not the domain alone
	Why    string  `json:"why"`                    // what has failed; empty: nothing yet
	Robots bool    `json:"robots"`                 // its robots.txt is what is asked for
	Again  float64 `json:"again_seconds"`          // until it is asked again; 0: now
	Silent float64 `json:"silent_seconds"`         // since it was asked and has not answered; 0: it was not asked
	Held   float64 `json:"held_seconds"`           // since it failed, where the network may be at fault; 0: it has not
	Over   bool    `json:"given_up"`               // it is not asked again in this run
}

// A Pace is how fast a run can be under its configuration.
type Pace struct {
	cfg       *config.Config
	run       schema.RunID
	allowance float64        // pages, until max-pages; of a run that is completed none
	seeds     map[string]int // of a host
}

// NewPace returns the pace of a run.
func NewPace(cfg *config.Config, run *schema.Run) Pace {
	p := Pace{cfg: cfg, seeds: map[string]int{}}
	for _, q := range cfg.Quality {
		for _, seed := range q.Seeds {
			if u, err := cfg.Rules().Parse(seed); err == nil {
				p.seeds[weburl.Host(u.Norm)]++
			}
		}
	}
	return p.at(run)
}

// at returns the pace of a later moment.
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

// Of returns how many of a host's waiting pages the run will visit, as far as is known,
// and how many seconds that takes: none of a host that was given up, or has no budget
// left. One that does not answer takes as long as the tries that it has left.
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
	if p.cfg.Politeness.MaxParallelPerDomain == 1 { // else a request goes out while another one is answered
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

// perPage returns how many requests a page of a host costs: as many as those did that
// the run has visited there. What failed at other hosts says nothing about it.
func (p Pace) perPage(h *schema.Host) float64 {
	if h.Run == p.run && h.RunVisited > 0 {
		return max(1, float64(h.RunRequests)/float64(h.RunVisited))
	}
	if p.cfg.Crawler.HeadCheck == config.HeadAlways {
		return 2
	}
	return 1
}

// trouble returns what a run has with a host. That its robots.txt cannot be had is none while
// the run goes on without; a rest is over when the crawl would take it to be.
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
	without.RobotsTries = 0
	return without.Trouble(p.run)
}

// Trouble returns what a run has with a host that it asks, and when it asks again: not
// before the host's delay has passed either.
func (p Pace) Trouble(h *schema.Host) schema.Trouble {
	t := p.trouble(h)
	if ready := h.LastByte.Add(p.cfg.FullDelay(h)); t.Kind > schema.TroubleGivenUp && ready.After(t.Until) {
		t.Until = ready
	}
	return t
}

// Suspended returns how long a host still wants to be left alone.
func Suspended(h *schema.Host) time.Duration {
	if h.Throttles == 0 {
		return 0
	}
	return max(0, time.Until(h.RestsUntil(time.Now())))
}

// A count is what the hosts of a run still have to do.
type count struct {
	waiting, suspended, givenUp int
	depth                       int // smallest that pages to visit wait at; -1: none
	slowest                     []HostETA
	work                        float64 // pages that will be visited
	troubles                    []ranked
	troubled                    int // of so many hosts
	groups                      []Group
	origins                     []Origin             // as the configuration has them
	unasked                     map[string]int       // pages that count as errors without a visit, by kind
	lost                        map[schema.State]int // pages of hosts that were given up, by the state that they have
}

// A ranked trouble is that of a host which has so many seeds and takes so many seconds.
type ranked struct {
	Trouble
	seeds   int
	seconds float64
}

// add counts a host of a map that began with a generation.
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

// addWaiting counts a host for which so many pages wait.
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

// left is what a count comes to.
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

// A Remainder adds up what a run of a file that nobody crawls has left, host by host.
type Remainder struct {
	count      count
	pace       Pace
	generation uint32
}

// NewRemainder begins the sum of a run, with its pace.
func NewRemainder(store *kv.Store, pace Pace) *Remainder {
	return &Remainder{count: count{depth: -1, slowest: []HostETA{}}, pace: pace, generation: store.Generation()}
}

// Add adds a host of which so many pages will be visited in so many seconds, see [Pace.Of].
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

// Left is what the hosts come to.
func (r *Remainder) Left() Left { return r.count.leftBy(r.pace) }

// leftBy is what a count comes to for the next process that crawls.
func (c *count) leftBy(p Pace) Left {
	l := c.left(p)
	l.endBy(p.cfg.Crawler.MaxRunTime, 0)
	return l
}

// countOf counts the hosts of a run of a file that nobody crawls.
func countOf(store *kv.Store, cfg *config.Config, run *schema.Run) (c count, p Pace, err error) {
	p, c = NewPace(cfg, run), count{depth: -1}
	err = store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			waiting, err := survey.WaitingPages(store, tx, run, h)
			c.addWaiting(p, store.Generation(), h, waiting, hush{})
			return true, err
		})
	})
	return c, p, err
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

// tell keeps the troubles of the hosts with seeds, then of those that will take longest.
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

// told are the troubles.
func (c *count) told() []Trouble {
	all := make([]Trouble, len(c.troubles))
	for i, t := range c.troubles {
		all[i] = t.Trouble
		all[i].Shown = weburl.ShownIfOther(t.Domain)
	}
	return all
}
