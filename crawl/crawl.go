package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	stopGrace      = 10 * time.Second // for what is open when a crawl is told to stop
	maxUncommitted = 1024             // requests admitted and not yet committed
)

// ErrEnded reports a command to a crawl that is not running.
var ErrEnded = errors.New("the crawl is not running")

// Options say what to crawl and whom to tell.
type Options struct {
	Config  *config.Config
	Log     *slog.Logger
	OnVisit func(Event) // called by the recorder for each visit; must not block; may be nil
}

// A Crawl works on one run of one state file. Its methods may be called from any
// goroutine once it has begun.
type Crawl struct {
	opts    Options
	store   *kv.Store
	rec     *recorder
	control chan command
	queries chan query
	done    chan struct{} // closed when Run has returned
	reload  chan struct{} // another configuration is there
	next    atomic.Pointer[config.Config]
	paused  atomic.Bool // a walk under another configuration begins so, too
}

// Begin continues the run of the store that is not completed, or begins the next
// one. The store belongs to the crawl until Run has returned. Where ctx is done
// before the recorded depths are, the rest of them is the next start's: Run must
// get the same ctx, and ends at once.
func Begin(ctx context.Context, store *kv.Store, opts Options) (*Crawl, Begun, error) {
	set, err := newSettings(opts.Config)
	if err != nil {
		return nil, Begun{}, err
	}
	c := &Crawl{
		opts: opts, store: store, rec: newRecorder(store, set, opts.Log, opts.OnVisit),
		control: make(chan command), queries: make(chan query), done: make(chan struct{}), reload: make(chan struct{}, 1),
	}
	begun, err := c.rec.begin(ctx)
	if err != nil {
		set.client.Close()
		return nil, begun, err
	}
	return c, begun, nil
}

// A Result says how a walk ended.
type Result struct {
	Run    schema.Run
	Walked bool   // the frontier is empty
	Reason string // why it ended
}

// Run walks until the frontier is empty or ctx is done. What is open then has 10 s
// to finish. Whatever ends it, everything that is in the
// store is whole; the error is one that kept the walk from going on.
func (c *Crawl) Run(ctx context.Context) (res Result, err error) {
	defer close(c.done)
	defer func() {
		c.rec.set.client.Close()
		err = errors.Join(err, c.rec.closePages())
	}()
	started := time.Now()
	for {
		reason, err := c.walkUntil(ctx, started)
		if err != nil {
			return Result{Run: c.rec.run, Reason: err.Error()}, err
		}
		cfg := c.next.Swap(nil)
		if cfg == nil && reason == reasonReload { // told twice, and the other time has brought it
			cfg = c.opts.Config
		}
		if cfg != nil {
			if err := c.change(ctx, cfg); err != nil {
				return Result{Run: c.rec.run}, err
			}
			if reason == "" || reason == reasonReload {
				continue
			}
		}
		return c.ended(reason)
	}
}

// ended writes down why a walk is over. No reason means that nothing is left to
// do.
func (c *Crawl) ended(reason string) (Result, error) {
	walked := reason == ""
	var err error
	if walked {
		err = c.rec.finish()
		reason = c.rec.run.Reason
	} else {
		err = c.rec.end(false, reason)
	}
	return Result{Run: c.rec.run, Walked: walked, Reason: reason}, err
}

// walkUntil runs the ring once, at most until max-run-time has passed since the
// start.
func (c *Crawl) walkUntil(ctx context.Context, started time.Time) (string, error) {
	limit := c.opts.Config.Crawler.MaxRunTime
	if limit <= 0 {
		return c.walk(ctx, nil)
	}
	timer := time.NewTimer(time.Until(started.Add(limit)))
	defer timer.Stop()
	return c.walk(ctx, timer.C)
}

// walk runs the ring once. The reason is empty if it came to its own end.
func (c *Crawl) walk(ctx context.Context, deadline <-chan time.Time) (string, error) {
	if ctx.Err() != nil {
		return context.Cause(ctx).Error(), nil
	}
	initial, err := c.rec.waiting()
	if err != nil {
		return "", err
	}
	cfg := c.rec.set.cfg
	sched := newScheduler(schedulerConfig{
		Slots: cfg.Crawler.MaxConcurrentPagesOpen, AddressGap: cfg.Politeness.MinimumTimePerAddress,
		MaxUncommitted: maxUncommitted, Initial: initial, Paused: c.paused.Load(),
	})
	var (
		steps    = make(chan Step)
		outcomes = make(chan Outcome, maxBatch)
		effects  = make(chan Effects)
		wakes    = make(chan Wake)
		over     = make(chan struct{})
		reason   string
	)
	g, ring := errgroup.WithContext(context.Background())
	asking, cancel := context.WithCancel(ring)
	defer cancel()
	g.Go(func() error { return sched.run(ring, steps, effects, wakes, c.control) }) // knows who may be asked; closes steps
	g.Go(func() error { return c.visitors(ring, asking, steps, outcomes) })         // ask and parse, own nothing; close outcomes
	g.Go(func() error {                                                             // owns the hosts and the write transaction; drains, commits, ends
		defer close(over)
		return c.rec.loop(ring, outcomes, wakes, c.queries, effects)
	})
	g.Go(func() error {
		reason = c.watch(ctx, deadline, over, cancel)
		return nil
	})
	err = g.Wait()
	return reason, err
}

