package record

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

const (
	maxVerdicts = 256    // without a request, per host and commit
	maxPlanned  = 20_000 // hosts whose next step is in memory; the others are woken
)

// A plan decides the next request to a host: robots.txt first, then retries that are due, then the URLs in its line.
// The plan decides, and the turn acts. A decision changes only where a URL waits, and which hosts wait for room that
// others have reserved.
type plan struct {
	in          *runState
	hosts       *hosts
	robots      *robotsCache
	quotas      *quotas
	reach       *reach
	renderQueue *renderQueue
	chooser     pageChooser
}

// A decision is what to do at a host now. The turn follows it in the order of the fields. It asks for the next
// decision if again is set, and after a step while the host may have another request open.
type decision struct {
	again    bool            // once this is done, decide on the host again
	refuse   *refusal        // of a request of scripts
	drop     *ring.Step      // of a continued visit that must not continue; its URL still waits
	giveUp   schema.GiveUp   // the host, because of why
	why      schema.Reason   // of giveUp
	sitemaps *robots.Rules   // whose sitemaps are to be queued
	settle   []*schema.Visit // without a request: kept as they are, or denied
	step     *ring.Step      // to send; nil: none
	begins   bool            // step is the first one of a visit, or of an attempt to fetch robots.txt
	wake     time.Time       // without a step: when to plan the host again; zero: an event will do that
}

// decide returns what to do at a host.
func (p *plan) decide(h *schema.Host, live *liveHost) (decision, error) {
	if rest := h.SuspendedTo.Sub(p.in.now); h.RunGivenUp == schema.NotGivenUp && p.restsTooLong(h, rest) {
		why := schema.Reason{Cause: schema.CauseStillToWait, Wait: rest}
		return decision{giveUp: schema.GaveUpRateLimit, why: why, again: true}, nil
	}
	switch {
	case len(live.next) > 0:
		return p.goOn(h, live), nil
	case len(live.assets) > 0 && p.in.store.Foreign(h.ID):
		return p.entrust(h, live), nil
	case !hasWork(h) && len(live.assets) == 0 && !p.probeDue(h):
		return decision{}, nil
	}
	return p.begin(h, live)
}

// goOn continues the first continued visit of a host, or drops its step if it must not continue.
func (p *plan) goOn(h *schema.Host, live *liveHost) decision {
	step := live.next[0]
	live.next = live.next[1:]
	if step.Visit.Heads = h.Heads; step.Kind == ring.Head && h.Heads&schema.HeadsLie != 0 {
		step.Kind = ring.Get
	}
	if p.mayContinue(h, live, &step) {
		return decision{step: &step}
	}
	return decision{drop: &step, again: true}
}

// begin decides on the first request of a new visit to a host that has work.
func (p *plan) begin(h *schema.Host, live *liveHost) (decision, error) {
	shut, err := p.quotas.shutOut(h)
	if err != nil {
		return decision{}, err
	}
	rules, err := p.robots.rules(h)
	if err != nil {
		return decision{}, err
	}
	if rules != nil && h.RunGivenUp == schema.NotGivenUp && p.in.set.Config.AsksTooMuch(h) {
		return decision{giveUp: schema.GaveUpCrawlDelay, why: p.in.set.Config.WhyTooMuch(h), again: true}, nil
	}
	if r := p.refuseAssets(h, live, shut); r != nil {
		return decision{refuse: r, again: true}, nil
	}
	if len(live.assets) == 0 && (shut || p.closed(h, live) || rules != nil && p.quotas.tooSlow(h)) {
		return p.chooser.stay(h, live, shut || p.quotas.spent(h) || h.RunGivenUp == schema.GaveUpWall)
	}
	if p.mustResolve(h, live) {
		look := &ring.Step{Kind: ring.Resolve, Host: h.ID, URL: "https://" + h.Name + "/", Settings: p.in.set}
		return decision{step: look}, nil
	}
	switch {
	case rules == nil:
		return p.askRobots(h, live)
	case p.reach.sitemapsDue(h):
		return decision{sitemaps: rules, again: true}, nil
	}
	if step := p.probe(h, live, rules); step != nil {
		return decision{step: step}, nil
	}
	if d, ok := p.asset(h, live, rules); ok {
		return d, nil
	}
	d, err := p.page(h, live, rules, shut)
	if d.step == nil && !d.again {
		d.wake = p.orAsset(d.wake, live)
	}
	return d, err
}

