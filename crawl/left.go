package crawl

import (
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A leftPage is one that earlier runs left waiting, with the depth that the links
// which stand give it.
type leftPage struct {
	id    schema.ID
	depth uint8
}

// takeUp queues again what earlier runs left waiting (SPEC 9), once a generation of
// depths. Where ctx is done before it is, the next start repeats it.
func (r *recorder) takeUp(ctx context.Context) error {
	s, err := survey.New(r.store)
	if err != nil {
		return err
	}
	var left []leftPage
	err = s.EachLeft(func(id schema.ID, depth uint8) { left = append(left, leftPage{id, depth}) })
	for more := true; more && err == nil && ctx.Err() == nil; {
		n := min(len(left), r.relaxed)
		more = n < len(left)
		err = r.store.Update(func(tx *kv.Tx) error {
			t, err := r.turn(tx)
			for i := 0; i < n && err == nil; i++ {
				err = t.takeUp(left[i])
			}
			if err != nil {
				return err
			}
			return errors.Join(tx.SetPending(t.work), tx.SetReapply(more))
		})
		left = left[n:]
	}
	return err
}

// takeUp lets one page take its old place, but no depth, which may have changed: it
// has one, and its links count, when the run reaches it. One that was visited since
// belongs to an origin.
func (t *turn) takeUp(p leftPage) error {
	if t.visited(p.id) {
		return t.relax(p.id, 0, 0, false)
	}
	return t.push(p.id, pagePriority(p.depth))
}

// enter notes that a page which is being visited was left waiting by an earlier run,
// and brings it into the run if it belongs to an origin: it is at depth 0 however it
// was found, and as near as a seed.
func (t *turn) enter(v *schema.Visit) error {
	v.Left = false
	switch seq := t.store.Latest(v.URL); {
	case t.run.ID == 1, t.store.Kind(v.URL) != schema.KindPage, seq != 0 && seq < t.run.FirstVisit:
		return nil
	case seq != 0: // asked once more
		before, err := t.tx.Visit(seq)
		v.Left = err == nil && before.Left
		return err
	}
	u, err := t.tx.URL(v.URL)
	if err != nil {
		return err
	}
	if v.Left = u.FirstRun < t.run.ID; v.Left && t.facts(v.URL).own {
		t.tx.SetDepth(v.URL, 0, 0)
	}
	return nil
}

// left reports whether a page that stands in a line, or waits for another try, was
// left there by an earlier run, and not reached since.
func (t *turn) left(id schema.ID) bool {
	depth, _ := t.store.Depth(id)
	return t.run.ID > 1 && depth == kv.NoDepth && t.store.Latest(id) == 0
}