func (c *Crawl) visitors(ring, asking context.Context, steps <-chan Step, outcomes chan<- Outcome) error {
	defer close(outcomes)
	var g errgroup.Group
	for range c.rec.set.cfg.Crawler.MaxConcurrentPagesOpen {
		v := &visitor{hash: c.store.Hash}
		g.Go(func() error { return v.run(ring, asking, steps, outcomes) })
	}
	return g.Wait()
}

// watch waits for a reason to stop, then gives what is open its grace.
func (c *Crawl) watch(ctx context.Context, deadline <-chan time.Time, over <-chan struct{}, cancel func()) (reason string) {
	select {
	case <-over:
		return ""
	case <-ctx.Done():
		reason = context.Cause(ctx).Error()
	case <-deadline:
		reason = fmt.Sprintf("max-run-time = %s", c.opts.Config.Crawler.MaxRunTime)
	case <-c.reload:
		reason = reasonReload
	}
	select {
	case c.control <- command{do: commandStop}:
	case <-over:
		return reason
	}
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-over:
	case <-grace.C:
		c.rec.leave.Store(true)
		cancel()
	}
	return reason
}

const reasonReload = "configuration changed"

// Reload goes on under another configuration: what waits is judged again. One
// that can not be applied is logged, and the crawl goes on as before.
func (c *Crawl) Reload(cfg *config.Config) {
	c.next.Store(cfg)
	select {
	case c.reload <- struct{}{}:
	default: // told already
	}
}

// change takes another configuration into the run, between two walks.
func (c *Crawl) change(ctx context.Context, cfg *config.Config) error {
	set, err := newSettings(cfg)
	if err == nil && cfg.URLIdentity() != c.opts.Config.URLIdentity() {
		set.client.Close()
		err = ErrIdentity
	}
	if err != nil {
		c.opts.Log.Warn("the changed configuration is not applied", "error", err)
		cfg = c.opts.Config
		if set, err = newSettings(cfg); err != nil {
			return err
		}
	}
	old := c.rec
	old.set.client.Close()
	c.opts.Config = cfg
	c.rec = newRecorder(c.store, set, c.opts.Log, c.opts.OnVisit)
	c.rec.live = old.keepClocks()
	c.rec.run = old.run
	if err := errors.Join(old.closePages(), old.end(false, reasonReload)); err != nil {
		return err
	}
	_, err = c.rec.begin(ctx)
	return err
}

// Complete writes down that the outputs of a walk that came to its end are in
// place. The run was finished when the walk was.
func (c *Crawl) Complete() error {
	c.rec.run.Status = schema.RunCompleted
	return c.store.Update(func(tx *kv.Tx) error { return tx.PutRun(c.rec.run) })
}

// Pause keeps requests from being sent until Unpause.
func (c *Crawl) Pause() error {
	_, err := c.command(commandPause)
	c.paused.Store(true)
	return err
}

// Unpause lets requests be sent again.
func (c *Crawl) Unpause() error {
	c.paused.Store(false)
	_, err := c.command(commandUnpause)
	return err
}

// Status says what is being fetched now and what the rest waits for.
func (c *Crawl) Status() (Status, error) {
	st, err := c.command(commandStatus)
	return Status(st), err
}

// A Status is a moment of a running crawl.
type Status schedulerStatus

func (c *Crawl) command(do commandKind) (schedulerStatus, error) {
	reply := make(chan schedulerStatus, 1)
	select {
	case c.control <- command{do: do, reply: reply}:
	case <-c.done:
		return schedulerStatus{}, ErrEnded
	}
	select {
	case st := <-reply:
		return st, nil
	case <-c.done:
		return schedulerStatus{}, ErrEnded
	}
}

// Query asks the live store between two commits. The store is the caller's only
// until ask returns, which must take at most 100 ms.
func (c *Crawl) Query(ask func(*kv.Store) error) error {
	done := make(chan error, 1)
	select {
	case c.queries <- query{ask: ask, done: done}:
		return <-done
	case <-c.done:
		return ErrEnded
	}
}