// page decides on the pages of a host.
func (p *plan) page(h *schema.Host, live *liveHost, rules *robots.Rules, shut bool) (decision, error) {
	switch {
	case !hasWork(h):
		return decision{}, nil
	case shut || p.closed(h, live) || p.quotas.tooSlow(h):
		return p.chooser.stay(h, live, shut || p.quotas.spent(h))
	case p.renderQueue.crowded(h):
		return decision{}, nil
	}
	d, err := p.chooser.next(h, live, rules)
	switch {
	case err != nil || d.step != nil || !p.quotas.seedsOnly(h):
		return d, err
	case len(d.settle) > 0:
		d.again, d.wake = len(d.settle) < maxVerdicts, p.in.now
	case d.wake.IsZero(): // its other pages are not requested
		return p.chooser.stay(h, live, false)
	}
	return d, nil
}

// mayContinue reports whether a continued visit may still continue.
func (p *plan) mayContinue(h *schema.Host, live *liveHost, step *ring.Step) bool {
	switch {
	case step.Kind == ring.Robots && step.For == 0:
		return !noMore(p.in, h)
	case step.Kind == ring.Robots:
		return h.RunGivenUp == schema.NotGivenUp
	}
	probing := step.Suspension == h.Suspension
	return h.RunGivenUp == schema.NotGivenUp && (h.Throttles == 0 || probing) &&
		(step.URLKind != schema.KindPage || !p.quotas.exhausted(h, live))
}

// restsTooLong reports whether a host asked an earlier run to wait for longer than this one may.
func (p *plan) restsTooLong(h *schema.Host, rest time.Duration) bool {
	return h.Throttles > 0 && rest > p.in.set.Config.Politeness.MaxSuspension
}

func hasWork(h *schema.Host) bool { return h.Waiting > 0 || len(h.Retries) > 0 }

// closed reports whether a host gets no more requests for pages in this run. Sitemaps do not count against budgets.
func (p *plan) closed(h *schema.Host, live *liveHost) bool {
	return h.RunGivenUp != schema.NotGivenUp || p.quotas.enough(h) ||
		p.quotas.exhausted(h, live) && !p.sitemapWaits(h)
}

// sitemapWaits reports whether a sitemap of a host waits for its turn or for a retry.
func (p *plan) sitemapWaits(h *schema.Host) bool {
	return len(h.Queues) > 0 && h.Queues[0].Priority == schema.PrioritySitemap || othersSitemapWaits(h) ||
		slices.ContainsFunc(h.Retries, func(r schema.Retry) bool { return !p.in.isPage(r.URL) })
}

// othersSitemapWaits reports whether a sitemap waits behind the pages of a host.
func othersSitemapWaits(h *schema.Host) bool {
	n := len(h.Queues)
	return n > 0 && h.Queues[n-1].Priority == schema.PriorityOthersSitemap
}

// mustResolve reports whether the address of a host must be looked up first, because the host shares the clock of its
// address.
func (p *plan) mustResolve(h *schema.Host, live *liveHost) bool {
	return !live.resolved && h.Address == "" && p.in.set.Config.Politeness.MinimumTimePerAddress > 0 &&
		!p.in.set.Exempt(h.Name) && weburl.Literal(h.Name) == ""
}

// askRobots requests the robots.txt of a host, unless a request is open or due later, or the retries are used up.
func (p *plan) askRobots(h *schema.Host, live *liveHost) (decision, error) {
	switch {
	case live.robots:
		return decision{}, nil
	case clock.TriedOut(p.in.set.Config, h) && h.RobotsDue.After(p.in.now):
		why := schema.Reason{Cause: schema.CauseRobots, Detail: h.RobotsReason.String()}
		return decision{giveUp: schema.GaveUpRobots, why: why, again: true}, nil
	case h.RobotsDue.After(p.in.now):
		return decision{wake: h.RobotsDue}, nil
	}
	form, err := p.chooser.firstForm(h)
	if err != nil {
		return decision{}, err
	}
	return decision{step: p.robots.request(h, form), begins: true}, nil
}

