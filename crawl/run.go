package crawl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// ErrIdentity reports a changed [url] section: the pages of the state file were
// told apart by other rules.
var ErrIdentity = errors.New("[url] differs from the state file's")

const metaIdentity = "url identity"

// Begun says which run a crawl continues or begins.
type Begun struct {
	Run     schema.Run
	Resumed bool
	Changed bool       // the configuration is not the one the run had
	Before  schema.Run // the run before, if a new one begins; its ID is 0 if there is none
}

// begin continues the run that is not completed, else begins the next one. It is
// idempotent: a start that was killed, or that ctx ended, is repeated by the next
// one.
func (r *recorder) begin(ctx context.Context) (Begun, error) {
	var b Begun
	var reapply bool
	err := r.store.Update(func(tx *kv.Tx) error {
		err := r.checkIdentity(tx)
		if err != nil {
			return err
		}
		if reapply, err = r.chooseRun(tx, &b); err != nil {
			return err
		}
		again, err := tx.Reapply()
		if reapply = reapply || again; reapply {
			err = errors.Join(err, tx.SetReapply(true)) // until all that waits is queued
		}
		if err != nil {
			return err
		}
		if reapply {
			generation, err := tx.NewGeneration()
			if err != nil {
				return err
			}
			r.run.Generation = generation
			if err := tx.SetPending(nil); err != nil {
				return err
			}
		}
		if err := tx.PutConfig(r.run.Config, r.set.cfg.Effective()); err != nil {
			return err
		}
		return errors.Join(r.seed(tx, reapply), r.cutPages(tx))
	})
	if err != nil {
		return b, err
	}
	b.Run = r.run
	if err := r.listAgain(); err != nil {
		return b, err
	}
	if reapply {
		if err := r.takeUp(ctx); err != nil {
			return b, err
		}
	}
	return b, r.settlePending(ctx)
}

func (r *recorder) checkIdentity(tx *kv.Tx) error {
	want := r.set.cfg.URLIdentity()
	have, err := tx.Meta(metaIdentity)
	if err != nil {
		return err
	}
	if have == nil {
		return tx.PutMeta(metaIdentity, []byte(want))
	}
	if string(have) != want {
		return fmt.Errorf("%w: use --fresh, or restore strip-params and max-length", ErrIdentity)
	}
	return nil
}

// chooseRun decides which run to work on, and whether its depths must be derived
// anew.
func (r *recorder) chooseRun(tx *kv.Tx, b *Begun) (reapply bool, err error) {
	runs, err := tx.Runs()
	if err != nil {
		return false, err
	}
	hash := r.set.cfg.Hash()
	if n := len(runs); n > 0 && (r.reclassify || runs[n-1].Status != schema.RunCompleted) {
		r.run = runs[n-1]
		b.Resumed, b.Changed = true, r.run.Config != hash
		r.run.Config, r.run.Status, r.run.Walked = hash, schema.RunRunning, r.run.Walked && !b.Changed
		if !r.run.Walked {
			r.run.Reason, r.run.Finished = "", time.Time{}
		}
		return b.Changed, nil
	}
	if n := len(runs); n > 0 {
		b.Before = runs[n-1]
	}
	r.run = schema.Run{
		ID: b.Before.ID + 1, Started: r.started.Truncate(time.Second), Config: hash,
		FirstVisit: r.store.LastSeq() + 1, Generation: r.store.Generation(),
	}
	return b.Before.ID > 0, nil
}

// seed records the seeds and queues them, at depth 0. After a new generation it
// lets depths travel again from them and from the sitemaps.
func (r *recorder) seed(tx *kv.Tx, reapply bool) error {
	t, err := r.turn(tx)
	if err != nil {
		return err
	}
	if reapply {
		if err := t.renewSitemaps(); err != nil {
			return err
		}
	}
	for _, origin := range r.set.terrain.Origins() {
		for _, raw := range origin.Seeds {
			if err := t.seedURL(raw); err != nil {
				return err
			}
		}
	}
	if err := tx.SetPending(t.work); err != nil {
		return err
	}
	return tx.PutRun(r.run)
}

func (t *turn) seedURL(raw string) error {
	u, err := t.set.rules.Parse(raw)
	if err != nil {
		return err
	}
	id, err := t.intern(Target{URL: u, Hash: t.store.Hash(schema.KindPage, u.Norm)}, schema.KindPage, 0)
	if err != nil || id == 0 {
		return err
	}
	t.seeds[id] = true
	t.seedHosts[t.store.HostOf(id)] = true
	return t.relax(id, 0, 0, false)
}

// renewSitemaps has the sitemaps of every host queued again. Hosts of an origin
// that were asked in this run, and may have nothing else to do, queue theirs at
// once; files that were read in it pass their pages on without being asked.
func (t *turn) renewSitemaps() error {
	var known, ready []schema.HostID
	err := t.tx.EachHost(1, func(h *schema.Host) (bool, error) {
		if h.SitemapsRun != 0 || h.SitemapFiles != 0 {
			known = append(known, h.ID)
		}
		if h.Run == t.run.ID && !h.RobotsAt.IsZero() && t.hostFacts(h.ID).own {
			ready = append(ready, h.ID)
		}
		return true, nil
	})
	for i := 0; err == nil && i < len(known); i++ {
		err = t.forgetSitemaps(known[i])
	}
	for i := 0; err == nil && i < len(ready); i++ {
		err = t.requeueSitemaps(ready[i])
	}
	return err
}

