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
	maxTold       = 4096 // referrals in a commit; one letter may exceed it
	maxLinger     = 20 * time.Millisecond
	commitLead    = 4 * time.Millisecond // before the clock of a host runs out
)

// A committer gathers outcomes into batches, commits each in one transaction and sends the
// resulting effects to the scheduler. Package record decides what they are.
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
	full     *atomic.Pointer[NoRoom] // holds nil while the disk is not full
	leave    atomic.Bool             // the grace period for stopping is over
}

func newCommitter(store *kv.Store, set *ring.Settings, log *slog.Logger, onVisit func(Event)) *committer {
	return &committer{
		recorder: record.New(store, set, log, onVisit), store: store, set: set, log: log, most: maxBatch,
		free: disk.Free, full: &atomic.Pointer[NoRoom]{},
	}
}

// A batch is the content of a commit.
type batch struct {
	most     int // limit of outcomes
	outcomes []ring.Outcome
	told     []ring.Referral // from other shards
	errands  []ring.Errand   // from other shards
	portion  *ring.Portion   // the new portion of max-pages; nil: unchanged
	updates  []func(*kv.Tx) error
	tellers  []chan<- error // get the error of the commit
	wakes    []ring.Wake
	size     int64
	first    time.Time     // when its first part was added
	due      time.Time     // when it must be committed; zero: it is empty
	linger   time.Duration // at least this long after first; what the last commit took
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

// by makes the batch due by t, but not so early that the recorder would do nothing but commit.
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

// tell adds a submission, whose sender waits for the commit. Submissions of several shards share
// one commit with outcomes.
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

// reset empties a committed batch. The next one gathers for at least linger.
func (b *batch) reset(linger time.Duration) {
	clear(b.outcomes) // frees the pages
	clear(b.wakes)
	for _, done := range b.tellers {
		done <- nil
	}
	*b = batch{most: b.most, outcomes: b.outcomes[:0], wakes: b.wakes[:0], linger: linger}
}

// clock sets a timer to when the batch is due; nil: the batch is empty.
func (b *batch) clock(timer *time.Timer) <-chan time.Time {
	if b.due.IsZero() {
		return nil
	}
	timer.Reset(max(0, time.Until(b.due)))
	return timer.C
}

// ripe reports whether the batch must be committed now.
func (b *batch) ripe() bool {
	return b.full() || !b.due.IsZero() && !time.Now().Before(b.due)
}

func (b *batch) full() bool {
	return len(b.outcomes) >= b.most || len(b.wakes) >= maxBatch || b.size >= maxBatchBytes ||
		len(b.told)+len(b.errands) >= maxTold
}

// drain adds everything that is already waiting in the channels.
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

// A Commit reports one commit. Its slices belong to the crawl.
type Commit struct {
	Took     time.Duration
	Outcomes []ring.Outcome
	Told     []ring.Referral // from other shards
}

// A query is a question about the live state, answered between two commits.
type query struct {
	ask  func(*kv.Store) error
	done chan<- error
}

// loop receives outcomes and wakes until both channels are closed. It is the only writer of the
// store.
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
		if c.full.Load() != nil && b.full() {
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

// mayAskAfter returns the earliest time of the next request to an outcome's host, by what is known
// before the outcome is applied.
func (c *committer) mayAskAfter(o *ring.Outcome) time.Time {
	return o.FirstByte.Add(c.set.Config.Crawler.MinimumTimeOnPage)
}

// commit applies a batch in one transaction, passes depths on in as many more as that takes, and
// publishes the effects.
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
