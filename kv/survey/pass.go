package survey

import (
	"context"
	"fmt"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// until ends long walks over the records when ctx is done.
func (c *core) until(ctx context.Context) { c.ctx = ctx }

// live returns why a walk over the records should end; nil: it should not.
func (c *core) live() error {
	if c.ctx == nil || c.ctx.Err() == nil {
		return nil
	}
	return context.Cause(c.ctx)
}

// often is how many pages pass between two looks at that, where a page costs little.
const often = 1 << 14

// A standFunc is called for a page with the links that stand, by ascending target and
// without anchors; they are valid while it runs. NoFollow is what the page itself asks.
type standFunc func(l *kv.Linked) error

func everyPage(schema.ID) bool { return true }

// eachStanding calls f for every page that is wanted and has links that stand to what to holds
// for, nil: to anything, in the order in which they were written: the file is read from one
// end to the other, which is many times as fast as looking up the visits of one page after the
// other.
func (c *core) eachStanding(want, to func(page schema.ID) bool, f standFunc) error {
	if err := c.findStands(); err != nil {
		return err
	}
	stands := func(seq schema.Seq, page schema.ID) bool { return c.holds(seq, page) && want(page) }
	return c.view(func(tx *kv.Tx) error {
		return tx.Visits.EachLinks(stands, to, func(l *kv.Linked) error {
			if err := c.live(); err != nil || len(l.Links) == 0 {
				return err
			}
			if to := l.Links[len(l.Links)-1].To; int(to) > c.urls() {
				return unknown(l.URL, to)
			}
			return f(l)
		})
	})
}

// eachTargets is eachStanding of every page without what is known of links but where they
// lead.
func (c *core) eachTargets(f func(l *kv.Targeted) error) error {
	if err := c.findStands(); err != nil {
		return err
	}
	return c.view(func(tx *kv.Tx) error {
		return tx.Visits.EachTargets(1, c.holds, func(l *kv.Targeted) error {
			if err := c.live(); err != nil || len(l.To) == 0 {
				return err
			}
			if to := l.To[len(l.To)-1]; int(to) > c.urls() {
				return unknown(l.URL, to)
			}
			return f(l)
		})
	})
}

// unknown reports with [kv.ErrDamaged] that a page names a URL which its run could not know.
func unknown(page, to schema.ID) error {
	return fmt.Errorf("%w: page %d names URL %d, which its run does not know", kv.ErrDamaged, page, to)
}

// holds reports whether a visit holds the links of a page that stand.
func (c *core) holds(seq schema.Seq, page schema.ID) bool {
	return c.isPage(page) && c.stands(page) == seq
}

// stands returns the visit that holds the links of a page that stand; 0: none does.
func (c *core) stands(page schema.ID) schema.Seq {
	if c.stand != nil && c.stand[page] != 0 {
		return schema.Seq(c.stand[page])
	}
	return c.latest(page)
}

// stander notes visits whose links stand for those of the last visit of a page.
type stander struct{ stand []uint32 }

// note notes that of the last visit of a page; 0: its own links stand.
func (s *stander) note(c *core, page schema.ID, stand schema.Seq) {
	if stand == 0 {
		return
	}
	if s.stand == nil {
		s.stand = make([]uint32, c.urls()+1)
	}
	s.stand[page] = uint32(stand)
}

// findStands notes the visits that hold the links that stand, unless no page of a file has
// been visited twice.
func (c *core) findStands() error {
	if c.stood = c.stood || c.visitedOnce(); c.stood {
		return nil
	}
	var s stander
	last := func(seq schema.Seq, id schema.ID) bool { return c.isPage(id) && c.latest(id) == seq }
	err := c.view(func(tx *kv.Tx) error {
		return tx.Visits.EachTargets(1, last, func(l *kv.Targeted) error {
			s.note(c, l.URL, l.Stand)
			return c.live()
		})
	})
	if err == nil {
		c.stand, c.stood = s.stand, true
	}
	return err
}

// visitedOnce reports whether no URL has two visits.
func (c *core) visitedOnce() bool {
	visited := schema.Seq(0)
	for id := schema.ID(1); int(id) <= c.store.URLs(); id++ {
		if c.store.Latest(id) != 0 {
			visited++
		}
	}
	return visited == c.store.LastSeq()
}
