package record

import (
	"errors"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A pageChooser picks the next page to request from a host. On the way it settles the pages that need no
// request: those already settled, refused by a rule, or denied by robots.txt.
type pageChooser struct {
	in       *runState
	hosts    *hosts
	ledger   *ledger
	quotas   *quotas
	listings listings
	cutter   cutter

	passed map[schema.ID]bool // examined pages: true needs no visit, false waits for a place in its group
	settle []*schema.Visit
	ids    []schema.ID // returned by waiting last; kept to reuse the memory
}

// begin discards what was examined for the previous decision.
func (c *pageChooser) begin() {
	clear(c.passed)
	clear(c.quotas.ownLeft)
	c.settle = nil
}

// errHeld reports that a page keeps waiting, see [scope.Held].
var errHeld = errors.New("held by visits that are out")

// next takes the retries that are due, then the waiting URLs in order.
func (c *pageChooser) next(h *schema.Host, live *liveHost, rules *robots.Rules) (decision, error) {
	c.begin()
	step, tried, err := c.fromRetries(h, live, rules)
	if err != nil || step != nil || tried {
		return decision{settle: c.settle, step: step, begins: true, wake: c.in.now}, err
	}
	more := true
	for n := 4; n <= maxVerdicts && step == nil && more; n *= 8 { // usually the first one needs a request
		if step, more, err = c.fromQueue(h, live, rules, n); err != nil {
			return decision{}, err
		}
	}
	waiting := h.Waiting
	err = c.trim(h, live, step)
	d := decision{settle: c.settle, step: step, begins: true}
	if d.wake = c.firstRetry(h); more && h.Waiting < waiting {
		d.wake = c.in.now // else open or held pages lead to a new plan anyway
	}
	return d, err
}

// fromRetries takes the first retry that is due, and reports whether there was one. It may have needed no request.
func (c *pageChooser) fromRetries(h *schema.Host, live *liveHost, rules *robots.Rules) (step *ring.Step, taken bool,
	err error) {
	for _, r := range h.Retries {
		if r.Due.After(c.in.now) || live.busy(r.URL) || c.in.isPage(r.URL) && (c.quotas.exhausted(h, live) ||
			c.quotas.seedsOnly(h) && !c.in.seeds.pages[r.URL]) {
			continue
		}
		step, err := c.look(h, r.URL, rules, r.Attempts)
		if errors.Is(err, errHeld) {
			continue
		}
		if err == nil && step == nil {
			h.Retries = slices.Clone(h.Retries)
			leaveRetry(h, r.URL)
			c.hosts.put(h)
		}
		return step, true, err
	}
	return nil, false, nil
}

// fromQueue examines the next n waiting URLs that were not examined yet, and reports whether there are more.
func (c *pageChooser) fromQueue(h *schema.Host, live *liveHost, rules *robots.Rules, n int) (*ring.Step, bool, error) {
	ids, err := c.waiting(h, live, n)
	if err != nil {
		return nil, false, err
	}
	for _, id := range ids {
		if _, copied := c.passed[id]; copied {
			continue
		}
		step, err := c.look(h, id, rules, 0)
		switch {
		case errors.Is(err, errHeld):
			c.passed[id] = false
		case err != nil || step != nil:
			return step, true, err
		default:
			c.passed[id] = true
		}
	}
	return nil, len(ids) == n, nil
}

// waiting returns the first n waiting URLs that may be looked at, valid until the next
// call.
func (c *pageChooser) waiting(h *schema.Host, live *liveHost, n int) ([]schema.ID, error) {
	ids := c.ids[:0]
	take := func(id schema.ID) bool {
		if _, passed := c.passed[id]; !passed && !live.busy(id) && !inRetry(h, id) {
			ids = append(ids, id)
		}
		return len(ids) < n
	}
	seedsOnly, sitemapsOnly, behind := c.quotas.seedsOnly(h), c.quotas.exhausted(h, live), othersSitemapWaits(h)
	err := c.in.tx.Frontier.Walk(h, func(priority uint8, id schema.ID) bool {
		if c.in.leftBefore(id) && schema.PriorityOwn(priority) {
			c.quotas.ownLeft[id] = true
		}
		if (seedsOnly || sitemapsOnly) && c.in.isPage(id) {
			return behind // else all sitemaps stand before the pages
		}
		return take(id)
	})
	if err == nil && seedsOnly && !sitemapsOnly && len(ids) < n {
		err = c.eachSeed(h, take)
	}
	c.ids = ids
	return ids, err
}

// eachSeed calls f for the waiting seeds of a host, wherever they are in its line, until f returns false.
func (c *pageChooser) eachSeed(h *schema.Host, f func(schema.ID) bool) error {
	for _, id := range c.in.seeds.hosts[h.ID] {
		if done, err := c.ledger.done(id); err != nil {
			return err
		} else if done {
			continue
		}
		if ok, err := c.wanted(id); err != nil || ok && !f(id) {
			return err
		}
	}
	return nil
}

// trim skips what needs no visit any more.
func (c *pageChooser) trim(h *schema.Host, live *liveHost, step *ring.Step) error {
	var failed error
	err := c.in.tx.Frontier.Trim(h, func(id schema.ID) bool {
		if step != nil && id == step.ID || live.busy(id) {
			return false
		}
		if c.passed[id] || inRetry(h, id) {
			return true
		}
		done, err := c.ledger.done(id)
		if err != nil {
			failed = err
		}
		return done
	})
	c.hosts.put(h)
	return errors.Join(err, failed)
}

// firstRetry returns when the next retry is due. Those already due wait for something else and do not count.
func (c *pageChooser) firstRetry(h *schema.Host) (first time.Time) {
	for _, r := range h.Retries {
		if r.Due.After(c.in.now) && (first.IsZero() || r.Due.Before(first)) {
			first = r.Due
		}
	}
	return first
}

// look returns the first request of a visit, or nil if the URL needs none: it is settled, a rule refuses it, or
// robots.txt forbids it.
func (c *pageChooser) look(h *schema.Host, id schema.ID, rules *robots.Rules, tries int) (*ring.Step, error) {
	if done, err := c.ledger.done(id); err != nil || done {
		return nil, err
	}
	if tries > 0 { // perhaps begun under another configuration
		if ok, err := c.wanted(id); err != nil || !ok {
			return nil, err
		}
	}
	if c.in.isPage(id) {
		if asked, err := c.mayAsk(id, h); err != nil || !asked {
			return nil, err
		}
	}
	forms, err := c.forms(id, h)
	if err != nil {
		return nil, err
	}
	first := forms[0]
	allowed := slices.DeleteFunc(slices.Clone(forms), func(form string) bool {
		return !rules.Check(weburl.PathQuery(form)).Allowed
	})
	if len(allowed) > 0 {
		return c.step(h, id, allowed, tries)
	}
	denied, err := c.denied(id, first, rules.Check(weburl.PathQuery(first)))
	c.settle = append(c.settle, denied)
	return nil, err
}

// mayAsk reports whether the limits allow a request for a page. If they do not and the page was visited before, it is
// kept as it is.
func (c *pageChooser) mayAsk(id schema.ID, h *schema.Host) (bool, error) {
	if depth, hops := c.in.store.Depth(id); !c.in.within(depth, hops) && !c.in.leftBefore(id) {
		return false, nil
	}
	if kept, err := c.settleKept(id, false); err != nil || kept {
		return false, err
	}
	if h.RunOthersEnded && !c.quotas.own(id) {
		_, err := c.settleKept(id, true)
		return false, err
	}
	switch room, err := c.quotas.room(id, h); {
	case err != nil:
		return false, err
	case room == scope.Held:
		return false, errHeld
	case room == scope.Full:
		_, err := c.settleKept(id, true)
		return false, err
	}
	return true, nil
}

// step returns the first request of a visit.
func (c *pageChooser) step(h *schema.Host, id schema.ID, forms []string, tries int) (*ring.Step, error) {
	norm, err := c.in.tx.URLs.Norm(id)
	if err != nil {
		return nil, err
	}
	known, err := c.in.tx.URLs.Forms(id)
	if err != nil {
		return nil, err
	}
	forms = forms[:min(len(forms), schema.MaxForms)]
	step := &ring.Step{
		Host: h.ID, For: h.ID, ID: id, URLKind: c.in.store.Kind(id), Norm: norm, Timeout: c.in.set.Timeout(tries),
		Settings: c.in.set, Visit: ring.Progress{Retries: tries, Forms: forms[1:], Known: known.All(),
			Knew: known.Set(), Heads: h.Heads, LeftOwn: c.quotas.ownLeft[id]},
	}
	step.Ask(forms[0])
	return step, c.conditional(step)
}

// wanted reports whether lists and rules allow a request for a URL.
func (c *pageChooser) wanted(id schema.ID) (bool, error) {
	norm, err := c.in.tx.URLs.Norm(id)
	if err != nil || !c.in.set.Scope.Classify(norm).Class.Visitable() {
		return false, err
	}
	if !c.in.isPage(id) { // without a depth, it belonged to a former origin
		depth, _ := c.in.store.Depth(id)
		return depth != kv.NoDepth && c.in.set.Config.Crawler.Sitemaps != config.SitemapsOff, nil
	}
	_, refused := c.in.set.Scope.Refuse(weburl.Split(norm))
	return !refused, nil
}

// denied returns the visit of a page if robots.txt forbids all its forms.
func (c *pageChooser) denied(id schema.ID, form string, v robots.Verdict) (*schema.Visit, error) {
	denied := judge.Denied(v)
	visit := &schema.Visit{
		URL: id, Run: c.in.run.ID, At: c.in.now.Truncate(time.Millisecond), State: denied.State, Reason: denied.Reason,
		Rule: denied.Rule, Form: form, Length: -1,
	}
	known, err := c.in.tx.URLs.Forms(id)
	visit.Knew = known.Set()
	return visit, err
}

// conditional makes a request conditional on a change since the page was last processed. For a sitemap that is possible
// if everything that it named was recorded, so that nothing is lost by not reading it again; for a page, unless this
// run would record something that the last visit left out. A page that is rendered is always requested in full.
func (c *pageChooser) conditional(step *ring.Step) error {
	seq := c.in.latest(step.ID)
	if c.in.neverAsked(step.ID) {
		return nil
	}
	v, err := c.in.tx.Visits.At(seq)
	if err != nil || v.State != schema.Processed || v.Form != step.URL || v.RedirectTo != 0 ||
		v.ETag == "" && v.LastModified == "" {
		return err
	}
	if v.Rendering != 0 || c.in.set.MayRender(weburl.Host(step.Norm), v.Shell) {
		return nil // an unchanged page says nothing about what its scripts load
	}
	if step.URLKind == schema.KindSitemap && (v.Distinct != len(v.Sitemap) || v.Children != len(v.Links)) {
		return nil
	}
	if step.URLKind == schema.KindPage {
		if lacks, err := c.cutter.lacks(v, weburl.Host(step.Norm)); err != nil || lacks {
			return err
		}
	}
	step.Kind, step.ETag, step.Modified = ring.Get, v.ETag, v.LastModified
	if step.Visit.Revisit = v.Stand; v.Stand == 0 {
		step.Visit.Revisit = seq
	}
	return nil
}