func (t *turn) forgetSitemaps(id schema.HostID) error {
	h, err := t.tx.Host(id)
	if err != nil {
		return err
	}
	h.SitemapsRun, h.SitemapFiles = 0, 0
	t.tx.PutHost(h)
	return nil
}

func (t *turn) requeueSitemaps(id schema.HostID) error {
	h, err := t.host(id)
	if err != nil {
		return err
	}
	rules, err := t.parsedRobots(h)
	if err != nil || rules == nil {
		return err
	}
	return t.queueSitemaps(h, rules)
}

// settlePending lets depths travel on until nothing is left undone, or ctx is
// done.
func (r *recorder) settlePending(ctx context.Context) error {
	for more := true; more && ctx.Err() == nil; {
		err := r.store.Update(func(tx *kv.Tx) error {
			t, err := r.turn(tx)
			if err != nil {
				return err
			}
			err = t.relaxPending()
			more = len(t.work) > 0
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waiting returns the hosts that have something to do, to be woken when their
// full delay since the start has passed.
func (r *recorder) waiting() ([]Effect, error) {
	var effects []Effect
	err := r.store.View(func(tx *kv.Tx) error {
		return tx.EachHost(1, func(h *schema.Host) (bool, error) {
			if e, ok := r.atStart(h); ok {
				effects = append(effects, e)
			}
			return true, nil
		})
	})
	return effects, err
}

func (r *recorder) atStart(h *schema.Host) (Effect, bool) {
	queued := h.Waiting > 0 && h.Generation == r.store.Generation()
	retries := len(h.Retries) > 0 && h.Run == r.run.ID
	if !queued && !retries || r.tooSlow(h) {
		return Effect{}, false
	}
	clampClocks(r.set.cfg, h, r.started)
	e := Effect{Host: h.ID, Wake: true, Ready: r.started, Limit: 1, Priority: 255, Suspension: h.Suspension}
	if live, ok := r.live[h.ID]; ok {
		e.Ready = live.ready
	} else if h.ID <= r.known {
		e.Ready = r.started.Add(fullDelay(r.set.cfg, h))
		r.liveOf(h.ID).ready = e.Ready
	}
	if h.SuspendedTo.After(e.Ready) && h.SuspendedTo.Sub(r.started) <= r.set.cfg.Politeness.MaxSuspension {
		e.Ready = h.SuspendedTo // else the host is given up when it is planned
	}
	if queued && len(h.Queues) > 0 {
		e.Priority = h.Queues[0].Priority
	}
	return e, true
}

// end writes down that the walk is over, or was interrupted, when and why.
func (r *recorder) end(walked bool, reason string) error {
	r.tick()
	r.run.Walked, r.run.Reason, r.run.Finished = walked, reason, time.Now().Truncate(time.Second)
	if !walked {
		r.run.Status = schema.RunInterrupted
	}
	return r.store.Update(func(tx *kv.Tx) error { return tx.PutRun(r.run) })
}

// finish writes down that nothing is left to do, and why.
func (r *recorder) finish() error {
	reason, err := r.completion()
	return errors.Join(err, r.end(true, reason))
}

// completion says why nothing is left to do.
func (r *recorder) completion() (string, error) {
	if limit := r.set.cfg.Crawler.MaxPages; limit > 0 && r.run.Pages >= limit {
		return fmt.Sprintf("max-pages = %d", limit), nil
	}
	cut := 0
	err := r.store.View(func(tx *kv.Tx) error {
		return tx.EachHost(1, func(h *schema.Host) (bool, error) {
			waits, err := r.cutByBudget(tx, h)
			if waits {
				cut++
			}
			return true, err
		})
	})
	switch {
	case cut == 1:
		return "what is left is beyond the budget of a host", err
	case cut > 1:
		return fmt.Sprintf("what is left is beyond the budgets of %d hosts", cut), err
	}
	return "the frontier is empty", err
}

// cutByBudget reports whether a host has used its budget up and still has a page
// that waits and was never visited.
func (r *recorder) cutByBudget(tx *kv.Tx, h *schema.Host) (waits bool, err error) {
	if h.Run != r.run.ID || h.Generation != r.store.Generation() || h.RunGivenUp != schema.NotGivenUp ||
		h.RunRequests < r.set.terrain.Budget(h.Name, r.set.cfg.Crawler.MaxDomainRequests) {
		return false, nil
	}
	err = tx.Walk(h, func(_ uint8, id schema.ID) bool {
		waits = r.store.Latest(id) == 0
		return !waits
	})
	return waits, err
}

// keepClocks returns the hosts that may not be asked yet, with nothing else of
// what was being done.
func (r *recorder) keepClocks() map[schema.HostID]*liveHost {
	now := time.Now()
	kept := map[schema.HostID]*liveHost{}
	for id, l := range r.live {
		if l.ready.After(now) {
			kept[id] = &liveHost{ready: l.ready, resolved: l.resolved}
		}
	}
	return kept
}
