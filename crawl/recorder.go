package crawl

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

const (
	maxBatch      = 256
	maxBatchBytes = 4 << 20
	maxBatchAge   = 100 * time.Millisecond
	maxLinger     = 20 * time.Millisecond
	commitLead    = 4 * time.Millisecond // before the clock of a host runs out
)

// A recorder owns the durable hosts and the write transaction. It turns outcomes
// into commits and, after each, tells the scheduler what follows from it.
type recorder struct {
	store   *kv.Store
	set     *settings
	run     schema.Run
	log     *slog.Logger
	onVisit func(Event)
	started time.Time     // of the process; no host is asked before its delay has passed since
	known   schema.HostID // hosts above it were not known before this process
	ticked  time.Time     // until when the run's time is counted
	most    int           // outcomes in a commit
	relaxed int           // pages whose depth travels on in one transaction
	free    func(dir string) (uint64, bool)
	full    bool        // the disk is
	leave   atomic.Bool // the time to stop is over

	live          map[schema.HostID]*liveHost
	classes       []hostFacts // by host id
	parsed        map[schema.HostID]*robots.Rules
	seeds         map[schema.ID]bool
	seedHosts     map[schema.HostID]bool
	listed        map[schema.ID]listing // what sitemaps say of pages that an earlier run has visited
	reserved      map[terrain.Cap]int
	reservedPages int
	held          map[terrain.Cap]map[schema.HostID]bool // hosts with pages that wait for a place in a group
	out           int                                    // steps planned and not yet taken back
	sweepAt       int
	starved       map[schema.HostID]bool // kept waiting by max-pages, as far as it is reserved
	pages         pageStore
	reclassify    bool // the last run is worked on though it is completed
}

func newRecorder(store *kv.Store, set *settings, log *slog.Logger, onVisit func(Event)) *recorder {
	now := time.Now()
	return &recorder{
		store: store, set: set, log: log, onVisit: onVisit, started: now, ticked: now, most: maxBatch, relaxed: maxRelaxed, free: freeSpace, known: schema.HostID(store.Hosts()),
		live: map[schema.HostID]*liveHost{}, parsed: map[schema.HostID]*robots.Rules{},
		seeds: map[schema.ID]bool{}, seedHosts: map[schema.HostID]bool{}, listed: map[schema.ID]listing{}, reserved: map[terrain.Cap]int{}, held: map[terrain.Cap]map[schema.HostID]bool{}, sweepAt: minSweep, starved: map[schema.HostID]bool{},
	}
}

// A batch is what a commit is made of.
type batch struct {
	most     int // outcomes
	outcomes []Outcome
	wakes    []Wake
	size     int
	first    time.Time     // when the first of it came
	due      time.Time     // when it must be committed; zero: it is empty
	linger   time.Duration // at least this long after the first of it; what the last commit took
}

