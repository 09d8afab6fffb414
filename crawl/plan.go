package crawl

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

const (
	maxVerdicts     = 256    // taken without a request, for one host and commit
	maxPlanned      = 20_000 // hosts whose next step is in memory; the others are woken
	maxParsedRobots = 4096
	minSweep        = 1024 // hosts in memory before the first sweep
)

// A liveHost is what the recorder keeps in memory of a host that is being
// asked, or was a moment ago.
type liveHost struct {
	ready    time.Time   // not before; carries the monotonic clock
	next     []Step      // continued visits, ahead of the host's pages
	open     []schema.ID // of the steps that are out; 0 for robots and look-ups
	robots   bool        // its robots.txt is being asked, here or elsewhere
	resolved bool        // its address was looked up in this process
	failing  bool        // its last request had no answer
}

// close takes a step back that was planned.
func (r *recorder) close(l *liveHost, id schema.ID) {
	if i := slices.Index(l.open, id); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
		r.out--
	}
}

// sweep forgets the hosts that nothing is known of but a clock that has passed.
func (r *recorder) sweep(now time.Time) {
	if len(r.live) < r.sweepAt {
		return
	}
	for id, l := range r.live {
		if l.idle(now) {
			delete(r.live, id)
		}
	}
	r.sweepAt = max(minSweep, 2*len(r.live))
}

func (l *liveHost) idle(now time.Time) bool {
	return len(l.open) == 0 && len(l.next) == 0 && !l.robots && !l.ready.After(now)
}

func (r *recorder) liveOf(id schema.HostID) *liveHost {
	l := r.live[id]
	if l == nil {
		l = &liveHost{}
		r.live[id] = l
	}
	return l
}

// planAll plans every host that the turn has touched.
func (t *turn) planAll() ([]Effect, error) {
	var effects []Effect
	for i := 0; ; i++ { // planning may touch further hosts
		if i == len(t.touched) {
			t.feed()
		}
		if i == len(t.touched) {
			return effects, nil
		}
		e, send, err := t.plan(t.touched[i])
		if err != nil {
			return nil, err
		}
		if send {
			effects = append(effects, e)
		}
	}
}

// plan decides what a host is asked next, and when.
func (t *turn) plan(id schema.HostID) (Effect, bool, error) {
	m, live := t.marks[id], t.liveOf(id)
	m.listed = false
	h, err := t.host(id)
	if err != nil {
		return Effect{}, false, err
	}
	limit := t.parallel(h)
	if m.closed == 0 && len(live.open) >= limit && !m.revoke {
		return Effect{}, false, nil
	}
	e := Effect{
		Host: id, Address: t.addressOf(h), Delay: fullDelay(t.set.cfg, h), Limit: limit, Failing: live.failing,
		Suspension: h.Suspension, Closed: m.closed, Revoke: m.revoke && len(live.open) > 0,
	}
	m.closed, m.revoke = 0, false
	var wake time.Time
	for len(live.open) < limit {
		if t.out > maxPlanned && !m.woken && len(live.next) == 0 && t.hasWork(h) && h.RunGivenUp == schema.NotGivenUp {
			wake = t.now
			break
		}
		var step *Step
		step, wake, err = t.next(h, live)
		if err != nil {
			return e, false, err
		}
		if step == nil {
			break
		}
		live.open = append(live.open, step.ID)
		t.out++
		e.Steps = append(e.Steps, *step)
	}
	t.readiness(&e, h, live, wake)
	if live.idle(t.now) && len(e.Steps) == 0 {
		delete(t.live, id)
	}
	return e, true, nil
}

// readiness sets the clock of an effect, and its priority.
func (t *turn) readiness(e *Effect, h *schema.Host, live *liveHost, wake time.Time) {
	e.Ready = live.ready
	if h.ID <= t.known && live.ready.IsZero() { // perhaps asked just before a kill
		e.Ready = t.started.Add(fullDelay(t.set.cfg, h))
	}
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
	if len(e.Steps) > 0 && e.Steps[0].ID != 0 {
		if depth, _ := t.store.Depth(e.Steps[0].ID); pagePriority(depth) < e.Priority {
			e.Priority = pagePriority(depth)
		}
	}
}

// parallel is the number of requests that may be open at a host: one while it
// is suspended or probed.
func (t *turn) parallel(h *schema.Host) int {
	if h.Throttles > 0 {
		return 1
	}
	return t.set.cfg.Politeness.MaxParallelPerDomain
}

