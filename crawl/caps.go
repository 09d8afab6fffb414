package crawl

import (
	"errors"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

// Counters beside those of the caps.
const (
	capSiteHosts    = "hosts of a site"
	capSiteOverflow = "hosts of a site not recorded"
)

// seedsOnly reports whether a host asks for so long a delay that only seeds are
// worth it. Its other pages keep their places, should it ask for less one day.
func (r *recorder) seedsOnly(h *schema.Host) bool {
	return h.CrawlDelay > r.set.cfg.Politeness.MaxCrawlDelay
}

// tooSlow reports whether no page of a host is worth its delay.
func (r *recorder) tooSlow(h *schema.Host) bool { return r.seedsOnly(h) && !r.seedHosts[h.ID] }

// errHeld keeps a page waiting whose group is full only with visits that are out:
// one of them may come to nothing.
var errHeld = errors.New("held by visits that are out")

// refused reports whether a full cap keeps a page from being visited.
func (t *turn) refused(id schema.ID, h *schema.Host) (bool, error) {
	caps, err := t.caps(id, h)
	if err != nil {
		return false, err
	}
	for _, c := range caps {
		n, err := t.tx.Caps(c.Rule, c.Group)
		switch {
		case err != nil || n >= c.Limit:
			return true, err
		case n+t.reserved[c] >= c.Limit:
			if t.held[c] == nil {
				t.held[c] = map[schema.HostID]bool{}
			}
			t.held[c][h.ID] = true
			return false, errHeld
		}
	}
	return false, nil
}

// caps returns the counters that a visit of the page adds to.
func (t *turn) caps(id schema.ID, h *schema.Host) ([]terrain.Cap, error) {
	u, err := t.tx.URL(id)
	if err != nil {
		return nil, err
	}
	return t.set.terrain.Caps(h.Name, u.PathQuery), nil
}

// reserve counts a visit that is about to be asked for, so that visits that are
// open at the same time do not exceed a cap together.
func (t *turn) reserve(step *Step, h *schema.Host) error {
	if step.URLKind != schema.KindPage {
		return nil
	}
	if err := t.admit(h); err != nil {
		return err
	}
	caps, err := t.caps(step.ID, h)
	if err != nil {
		return err
	}
	t.reservedPages++
	for _, c := range caps {
		t.reserved[c]++
	}
	step.Visit.Reserved = caps
	return nil
}

// release ends the reservation of a visit that is over, or that waits anew.
func (t *turn) release(step Step) {
	if step.ID == 0 || step.URLKind != schema.KindPage {
		return
	}
	t.reservedPages--
	for _, c := range step.Visit.Reserved {
		if t.reserved[c]--; t.reserved[c] <= 0 {
			delete(t.reserved, c)
		}
		for id := range t.held[c] {
			t.touch(id)
		}
		delete(t.held, c)
	}
}

// feed lets hosts go on that waited for a page of max-pages which nobody has used,
// or all that did when it is used up.
func (t *turn) feed() {
	limit := t.set.cfg.Crawler.MaxPages
	room := limit - t.run.Pages - t.reservedPages
	for id := range t.starved {
		if room--; room < 0 && t.run.Pages < limit {
			break
		}
		delete(t.starved, id)
		t.touch(id)
	}
}

// countCaps adds a visit to the counters of its groups.
func (t *turn) countCaps(step Step) error {
	for _, c := range step.Visit.Reserved {
		if err := t.tx.AddCap(c.Rule, c.Group, t.run.ID); err != nil {
			return err
		}
	}
	return nil
}

// admit counts a host that is about to be asked for its site, once a run.
func (t *turn) admit(h *schema.Host) error {
	if h.Admitted {
		return nil
	}
	h.Admitted = true
	t.tx.PutHost(h)
	limit := t.set.cfg.Crawler.MaxSubdomains
	if limit <= 0 {
		return nil
	}
	c := terrain.SubdomainCap(h.Name, limit)
	return t.tx.AddCap(c.Rule, c.Group, t.run.ID)
}

// shutOut reports whether max-subdomains keeps the whole host from being asked.
func (t *turn) shutOut(h *schema.Host) (bool, error) {
	limit := t.set.cfg.Crawler.MaxSubdomains
	if limit <= 0 || h.Admitted {
		return false, nil
	}
	c := terrain.SubdomainCap(h.Name, limit)
	n, err := t.tx.Caps(c.Rule, c.Group)
	return n >= limit, err
}

// keep records that a page that an earlier run has visited stands as it is: because
// it is young enough, or in any case.
func (t *turn) keep(id schema.ID, h *schema.Host, anyCase bool) (bool, error) {
	seq := t.store.Latest(id)
	if seq == 0 || seq >= t.run.FirstVisit {
		return false, nil
	}
	v, err := t.tx.Visit(seq)
	if err != nil || v.State != schema.Processed || !anyCase && !t.stands(v) {
		return false, err
	}
	kept := *v
	kept.Run, kept.Kept, kept.Requests, kept.Links, kept.Facts = t.run.ID, true, 0, nil, nil
	if kept.Stand == 0 {
		kept.Stand = seq
	}
	return true, t.add(h, &kept)
}

// sitemapWaits reports whether the first waiting URL of a host is a sitemap, which
// counts for no budget.
func (t *turn) sitemapWaits(h *schema.Host) bool {
	return len(h.Queues) > 0 && h.Queues[0].Priority == prioritySitemap
}

// spent reports whether the run has no visit left for the pages of a host: its
// budget, or that of the run, is used up, with nothing open that counts.
func (t *turn) spent(h *schema.Host) bool {
	limit := t.set.cfg.Crawler.MaxPages
	return h.RunRequests >= t.budget(h) || limit > 0 && t.run.Pages >= limit && h.RunGivenUp == schema.NotGivenUp
}

// keepWaiting settles what stands as it is and waits at a host that is not asked
// any more: what is young enough, and all that an earlier run has visited if what the
// run has for it is spent. It returns when to go on, zero if all is done.
func (t *turn) keepWaiting(h *schema.Host, live *liveHost, spent bool) (time.Time, error) {
	ids, err := t.revisits(h, live, spent)
	if err != nil || len(ids) == 0 {
		return time.Time{}, err
	}
	settled, kept := map[schema.ID]bool{}, false
	for _, id := range ids {
		if depth, hops := t.store.Depth(id); !t.within(depth, hops) {
			continue
		}
		inAnyCase := spent && t.store.Kind(id) == schema.KindPage
		ok, err := t.keep(id, h, inAnyCase)
		if err != nil {
			return time.Time{}, err
		}
		settled[id], kept = ok || inAnyCase, kept || ok
	}
	waiting := h.Waiting
	err = t.trim(h, live, settled, nil)
	if all := len(ids) < maxVerdicts; err != nil || all || !kept && h.Waiting == waiting {
		return time.Time{}, err
	}
	return t.now, nil
}

// revisits returns the first URLs in the line of a host that an earlier run has
// visited and this one has not, with those in retry if they are wanted too.
func (t *turn) revisits(h *schema.Host, live *liveHost, retries bool) (ids []schema.ID, err error) {
	old := func(id schema.ID) bool {
		seq := t.store.Latest(id)
		return seq != 0 && seq < t.run.FirstVisit && !slices.Contains(live.open, id)
	}
	for _, r := range h.Retries {
		if retries && old(r.URL) {
			ids = append(ids, r.URL)
		}
	}
	if n := len(h.Queues); n == 0 || h.Queues[n-1].Priority < priorityRevisit {
		return ids, nil
	}
	err = t.tx.Walk(h, func(_ uint8, id schema.ID) bool {
		if old(id) {
			ids = append(ids, id)
		}
		return len(ids) < maxVerdicts
	})
	return ids, err
}

// conditional makes a step ask only for what has changed since the page was last
// processed.
func (t *turn) conditional(step *Step) error {
	seq := t.store.Latest(step.ID)
	if seq == 0 {
		return nil
	}
	v, err := t.tx.Visit(seq)
	if err != nil || v.State != schema.Processed || v.Form != step.URL || v.RedirectTo != 0 || v.ETag == "" && v.LastModified == "" {
		return err
	}
	if step.URLKind == schema.KindSitemap && !sitemapConditional(v) {
		return nil
	}
	step.Kind, step.ETag, step.Modified = StepGet, v.ETag, v.LastModified
	if step.Visit.Revisit = v.Stand; v.Stand == 0 {
		step.Visit.Revisit = seq
	}
	return nil
}
