package crawl

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/disk"
)

const (
	maxBatch      = 256
	maxBatchBytes = 8 << 20
	maxBatchAge   = 100 * time.Millisecond
	maxTold       = 4096 // referrals in a commit, but for those of one letter
	maxLinger     = 20 * time.Millisecond
	commitLead    = 4 * time.Millisecond // before the clock of a host runs out
)

// A committer gathers outcomes into batches, commits each in one transaction and tells
// the scheduler what follows from it. What that is, package record says.
type committer struct {
	recorder *record.Recorder
	store    *kv.Store
	set      *ring.Settings
	log      *slog.Logger
	onFull   func(free uint64) // may be nil
	onCommit func(Commit)      // may be nil
	member   *member           // nil: the file holds a whole terrain
	most     int               // outcomes in a commit
	free     func(dir string) (uint64, bool)
	full     string      // the folder whose disk is; empty: none
	leave    atomic.Bool // the time to stop is over
}

func newCommitter(store *kv.Store, set *ring.Settings, log *slog.Logger, onVisit func(Event)) *committer {
	return &committer{
		recorder: record.New(store, set, log, onVisit), store: store, set: set, log: log, most: maxBatch,
		free: disk.Free,
	}
}

// A batch is what a commit is made of.
type batch struct {
	most     int // outcomes
	outcomes []ring.Outcome
	told     []ring.Referral // by other shards
	errands  []ring.Errand   // likewise
	portion  *ring.Portion   // of max-pages, that the node has come to; nil: as before
	updates  []func(*kv.Tx) error
	tellers  []chan<- error // who wait for the commit of what they told
	wakes    []ring.Wake
	size     int64
	first    time.Time     // when the first of it came
	due      time.Time     // when it must be committed; zero: it is empty
	linger   time.Duration // at least this long after the first of it; what the last commit took
}

func (b *batch) add(o ring.Outcome, ready time.Time) {
	now := time.Now()
	b.outcomes = append(b.outcomes, o)
	b.size += o.Held
	b.by(now.Add(maxBatchAge))
	b.by(ready.Add(-commitLead))
	if judge.Throttled(&o) || o.Moved || o.Step.Kind == ring.Resolve {
		b.by(now)
	}
}

// by has the batch committed by t, but not so soon that commits alone would keep
// the recorder busy.
func (b *batch) by(t time.Time) {
	now := time.Now()
	if b.due.IsZero() {
		b.first = now
	}
	if floor := b.first.Add(b.linger); t.Before(floor) {
		t = floor
	}
	if b.due.IsZero() || t.Before(b.due) {
		b.due = t
	}
}

// tell adds what another shard told, which waits for the answer. What many tell goes into one
// commit with what was fetched.
func (b *batch) tell(t submission) {
	b.told, b.tellers = append(b.told, t.referrals...), append(b.tellers, t.done)
	b.errands = append(b.errands, t.errands...)
	if t.portion != nil {
		b.portion = t.portion
	}
	now := time.Now()
	if t.update != nil {
		b.updates = append(b.updates, t.update)
	}
	if t.update != nil || len(t.referrals) > 0 {
		b.by(now.Add(maxBatchAge))
	} else {
		b.by(now)
	}
}

// reset empties a batch that was committed, for the next one, which gathers for
// at least so long.
func (b *batch) reset(linger time.Duration) {
	clear(b.outcomes) // lets go of pages
	clear(b.wakes)
	for _, done := range b.tellers {
		done <- nil
	}
	*b = batch{most: b.most, outcomes: b.outcomes[:0], wakes: b.wakes[:0], linger: linger}
}

// clock sets a timer to when the batch is due; nil: it is empty.
func (b *batch) clock(timer *time.Timer) <-chan time.Time {
	if b.due.IsZero() {
		return nil
	}
	timer.Reset(max(0, time.Until(b.due)))
	return timer.C
}

// ripe reports whether the batch is to be committed now.
func (b *batch) ripe() bool {
	return b.full() || !b.due.IsZero() && !time.Now().Before(b.due)
}

