package record

import (
	"github.com/sumi-ripple/ripple/schema"
)

// stay settles pages that wait at a host which is not requested any more and that are kept without
// a request: pages that are young enough and, if spent is set because the budget is used up or the
// host shows only walls, all pages that an earlier run has visited.
func (c *pageChooser) stay(h *schema.Host, live *liveHost, spent bool) (decision, error) {
	c.begin()
	ids, err := c.revisits(h, live, spent)
	if err != nil || len(ids) == 0 {
		return decision{}, err
	}
	for _, id := range ids {
		if depth, hops := c.in.store.Depth(id); !c.in.within(depth, hops) || c.passed[id] {
			continue
		}
		inAnyCase := spent && c.in.isPage(id)
		kept, err := c.settleKept(id, inAnyCase)
		if err != nil {
			return decision{}, err
		}
		c.passed[id] = kept || inAnyCase
	}
	waiting := h.Waiting
	d := decision{settle: c.settle}
	if err := c.trim(h, live, nil); err != nil {
		return decision{}, err
	}
	if len(ids) >= maxVerdicts && (len(d.settle) > 0 || h.Waiting < waiting) {
		d.wake = c.in.now
	}
	return d, nil
}

// revisits returns the first URLs in the line of a host that an earlier run has visited
// and this one has not, with those in retry if they are wanted too.
func (c *pageChooser) revisits(h *schema.Host, live *liveHost, retries bool) (ids []schema.ID, err error) {
	old := func(id schema.ID) bool { return c.in.known(id) && !live.busy(id) }
	for _, r := range h.Retries {
		if retries && old(r.URL) {
			ids = append(ids, r.URL)
		}
	}
	if n := len(h.Queues); n == 0 || h.Queues[n-1].Priority < schema.PriorityRevisit {
		return ids, nil
	}
	err = c.in.tx.Frontier.Walk(h, func(_ uint8, id schema.ID) bool {
		if old(id) {
			ids = append(ids, id)
		}
		return len(ids) < maxVerdicts
	})
	return ids, err
}

// stays reports whether a page is kept as its last visit has left it, unless another form has been
// found. A page that its sitemap declares unchanged is not kept if it lacks something that this run
// would not leave out.
func (c *pageChooser) stays(v *schema.Visit, anyCase bool) (bool, error) {
	switch {
	case c.in.young(v) && v.Final():
		return true, nil
	case v.State != schema.Processed:
		return false, nil
	case anyCase:
		return true, nil
	case !c.listings.spares(c.in, v):
		return false, nil
	}
	host, err := c.in.tx.Hosts.Name(c.in.store.HostOf(v.URL))
	if err != nil {
		return false, err
	}
	lacks, err := c.cutter.lacks(v, host)
	return !lacks, err
}

// settleKept keeps a page that an earlier run has visited: if it is young enough or, with anyCase
// set, if it was processed.
func (c *pageChooser) settleKept(id schema.ID, anyCase bool) (bool, error) {
	if !c.in.known(id) {
		return false, nil
	}
	v, err := c.in.tx.Visits.At(c.in.latest(id))
	if err != nil {
		return false, err
	}
	if stays, err := c.stays(v, anyCase); err != nil || !stays {
		return false, err
	}
	if open, err := c.ledger.reopened(v); err != nil || open {
		return false, err
	}
	kept := c.in.carriedOver(v)
	kept.Kept, kept.Requests = true, 0
	c.settle = append(c.settle, kept)
	return true, nil
}

// carriedOver returns a visit in this run that carries over everything an earlier visit found.
func (in *runState) carriedOver(before *schema.Visit) *schema.Visit {
	v := *before
	v.Run = in.run.ID
	if in.isPage(v.URL) { // a sitemap refers to itself, with everything that it named
		v.Links, v.Content = nil, v.Brief()
		if v.Stand == 0 {
			v.Stand = before.Seq
		}
	}
	return &v
}
