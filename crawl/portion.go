package crawl

import (
	"context"

	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
)

// An Allotment is how a shard uses its portion of max-pages.
type Allotment struct {
	record.Allotment
	Idle bool // nothing is left to do
}

// Spare reports whether a shard has more pages allotted than it needs.
func (a *Allotment) Spare() bool { return a.Idle && !a.Starved && a.Portion > a.Used }

// Allotment returns how a shard uses its portion; nil: its pages are not limited. It may be called
// from any goroutine.
func (c *Crawl) Allotment(ctx context.Context) (a *Allotment, err error) {
	if c.member == nil {
		return nil, ErrPart
	}
	err = c.query(ctx, func(*kv.Store) error {
		if has := c.committer.recorder.Allotment(); has != nil {
			a = &Allotment{Allotment: *has}
		}
		return nil
	})
	if err != nil || a == nil {
		return nil, err
	}
	st, err := c.Status()
	a.Idle = st.Idle
	return a, err
}

// Allot sets the portion of max-pages of a shard, and returns when that is committed. A portion is
// never less than what the shard has used and requested. Allot may be called from any goroutine.
func (c *Crawl) Allot(ctx context.Context, p ring.Portion) error {
	if c.member == nil {
		return ErrPart
	}
	return c.member.desk(ctx).commit(submission{portion: &p})
}

// settled reports, between two commits, whether a shard that has nothing to do needs no more of
// max-pages and holds back no part that others may need.
func (c *Crawl) settled() bool {
	has := c.committer.recorder.Allotment()
	return has == nil || has.Settled()
}