func (b *batch) full() bool {
	return len(b.outcomes) >= b.most || len(b.wakes) >= maxBatch || b.size >= maxBatchBytes ||
		len(b.told)+len(b.errands) >= maxTold
}

// drain takes what has come in the meantime.
func (b *batch) drain(r *committer, outcomes <-chan ring.Outcome, wakes <-chan ring.Wake) {
	for !b.full() {
		select {
		case o, ok := <-outcomes:
			if !ok {
				return
			}
			b.add(o, r.mayAskAfter(&o))
		case w, ok := <-wakes:
			if !ok {
				return
			}
			b.wakes = append(b.wakes, w)
		default:
			return
		}
	}
}

// A Commit is what was committed at a time. What it names belongs to the crawl.
type Commit struct {
	Took     time.Duration
	Outcomes []ring.Outcome
	Told     []ring.Referral // by other shards
}

// A query is a question about the live state, answered between two commits.
type query struct {
	ask  func(*kv.Store) error
	done chan<- error
}

// loop takes outcomes until the last visitor has closed them, and wakes until
// the scheduler has. It is the only writer of the store.
func (c *committer) loop(
	walking context.Context, outcomes <-chan ring.Outcome, wakes <-chan ring.Wake, queries <-chan query,
	effects chan<- ring.Effects,
) error {
	defer close(effects)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	b := &batch{most: c.most}
	for outcomes != nil {
		in, woken, told := outcomes, wakes, c.member.told()
		if c.full != "" && b.full() {
			in, woken, told = nil, nil, nil
		}
		select {
		case o, ok := <-in:
			if !ok {
				outcomes = nil
				break
			}
			b.add(o, c.mayAskAfter(&o))
		case w, ok := <-woken:
			if !ok {
				wakes = nil
				break
			}
			b.wakes = append(b.wakes, w)
			b.by(time.Now())
		case t := <-told:
			b.tell(t)
		case q := <-queries:
			q.done <- q.ask(c.store)
		case <-b.clock(timer):
			b.due = time.Now()
		}
		switch {
		case !b.ripe() && outcomes != nil:
		case !c.member.held():
			return ErrLease
		case c.hasRoom():
			b.drain(c, outcomes, wakes)
			begun := time.Now()
			if err := c.commit(walking, b, effects); err != nil {
				return err
			}
			b.reset(min(time.Since(begun), maxLinger))
		case outcomes == nil || c.leave.Load():
			return c.noRoom()
		default:
			b.due = time.Now().Add(roomCheck)
		}
	}
	return nil
}

// mayAskAfter is when the host of an outcome may be asked again, as far as that
// is known before the outcome is applied.
func (c *committer) mayAskAfter(o *ring.Outcome) time.Time {
	return o.FirstByte.Add(c.set.Config.Crawler.MinimumTimeOnPage)
}

// commit applies a batch in one transaction, lets depths travel on in as many
// more as they need, and publishes what follows.
func (c *committer) commit(walking context.Context, b *batch, effects chan<- ring.Effects) error {
	if len(b.outcomes)+len(b.told)+len(b.errands)+len(b.wakes)+len(b.updates) == 0 && b.portion == nil {
		return nil
	}
	begun := time.Now()
	published := ring.Effects{Settled: len(b.outcomes), Woken: len(b.wakes)}
	news := ring.News{Outcomes: b.outcomes, Referrals: b.told, Errands: b.errands, Wakes: b.wakes, Portion: b.portion}
	for more := true; more; news = (ring.News{}) {
		err := c.store.Update(func(tx *kv.Tx) (err error) {
			var list []ring.Effect
			list, more, err = c.recorder.Turn(tx, news)
			published.List = append(published.List, list...)
			for ; err == nil && len(b.updates) > 0; b.updates = b.updates[1:] {
				err = b.updates[0](tx)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if c.onCommit != nil {
		c.onCommit(Commit{time.Since(begun), b.outcomes, b.told})
	}
	b.release()
	c.member.committed(c.store)
	select {
	case effects <- published:
		return nil
	case <-walking.Done():
		return walking.Err()
	}
}