func (b *batch) add(o Outcome, ready time.Time) {
	now := time.Now()
	b.outcomes = append(b.outcomes, o)
	b.size += 512 + len(o.Robots) + int(o.sealedSize())
	if o.Page != nil {
		for i := range o.Page.Links {
			b.size += 64 + len(o.Page.Links[i].URL.Norm)
		}
	}
	b.by(now.Add(maxBatchAge))
	b.by(ready.Add(-commitLead))
	if o.throttled() || o.Step.Kind == StepResolve {
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

// reset empties a batch that was committed, for the next one, which gathers for
// at least so long.
func (b *batch) reset(linger time.Duration) {
	clear(b.outcomes) // lets go of pages
	clear(b.wakes)
	*b = batch{most: b.most, outcomes: b.outcomes[:0], wakes: b.wakes[:0], linger: linger}
}

func (b *batch) full() bool {
	return len(b.outcomes) >= b.most || len(b.wakes) >= maxBatch || b.size >= maxBatchBytes
}

// drain takes what has come in the meantime.
func (b *batch) drain(r *recorder, outcomes <-chan Outcome, wakes <-chan Wake) {
	for !b.full() {
		select {
		case o, ok := <-outcomes:
			if !ok {
				return
			}
			b.add(o, r.readyAfter(&o))
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

// A query is a question about the live state, answered between two commits.
type query struct {
	ask  func(*kv.Store) error
	done chan<- error
}

// loop takes outcomes until the last visitor has closed them, and wakes until
// the scheduler has. It is the only writer of the store.
func (r *recorder) loop(ring context.Context, outcomes <-chan Outcome, wakes <-chan Wake, queries <-chan query, effects chan<- Effects) error {
	defer close(effects)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	b := &batch{most: r.most}
	for outcomes != nil {
		var clock <-chan time.Time
		if !b.due.IsZero() {
			timer.Reset(max(0, time.Until(b.due)))
			clock = timer.C
		}
		in, woken := outcomes, wakes
		if r.full && b.full() {
			in, woken = nil, nil
		}
		select {
		case o, ok := <-in:
			if !ok {
				outcomes = nil
				break
			}
			b.add(o, r.readyAfter(&o))
		case w, ok := <-woken:
			if !ok {
				wakes = nil
				break
			}
			b.wakes = append(b.wakes, w)
			b.by(time.Now())
		case q := <-queries:
			q.done <- q.ask(r.store)
		case <-clock:
			b.due = time.Now()
		}
		if b.full() || !b.due.IsZero() && !time.Now().Before(b.due) || outcomes == nil {
			if !r.hasRoom() {
				if outcomes == nil || r.leave.Load() {
					return r.noRoom()
				}
				b.due = time.Now().Add(roomCheck)
				continue
			}
			b.drain(r, outcomes, wakes)
			begun := time.Now()
			if err := r.commit(ring, b, effects); err != nil {
				return err
			}
			b.reset(min(time.Since(begun), maxLinger))
		}
	}
	return nil
}

// readyAfter is when the host of an outcome may be asked again, as far as that
// is known before the outcome is applied.
func (r *recorder) readyAfter(o *Outcome) time.Time {
	return o.FirstByte.Add(r.set.cfg.Crawler.MinimumTimeOnPage)
}

// commit applies a batch in one transaction, lets depths travel on in as many
// more as they need, and publishes what follows.
func (r *recorder) commit(ring context.Context, b *batch, effects chan<- Effects) error {
	if len(b.outcomes) == 0 && len(b.wakes) == 0 {
		return nil
	}
	published := Effects{Settled: len(b.outcomes), Woken: len(b.wakes)}
	more := true
	for first := true; more; first = false {
		err := r.store.Update(func(tx *kv.Tx) (err error) {
			var list []Effect
			list, more, err = r.commitPart(tx, b, first)
			published.List = append(published.List, list...)
			return err
		})
		if err != nil {
			return err
		}
	}
	b.releaseSealed()
	select {
	case effects <- published:
		return nil
	case <-ring.Done():
		return ring.Err()
	}
}

// commitPart does one transaction of a commit. There is more to do while depths
// have to travel on.
func (r *recorder) commitPart(tx *kv.Tx, b *batch, first bool) (list []Effect, more bool, err error) {
	t, err := r.turn(tx)
	if err != nil {
		return nil, false, err
	}
	if first {
		err = errors.Join(t.take(b), t.commitPages())
	}
	if err == nil {
		err = t.relaxPending()
	}
	if err == nil {
		list, err = t.planAll()
	}
	if err == nil {
		err = t.tx.SetPending(t.work)
	}
	r.sweep(t.now)
	r.tick()
	return list, len(t.work) > 0, errors.Join(err, tx.PutRun(r.run))
}

// take applies outcomes and wakes.
func (t *turn) take(b *batch) error {
	for i := range b.outcomes {
		if err := t.apply(&b.outcomes[i]); err != nil {
			return err
		}
	}
	for _, w := range b.wakes {
		live := t.liveOf(w.Host)
		for _, step := range w.Unsent {
			t.close(live, step.ID)
			if err := t.drop(step); err != nil {
				return err
			}
		}
		t.touch(w.Host).woken = true
	}
	return nil
}

// tick adds the time since the last commit to the run's.
func (r *recorder) tick() {
	now := time.Now()
	r.run.Running += now.Sub(r.ticked)
	r.ticked = now
}