// addressOf returns the address whose clock a host shares.
func (t *turn) addressOf(h *schema.Host) string {
	if t.set.cfg.Politeness.MinimumTimePerAddress <= 0 || t.set.exempt(h.Name) {
		return ""
	}
	if h.Address == "" {
		return literalOf(h.Name)
	}
	return h.Address
}

// next returns the host's next step; without one, the time at which to plan the
// host again, zero if an event will do that.
func (t *turn) next(h *schema.Host, live *liveHost) (*Step, time.Time, error) {
	for len(live.next) > 0 {
		step := live.next[0]
		live.next = live.next[1:]
		if t.mayContinue(h, live, step) {
			return &step, time.Time{}, nil
		}
		if err := t.drop(step); err != nil {
			return nil, time.Time{}, err
		}
	}
	t.restsTooLong(h)
	if !t.hasWork(h) {
		return nil, time.Time{}, nil
	}
	shut, err := t.shutOut(h)
	if err != nil {
		return nil, time.Time{}, err
	}
	if shut || h.RunGivenUp != schema.NotGivenUp || t.tooSlow(h) || t.enough(h) || t.exhausted(h, live) && !t.sitemapWaits(h) {
		wake, err := t.keepWaiting(h, live, shut || t.spent(h))
		return nil, wake, err
	}
	if t.mustResolve(h, live) {
		return &Step{Kind: StepResolve, Host: h.ID, URL: "https://" + h.Name + "/", Settings: t.set}, time.Time{}, nil
	}
	rules, err := t.rulesOf(h)
	if err != nil {
		return nil, time.Time{}, err
	}
	if rules == nil {
		return t.nextRobots(h, live)
	}
	if err := t.queueSitemaps(h, rules); err != nil {
		return nil, time.Time{}, err
	}
	return t.nextVisit(h, live, rules)
}

// mayContinue reports whether a continued visit still may go on.
func (t *turn) mayContinue(h *schema.Host, live *liveHost, step Step) bool {
	if step.Kind == StepRobots {
		return h.RunGivenUp == schema.NotGivenUp
	}
	probing := step.Suspension == h.Suspension
	return h.RunGivenUp == schema.NotGivenUp && (h.Throttles == 0 || probing) &&
		(step.URLKind != schema.KindPage || h.RunRequests+t.pagesOut(live) < t.budget(h))
}

// drop ends a visit whose next step is not made; its URL still waits.
func (t *turn) drop(step Step) error {
	if step.Kind == StepRobots {
		return t.robotsDropped(step)
	}
	t.release(step)
	return nil
}

func (t *turn) hasWork(h *schema.Host) bool { return h.Waiting > 0 || len(h.Retries) > 0 }

func (t *turn) budget(h *schema.Host) int {
	return t.set.terrain.Budget(h.Name, t.set.cfg.Crawler.MaxDomainRequests)
}

// exhausted reports whether the host's budget is used up, what is open included.
func (t *turn) exhausted(h *schema.Host, live *liveHost) bool {
	return h.RunRequests+t.pagesOut(live) >= t.budget(h)
}

// enough reports whether the run visits no further page (max-pages), what is
// open included.
func (t *turn) enough(h *schema.Host) bool {
	limit := t.set.cfg.Crawler.MaxPages
	if limit <= 0 || t.run.Pages+t.reservedPages < limit {
		return false
	}
	if t.reservedPages > 0 {
		t.starved[h.ID] = true
	}
	return true
}

// pagesOut is the number of requests for pages that are out.
func (t *turn) pagesOut(live *liveHost) (n int) {
	for _, id := range live.open {
		if id != 0 && t.store.Kind(id) == schema.KindPage {
			n++
		}
	}
	return n
}

// restsTooLong gives a host up that an earlier run was told to leave alone for
// longer than this one may wait.
func (t *turn) restsTooLong(h *schema.Host) {
	if rest := h.SuspendedTo.Sub(t.now); h.Throttles > 0 && rest > t.set.cfg.Politeness.MaxSuspension {
		t.giveUp(h, schema.GaveUpRateLimit, "asked to wait, still "+rest.Round(time.Second).String())
	}
}

func (t *turn) mustResolve(h *schema.Host, live *liveHost) bool {
	return !live.resolved && h.Address == "" && t.set.cfg.Politeness.MinimumTimePerAddress > 0 &&
		!t.set.exempt(h.Name) && !isLiteral(h.Name)
}
