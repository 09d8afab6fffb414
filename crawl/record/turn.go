package record

import (
	"errors"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A turn calls the owners in order within one transaction: outcomes in, effects out. It is void once the transaction
// has ended.
type turn struct {
	in          *runState
	hosts       *hosts
	urls        *urls
	robots      *robotsCache
	quotas      *quotas
	renderQueue *renderQueue
	ledger      *ledger
	builder     *visitBuilder
	mazes       *mazes
	reach       *reach
	delegated   *delegatedRequests
	plan        *plan

	onRequest func(Request) // may be nil
}

// applyAll applies everything that has arrived since the last turn: outcomes, referrals, errands, wakes and a new
// portion of max-pages. It stops at the first error.
func (t *turn) applyAll(news *ring.News) (err error) {
	for i := 0; i < len(news.Outcomes) && err == nil; i++ {
		err = t.apply(&news.Outcomes[i])
	}
	for i := 0; i < len(news.Referrals) && err == nil; i++ {
		err = t.refer(&news.Referrals[i])
	}
	for i := 0; i < len(news.Errands) && err == nil; i++ {
		err = t.delegated.begin(news.Errands[i])
	}
	for i := 0; i < len(news.Wakes) && err == nil; i++ {
		err = t.wake(&news.Wakes[i])
	}
	if news.Portion != nil && err == nil {
		err = t.quotas.allot(*news.Portion)
	}
	return err
}

// apply brings the store up to date with an outcome. A second outcome for a URL that
// is settled changes clocks and counts only.
func (t *turn) apply(o *ring.Outcome) error {
	if o.Step.Kind == ring.Render {
		return t.rendered(o)
	}
	h, err := t.hosts.change(o.Step.Host)
	if err != nil {
		return err
	}
	live := t.hosts.live.of(h.ID)
	t.hosts.live.closed(live, o.Step.ID)
	t.hosts.touch(h.ID).closed++
	if o.Step.Kind == ring.Resolve {
		t.lookedUp(h, live, o)
		return nil
	}
	if o.Step.Entrusted() {
		return t.sent(h, live, o)
	}
	if o.Moved {
		h.Address = o.Address
		live.moved(o.Step)
		return nil
	}
	t.observe(h, live, o)
	switch {
	case o.Step.Kind == ring.Robots:
		v := judge.Robots(o, h.Name, t.robots.lastTry(h))
		t.ledger.tellVerdict(o, v.Act.String(), v.Reason)
		if o.Step.For == 0 {
			return t.robots.answered(h, live, o, v)
		}
		return t.robots.apply(h, o, v)
	case o.Step.Kind == ring.Asset:
		t.fetchedAsset(h, live, o)
		return nil
	case o.Step.Kind == ring.Probe:
		t.probed(h, o)
		return nil
	case o.Cause == fetch.Cancelled:
		t.quotas.release(&o.Step)
		return nil
	}
	return t.applyVisit(h, live, o)
}

// observe notes what a request says about its host, independent of what its answer means.
func (t *turn) observe(h *schema.Host, live *liveHost, o *ring.Outcome) {
	t.ledger.tellRequest(o)
	if t.onRequest != nil {
		t.onRequest(newRequest(t.in.set.Config, h, o))
	}
	clock.Observe(h, o)
	live.heard(t.in.set.Config, h, o)
	forItself := o.Step.Kind == ring.Robots && o.Step.For == h.ID
	t.ledger.countAsked(h, !forItself && !o.Uncounted && o.Step.URLKind == schema.KindPage)
	if o.Cause != fetch.Cancelled {
		t.hosts.throttle(h, o)
	}
}

// lookedUp keeps the address of a host. If this machine could not look it up, it retries a little later; no clock of a
// server paces that.
func (t *turn) lookedUp(h *schema.Host, live *liveHost, o *ring.Outcome) {
	if o.Cause != fetch.Cancelled {
		h.Address, live.resolved = o.Address, true
	} else if again := t.in.now.Add(time.Second); again.After(live.ready) {
		live.ready = again
	}
}

// applyVisit acts on the verdict about a page or a sitemap.
func (t *turn) applyVisit(h *schema.Host, live *liveHost, o *ring.Outcome) error {
	if done, err := t.ledger.done(o.Step.ID); err != nil || done {
		t.quotas.release(&o.Step)
		return err
	}
	t.hosts.giveUpUnreached(h, o.Reason())
	if err := t.hear(h, o); err != nil {
		return err
	}
	rules, err := t.robots.ofVisit(h)
	if err != nil {
		return err
	}
	triesLeft := o.Step.Visit.Retries < t.in.set.Config.Retry.MaxRetries
	v := judge.Page(o, rules, triesLeft, h.RunGivenUp == schema.GaveUpRateLimit)
	t.ledger.tellVerdict(o, v.String(), v.Reason)
	t.hosts.meetWall(h, o, v)
	if err := t.hosts.meetPayment(h, o, v); err != nil {
		return err
	}
	if v.Act == judge.Follow {
		v.Next.Timeout, v.Next.Settings = t.in.set.Timeout(v.Next.Visit.Retries), t.in.set
		live.goOn(*v.Next)
		return nil
	}
	if o.Fetched != nil {
		return t.renderQueue.begin(live, o)
	}
	t.quotas.release(&o.Step)
	switch v.Act {
	case judge.Rest:
		t.in.log.Debug("host asks for rest", "host", h.Name, "url", o.Step.Norm, "status_code", o.Status,
			"wait", h.SuspendedFor)
		t.ledger.countError(schema.ErrorRateLimited)
		return nil
	case judge.Retry:
		wait := clock.Backoff(t.in.set.Config.Retry, o.Step.Visit.Retries+1)
		retryLater(h, o, v, wait)
		t.in.log.Debug("page is tried again", "host", h.Name, "url", o.Step.Norm, "reason", v.Reason.String(),
			"tries", o.Step.Visit.Retries+1, "wait", wait)
		return nil
	}
	return t.settleAnswer(h, o, v)
}

// hear notes what an answer says about the host's answers to HEAD. Once GET contradicts one, the pages that other
// answers to HEAD refused are visited again, and no outstanding answer to HEAD is believed.
func (t *turn) hear(h *schema.Host, o *ring.Outcome) error {
	before := h.Heads
	h.Heads |= judge.Heads(o)
	o.Step.Visit.Heads |= h.Heads & schema.HeadsLie
	if before == 0 || before&schema.HeadsLie != 0 || h.Heads&schema.HeadsLie == 0 { // before 0: none was believed
		return nil
	}
	return t.reach.reopenAll(h.ID)
}

// retryLater makes a URL wait for a retry.
func retryLater(h *schema.Host, o *ring.Outcome, v judge.Verdict, wait time.Duration) {
	leaveRetry(h, o.Step.ID)
	h.Retries = append(h.Retries, schema.Retry{
		URL: o.Step.ID, Attempts: o.Step.Visit.Retries + 1, Reason: v.Reason, Due: o.Done.Add(wait),
	})
}

// settleAnswer ends the visit whose last step has this outcome.
func (t *turn) settleAnswer(h *schema.Host, o *ring.Outcome, v judge.Verdict) error {
	visit, err := t.builder.visit(o, v)
	if err == nil {
		err = t.urls.miss(o)
	}
	if err != nil {
		return err
	}
	retried := leaveRetry(h, o.Step.ID)
	if o.Step.URLKind == schema.KindPage {
		t.ledger.countPage(h, visit.Rendering)
		if err := t.quotas.countVisit(o, visit); err != nil {
			return err
		}
	}
	noteWWW(h, o)
	if o.Step.URLKind == schema.KindPage {
		if err := t.mazes.note(h, o, visit, t.builder.met); err != nil {
			return err
		}
	}
	if err := t.settle(h, visit); err != nil || !retried {
		return err
	}
	return t.reach.reopen(o.Step.ID) // it is in no line, and a new form may have been found meanwhile
}

// noteWWW notes whether a host that could not be reached at one of its names answers at its www. form only.
func noteWWW(h *schema.Host, o *ring.Outcome) {
	visit := &o.Step.Visit
	if o.Answered() && o.Status < 400 && visit.Unreached && len(visit.Asked) > 0 {
		h.WWW = isWWW(o.Step.URL, h.Name)
	}
}

// settle records a visit, and carries what it found. Apart from [Recorder.Reread], only settle writes to the log.
func (t *turn) settle(h *schema.Host, visit *schema.Visit) error {
	if err := t.ledger.record(h, visit, t.hosts.facts(h.ID).own); err != nil {
		return err
	}
	t.hosts.put(h)
	err := errors.Join(t.reopen(), t.reach.carry(visit))
	if err == nil && !t.in.isPage(visit.URL) {
		err = t.queueUsualFor(visit.URL)
	}
	return err
}

// reopen queues visited pages again for which a new form was found.
func (t *turn) reopen() error {
	for _, id := range t.urls.takeReformed() {
		if err := t.reach.reopen(id); err != nil {
			return err
		}
	}
	return nil
}

// refer applies a referral from another shard. One that is impossible, or belongs to another run or configuration, is
// skipped.
func (t *turn) refer(ref *ring.Referral) error {
	to, ok := t.in.targetOf(ref)
	if !ok || !ref.Told.Counts(t.in.store.Part()) {
		return nil
	}
	if foreign, err := t.hosts.foreignName(to.Host()); err != nil || foreign {
		return err
	}
	how := byTelling
	if ref.Told.Own = t.makesOwn(ref, to.Host()); ref.Told.Own {
		how = byOwnTelling
	}
	id, err := t.urls.note(to, ref.Kind, 0, how)
	if err == nil && id != 0 && ref.Told.Own {
		err = t.hosts.vouch(t.in.store.HostOf(id))
	}
	if err != nil || id == 0 {
		return err
	}
	if ref.Kind == schema.KindSitemap {
		for _, voucher := range ref.Vouchers {
			if err := t.reach.vouchInFile(id, voucher); err != nil {
				return err
			}
		}
	}
	was, known, err := t.in.tx.Inbound.At(id)
	if err != nil {
		return err
	}
	told := ref.Told
	if known && was.Counts(t.in.store.Part()) {
		told = nearer(was, told)
	}
	if !known || told != was {
		if err := t.in.tx.Inbound.Put(id, told); err != nil {
			return err
		}
	}
	return errors.Join(t.reopen(), t.reach.refer(id, told))
}

// wake plans a host whose time has come, and takes back its unsent steps if they were revoked.
func (t *turn) wake(w *ring.Wake) error {
	live := t.hosts.live.of(w.Host)
	for i := range w.Unsent {
		step := &w.Unsent[i]
		t.hosts.live.closed(live, step.ID)
		if err := t.drop(step); err != nil {
			return err
		}
	}
	t.hosts.touch(w.Host).woken = true
	return nil
}

// drop ends a visit whose next step is not sent. Its URL still waits, and so do the requests of scripts.
func (t *turn) drop(step *ring.Step) error {
	switch {
	case step.Kind == ring.Robots:
		return t.robots.withdraw(*step)
	case step.Kind == ring.Asset:
		live := t.hosts.live.of(step.Host)
		live.assets = append(live.assets, asset{Resource: step.Resource(), tries: step.Visit.Retries})
	case step.Kind != ring.Probe: // which is due still
		t.quotas.release(step)
	}
	return nil
}

// planAll plans the touched hosts until none is left.
func (t *turn) planAll() ([]ring.Effect, error) {
	var effects []ring.Effect
	for i := 0; ; i++ { // planning may touch further hosts
		if i == len(t.hosts.touched) {
			t.quotas.letOn() // this may touch more hosts, as may the next line
			if err := errors.Join(t.queueUsualForLost(), t.robots.serveOn()); err != nil {
				return nil, err
			}
		}
		if i == len(t.hosts.touched) {
			if e, some := t.renderQueue.effect(); some {
				effects = append(effects, e)
			}
			return effects, nil
		}
		e, send, err := t.planHost(t.hosts.touched[i])
		if err != nil {
			return nil, err
		}
		if send {
			effects = append(effects, e)
		}
	}
}

// planHost follows the decisions of the plan until the host has as many steps as it may.
func (t *turn) planHost(id schema.HostID) (ring.Effect, bool, error) {
	m, live := t.hosts.marks[id], t.hosts.live.of(id)
	m.dirty = false
	h, err := t.hosts.load(id)
	if err != nil {
		return ring.Effect{}, false, err
	}
	e := t.plan.effect(h, live)
	if m.closed == 0 && len(live.open) >= e.Limit && !m.revoke {
		return ring.Effect{}, false, nil
	}
	e.Closed, e.Revoke = m.closed, m.revoke && len(live.open) > 0
	m.closed, m.revoke = 0, false
	live.failing, live.answered, live.proved = false, false, false
	if err := t.robots.permit(h, live); err != nil {
		return e, false, err
	}
	var wake time.Time
	for len(live.open) < e.Limit {
		if t.plan.crowded(h, live, m.woken) {
			wake = t.in.now
			break
		}
		d, err := t.plan.decide(h, live)
		if err == nil {
			err = t.act(h, &d)
		}
		if err != nil {
			return e, false, err
		}
		if d.step != nil {
			t.hosts.live.opened(live, d.step.ID)
			e.Steps = append(e.Steps, *d.step)
		} else if wake = d.wake; !d.again {
			break
		}
	}
	t.plan.time(&e, h, live, t.robots.orPermit(wake, h, live))
	t.hosts.live.forget(id, live, t.in.now, len(e.Steps))
	return e, true, nil
}

// act follows a decision, except for its step.
func (t *turn) act(h *schema.Host, d *decision) error {
	if d.refuse != nil {
		t.renderQueue.refuse(d.refuse.Resource, d.refuse.why)
	}
	if d.drop != nil {
		if err := t.drop(d.drop); err != nil {
			return err
		}
	}
	if d.giveUp != schema.NotGivenUp {
		t.hosts.giveUp(h, d.giveUp, d.why)
	}
	if d.sitemaps != nil {
		if err := t.queueSitemaps(h, d.sitemaps); err != nil {
			return err
		}
	}
	for _, visit := range d.settle {
		if err := t.settle(h, visit); err != nil {
			return err
		}
	}
	switch {
	case d.step == nil:
		return nil
	case d.step.Kind == ring.Asset && !d.step.Entrusted():
		return t.quotas.countHost(h)
	case d.step.Kind == ring.Robots && d.begins:
		t.hosts.live.of(h.ID).robots = true
		return t.quotas.countHost(h)
	case d.begins:
		return t.quotas.reserve(d.step, h)
	}
	return nil
}

// queueSitemap records and queues a file named in the robots.txt of a host. If the file is on another site, further
// sitemaps may be there, too.
func (t *turn) queueSitemap(h *schema.Host, file ring.Target) error {
	how, lists := byOwnTelling, t.in.set.Scope
	if lists.OriginsOf(file.Host()) != nil && !lists.SameOrigin(h.Name, file.Host()) {
		how = byTelling
	}
	id, err := t.urls.note(file, schema.KindSitemap, 0, how)
	if err != nil || id == 0 {
		return err
	}
	at, err := t.hosts.load(t.in.store.HostOf(id))
	if err != nil {
		return err
	}
	if at.SitemapsFor != t.in.run.ID && weburl.Site(at.Name) != weburl.Site(h.Name) {
		at.SitemapsFor = t.in.run.ID
		t.hosts.put(at)
	}
	return errors.Join(t.reach.vouchInFile(id, h.Name), t.reach.queueFile(id, 0))
}