// effect returns what the scheduler must know about a host, without its steps.
func (p *plan) effect(h *schema.Host, live *liveHost) ring.Effect {
	return ring.Effect{
		Host: h.ID, Address: p.address(h), Limit: p.parallel(h),
		Failing: live.failing, Answered: live.answered, Proved: live.proved, Met: h.Smoothed > 0,
		Suspension: h.Suspension,
	}
}

// time sets the clock of an effect and its priority. It comes after all decisions, because they may read a copy of
// robots.txt that changes the delay.
func (p *plan) time(e *ring.Effect, h *schema.Host, live *liveHost, wake time.Time) {
	e.Delay = p.in.set.Config.FullDelay(h)
	e.Ready = p.hosts.earliest(h, live)
	if h.SuspendedTo.After(e.Ready) {
		e.Ready = h.SuspendedTo
	}
	if len(e.Steps) == 0 && !wake.IsZero() && len(live.open) == 0 {
		e.Wake = true
		if wake.After(e.Ready) {
			e.Ready = wake
		}
	}
	e.Priority = 255
	if len(h.Queues) > 0 {
		e.Priority = h.Queues[0].Priority
	}
	switch {
	case len(e.Steps) == 0 || e.Steps[0].Kind == ring.Probe:
	case e.Steps[0].Kind == ring.Asset:
		e.Priority = 0 // pages wait for it
	case e.Steps[0].ID != 0:
		depth, _ := p.in.store.Depth(e.Steps[0].ID)
		own := p.in.store.Own(e.Steps[0].ID)
		e.Priority = min(e.Priority, schema.Rank{Depth: depth, OfOrigin: p.hosts.facts(h.ID).own, Own: own}.Priority())
	}
}

// parallel returns how many requests may be open at a host: one while it is suspended or probed.
func (p *plan) parallel(h *schema.Host) int {
	if h.Throttles > 0 {
		return 1
	}
	return p.in.set.Config.Politeness.MaxParallelPerDomain
}

// address returns the address whose clock a host shares; empty: none.
func (p *plan) address(h *schema.Host) string {
	switch {
	case p.in.set.Config.Politeness.MinimumTimePerAddress <= 0 || p.in.set.Exempt(h.Name):
		return ""
	case h.Address == "":
		return weburl.Literal(h.Name)
	}
	return h.Address
}

// crowded reports whether too many hosts have their next steps in memory, so that this one is woken later.
func (p *plan) crowded(h *schema.Host, live *liveHost, woken bool) bool {
	return p.hosts.live.out > maxPlanned && !woken && len(live.next) == 0 && len(live.assets) == 0 &&
		hasWork(h) && h.RunGivenUp == schema.NotGivenUp
}

// atStart returns the effect that wakes a host when a process begins, if it has work. The host is woken once its full
// delay since then has passed.
func (p *plan) atStart(h *schema.Host) (ring.Effect, bool) {
	queued := h.Waiting > 0 && h.Generation == p.in.store.Generation()
	retries := len(h.Retries) > 0 && h.Run == p.in.run.ID
	if !queued && !retries && !(h.Run == p.in.run.ID && p.probeDue(h)) {
		return ring.Effect{}, false
	}
	clock.Clamp(p.in.set.Config, h, p.in.started)
	e := ring.Effect{Host: h.ID, Wake: true, Ready: p.in.started, Limit: 1, Priority: 255, Suspension: h.Suspension}
	if ready := p.hosts.earliest(h, p.hosts.live.byID[h.ID]); ready.After(e.Ready) {
		e.Ready = ready
	}
	givenUp := h.Run == p.in.run.ID && h.RunGivenUp != schema.NotGivenUp
	rest := h.SuspendedTo.Sub(p.in.started)
	if h.SuspendedTo.After(e.Ready) && rest <= p.in.set.Config.Politeness.MaxSuspension && !givenUp {
		e.Ready = h.SuspendedTo // else the host is given up, or taken back, when it is planned
	}
	if p.quotas.tooSlow(h) {
		e.Ready = p.in.started // it is to be seen first whether it still is
	}
	if queued && len(h.Queues) > 0 {
		e.Priority = h.Queues[0].Priority
	}
	return e, true
}
