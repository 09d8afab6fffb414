package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
)

// Reclassify derives classes, depths and queues again, in place of [Recorder.Begin]. Afterwards the last run has the
// configuration of the recorder. A completed run stays completed unless pages have come within its reach.
//
// It is idempotent; if it is killed, the next Reclassify or Begin repeats it. A store without a run is an error, see
// [survey.ErrNoRun].
func (r *Recorder) Reclassify() (schema.Run, error) {
	before, _, err := lastRun(r.in.store)
	if err != nil {
		return before, err
	}
	if _, err := r.begin(context.Background(), true); err != nil {
		return before, err
	}
	waits, err := r.waits()
	if err != nil {
		return before, err
	}
	run := &r.in.run
	run.Running = before.Running
	switch {
	case before.Status != schema.RunCompleted:
		run.Status, run.Walked, run.End, run.Finished = schema.RunInterrupted, false, before.End, before.Finished
	case waits:
		run.Status, run.Walked, run.End = schema.RunInterrupted, false, schema.End{Kind: schema.EndReclassified}
		run.Finished = time.Now().Truncate(time.Second)
	default:
		run.Status, run.Walked, run.End, run.Finished = before.Status, before.Walked, before.End, before.Finished
	}
	return *run, r.in.store.Update(func(tx *kv.Tx) error {
		return errors.Join(tx.Runs.Put(*run), tx.Meta.SetReapply(false))
	})
}

// halfReclassified reports whether Reclassify was killed while working on a completed run.
func halfReclassified(store *kv.Store) (left bool, err error) {
	err = store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 || runs[len(runs)-1].Status != schema.RunCompleted {
			return err
		}
		left = tx.Meta.Reapply()
		return nil
	})
	return left, err
}

// lastRun returns the last run, and all of them.
func lastRun(store *kv.Store) (run schema.Run, runs []schema.Run, err error) {
	err = store.View(func(tx *kv.Tx) (err error) {
		runs, err = tx.Runs.All()
		if err == nil && len(runs) == 0 {
			err = survey.ErrNoRun
		}
		if err == nil {
			run = runs[len(runs)-1]
		}
		return err
	})
	return run, runs, err
}

// waits reports whether the run has requests left.
func (r *Recorder) waits() (bool, error) {
	if r.quotas.usedUp() {
		return false, nil
	}
	s, err := survey.New(r.in.store)
	if err != nil {
		return false, err
	}
	counts, err := s.Counts()
	if err != nil || counts.ByState[schema.Queued] > 0 {
		return err == nil, err
	}
	return sitemapsWait(&r.in)
}

// sitemapsWait reports whether sitemap files are queued at hosts that still get requests.
func sitemapsWait(in *runState) (found bool, err error) {
	err = in.store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if h.Waiting == 0 || h.Run == in.run.ID && h.RunGivenUp != schema.NotGivenUp {
				return true, nil
			}
			err := tx.Frontier.Walk(h, func(_ uint8, id schema.ID) bool {
				found = !in.isPage(id) && !in.visited(id)
				return !found
			})
			return !found, err
		})
	})
	return found, err
}

// Resume makes the recorder work on the last run, in place of [Recorder.Begin], to read its records again.
func (r *Recorder) Resume() (err error) {
	run, runs, err := lastRun(r.in.store)
	r.in.run, r.in.earlier = run, earlierOf(&run, runs)
	return err
}

// A Reading is a page whose answer is read again.
type Reading struct {
	ID    schema.ID
	Norm  string
	Visit *schema.Visit // the last one, in this run
}

// A Reader returns what a visitor would make of a page's answer; nil: the answer is not available. more is false if the
// transaction is large enough.
type Reader func(Reading) (o *ring.Outcome, more bool)

// Reread reads answers again and records the results in one transaction. It calls read for the pages of the run, by id
// starting at from, until read returns that there is no more. If the links or facts of an outcome differ from those
// recorded, it is recorded as a visit without a request, and the next [Recorder.Reclassify] derives the depths again.
// Reread returns the next id, and how many pages differed.
func (r *Recorder) Reread(from schema.ID, read Reader) (next schema.ID, changed int, err error) {
	last := schema.ID(r.in.store.URLs())
	err = r.in.store.Update(func(tx *kv.Tx) error {
		t, err := r.open(tx)
		more := true
		for next = from; next <= last && more && err == nil; next++ {
			var other bool
			if other, more, err = t.reread(next, read); other {
				changed++
			}
		}
		return err
	})
	return next, changed, err
}

func (t *turn) reread(id schema.ID, read Reader) (changed, more bool, err error) {
	if !t.in.isPage(id) || !t.in.visited(id) {
		return false, true, nil
	}
	before, err := t.in.tx.Visits.At(t.in.latest(id))
	if err != nil || before.State != schema.Processed {
		return false, true, err
	}
	norm, err := t.in.tx.URLs.Norm(id)
	if err != nil {
		return false, true, err
	}
	o, more := read(Reading{ID: id, Norm: norm, Visit: before})
	if o == nil {
		return false, more, nil
	}
	var after *schema.Visit
	if o.Wall != nil {
		changed = true
		after, err = t.unmask(o, before)
	} else if after, err = t.redraft(o, before); err == nil {
		changed, err = differs(t.in.tx, before, after)
	}
	if err == nil && changed {
		_, err = t.in.tx.Visits.Add(after)
		err = errors.Join(err, t.in.tx.Meta.SetReapply(true)) // its depth travels again
	}
	return changed, more, errors.Join(err, t.reopen())
}

// unmask returns the visit of a page whose answer was a wall all along. It keeps what the last visit before that answer
// found, if there was one.
func (t *turn) unmask(o *ring.Outcome, before *schema.Visit) (*schema.Visit, error) {
	wall := *before
	wall.State, wall.Reason = schema.Failed, schema.Reason{Cause: schema.CauseChallenge, Detail: o.Wall.Vendor}
	wall.Kept, wall.Requests, wall.Stand = true, 0, 0
	wall.Run, wall.Links, wall.Content, wall.Preferences = t.in.run.ID, nil, schema.Content{}, ""
	after, err := t.builder.walled(o, &wall, before.Prev)
	if err == nil {
		after.Kept = true
		if after == &wall {
			after.StoredPath = ""
		}
	}
	return after, err
}

// redraft returns the visit of a page with the links and facts of an outcome, as under the present configuration.
func (t *turn) redraft(o *ring.Outcome, before *schema.Visit) (*schema.Visit, error) {
	after := *before
	after.Kept, after.Requests, after.Stand = true, 0, 0
	after.Run, after.Links = t.in.run.ID, nil
	after.Content = t.builder.answer(o, judge.Verdict{State: before.State}).Content
	robots := preference.From(before.Preferences, preference.Robots)
	after.Preferences = preferencesOf(after.Preferences, robots)
	err := t.builder.links(o, &after)
	return &after, err
}

// differs compares what was extracted with what is recorded.
func differs(tx *kv.Tx, before, after *schema.Visit) (bool, error) {
	from := before
	if before.Stand != 0 {
		var err error
		if from, err = tx.Visits.At(before.Stand); err != nil {
			return false, err
		}
	}
	if err := tx.Visits.Anchors(from); err != nil {
		return false, err
	}
	slices.SortFunc(after.Links, func(a, b schema.Link) int { return int(int64(a.To) - int64(b.To)) })
	return !slices.Equal(from.Links, after.Links) || !from.Content.Same(after.Content), nil
}
