package node

import (
	"context"
	"slices"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

// portions divide max-pages among the shards of a run. A shard gets more first in the charter and then in its
// file, and gives back first in its file. The sum over all files therefore never exceeds max-pages, unless the hub
// loses its last writes and pages are given out again before a node that has seen those writes notices.
type portions struct {
	Of      []portion `json:"of"`      // by shard
	Changes uint64    `json:"changes"` // in all runs; fewer than before: the hub has lost some
}

// A portion is a shard's part of max-pages.
type portion struct {
	Pages   int  `json:"pages"`             // that its run may visit; unknown: not reported since it was forgotten
	Spent   bool `json:"spent"`             // it has visited them all, or its run is over
	Visited int  `json:"visited,omitempty"` // pages, of a run that is over
}

// visited returns how many pages a shard visited in a run that is over for it. known is false if that was not
// reported.
func (c *charter) visited(shard int) (pages int, known bool) {
	one := c.Portions.Of[shard]
	return one.Visited, c.Over[shard] && one.Spent && (one.Visited > 0 || one.Pages == 0)
}

// unknown is the portion of a shard that must report what it has before any shard gets more.
const unknown = -1

func newPortions(shards int) portions { return portions{Of: make([]portion, shards)} }

// begin takes back all pages for the next run.
func (p *portions) begin() {
	clear(p.Of)
	p.Changes++
}

// forget makes every shard report its portion again.
func (p *portions) forget() {
	for n := range p.Of {
		p.Of[n] = portion{Pages: unknown}
	}
	p.Changes++
}

// left returns how many pages are not given out if max-pages is most. known: all shards have reported their portions.
func (p *portions) left(most int) (left int, known bool) {
	left, known = most, true
	for _, one := range p.Of {
		if one.Pages == unknown {
			known = false
			continue
		}
		left -= one.Pages
	}
	return max(0, left), known
}

// final reports whether all pages are given out and every shard has spent its portion.
func (p *portions) final(most int) bool {
	left, known := p.left(most)
	return known && left == 0 && !slices.ContainsFunc(p.Of, func(one portion) bool { return !one.Spent })
}

// set records the portion of a shard, and reports whether that changed it.
func (p *portions) set(shard int, to portion) bool {
	if p.Of[shard] == to {
		return false
	}
	p.Of[shard] = to
	p.Changes++
	return true
}

// reconcile adjusts a shard's portion to what the shard has done with it, and reports whether that changed it.
// returned: the shard has just given back what it does not need. A shard gets more before its portion is used up.
func (p *portions) reconcile(shard, most int, has *crawl.Allotment, returned bool) bool {
	own := p.Of[shard]
	left, known := p.left(most)
	size := left/(2*len(p.Of)) + 1
	switch {
	case own.Pages < has.Portion || returned:
		return p.set(shard, portion{Pages: has.Portion})
	case own.Pages > has.Portion: // it has been given more, but does not know yet
		return false
	case known && left > 0 && !has.Idle && has.Portion-has.Used-has.Open < (size+1)/2, known && left > 0 && has.Starved:
		return p.set(shard, portion{Pages: own.Pages + min(size, left)})
	case known && left == 0 && has.Used == has.Portion:
		return p.set(shard, portion{Pages: own.Pages, Spent: true})
	}
	return false
}

// An allotted crawl keeps to a portion of max-pages. [crawl.Crawl] implements it.
type allotted interface {
	Allotment(context.Context) (*crawl.Allotment, error)
	Allot(context.Context, ring.Portion) error
}

// An allotter makes a shard keep to its portion of max-pages.
type allotter struct {
	member *member
	cfg    *configured
	shard  int
	walk   allotted
}

// run adjusts the portion periodically. It returns an error when ctx is done or the crawl has ended, and
// [lease.ErrLost] when the shard is no longer held.
func (a *allotter) run(ctx context.Context, held func() bool) error {
	for held() {
		if err := a.once(ctx); err != nil {
			return err
		}
		if err := sleep(ctx, a.member.timing.Renew/10); err != nil {
			return err
		}
	}
	return lease.ErrLost
}

func (a *allotter) once(ctx context.Context) error {
	cfg, number := a.cfg.now()
	has, err := a.walk.Allotment(ctx)
	most := cfg.Crawler.MaxPages
	if err != nil || has == nil || most <= 0 {
		return err
	}
	spare := has.Spare()
	returned := spare || a.member.get().Portions.Of[a.shard].Pages == unknown
	if returned { // what it has used and asked for stays
		if err := a.walk.Allot(ctx, ring.Portion{Final: spare && has.Final}); err != nil {
			return err
		}
		if has, err = a.walk.Allotment(ctx); err != nil || has == nil {
			return err
		}
	}
	c, err := a.member.share(ctx, number, func(p *portions) (changed, same bool) {
		changed = p.reconcile(a.shard, most, has, returned)
		return changed, p.Of[a.shard].Pages == has.Portion && p.final(most) == has.Final
	})
	if err != nil || c == nil {
		return err
	}
	own, final := c.Portions.Of[a.shard].Pages, c.Portions.final(most)
	if own > has.Portion || final != has.Final {
		return a.walk.Allot(ctx, ring.Portion{Pages: max(own, has.Portion), Final: final})
	}
	return nil
}
