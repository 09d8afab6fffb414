package crawl

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	stopGrace        = 10 * time.Second // for open requests when a crawl is told to stop
	usualUncommitted = 1024
	openPerCame      = 4 // requests that may be open, for each answer that waits meanwhile
)

// maxUncommitted is how many requests may be sent but not yet committed. It is twice the number that may be open,
// so that a commit does not hold up new requests.
func maxUncommitted(open int) int { return max(usualUncommitted, 2*open) }

// Types of package record that are part of this package's interface.
type (
	Request = record.Request // a request, and the pause of its host before it
	Event   = record.Event   // a visit that is about to be committed, for a live view
	Begun   = record.Begun   // which run a crawl continues or begins
)

// LevelTrace is the level at which every request is logged, and every verdict.
const LevelTrace = record.LevelTrace

// ErrIdentity reports a changed [url] section: the URLs in the state file were canonicalized by other rules.
var ErrIdentity = record.ErrIdentity

// Foresee returns the run that [Begin] would continue or begin under a configuration, or the error that Begin would
// return, such as [ErrIdentity] or [ErrPart]. It writes nothing.
func Foresee(store *kv.Store, cfg *config.Config) (Begun, error) {
	if err := Whole(store); err != nil {
		return Begun{}, err
	}
	return record.Foresee(store, cfg)
}

// LeavePages makes the next stored page begin a new page store, see [record.LeavePages].
func LeavePages(store *kv.Store) error { return record.LeavePages(store) }

// Options say what to crawl, and hold the callbacks.
type Options struct {
	Config    *config.Config
	Waiting   func() int    // the number of pages to visit, as last counted, for the history of the run; may be nil
	Log       *slog.Logger  // nil: nothing is logged
	OnVisit   func(Event)   // called by the recorder for each visit; must not block; may be nil
	OnRequest func(Request) // called for each request; must not block; may be nil
	OnFull    func(uint64)  // called with the bytes left on a disk that is almost full; must not block; may be nil
	OnCommit  func(Commit)  // called after each commit of outcomes; must not block; may be nil
	// OnAnchors is called by several goroutines with the anchors of each page that was fetched, and of each that
	// redirects, by its canonical URL; it must not block. nil: anchors are not read.
	OnAnchors func(page string, a *page.Anchors)

	Shared *Shared // shared with other crawls; nil: one of its own
	Shard  *Shard  // what the state file holds of a terrain; nil: the whole of one
	Paused bool    // nothing is sent before [Crawl.Unpause]

	// OpenRenderer opens the renderer of a configuration that renders pages; nil: a browser.
	OpenRenderer func(context.Context, *config.Config) (ring.Renderer, error)
}

// A Crawl works on one run of one state file. Once it has begun, its methods may be called from any goroutine.
type Crawl struct {
	opts      Options
	store     *kv.Store
	committer *committer
	noRoom    atomic.Pointer[NoRoom] // nil: the disk is not full
	member    *member                // nil: the file holds a whole terrain
	control   chan command
	queries   chan query
	done      chan struct{} // closed when Run has returned
	reload    chan struct{} // a changed configuration is in next
	next      atomic.Pointer[changed]
	paused    atomic.Bool // kept here because a walk under a changed configuration must begin paused, too
	number    uint64      // among the crawls of its machine
	trust     trust       // what is known of hosts in this process
	flights   flights
	held      atomic.Pointer[[]Held] // failures that attribution holds back
	shared    [32]byte               // of a shard: the hash of the part of the configuration that all shards share
	walked    bool                   // the frontier is empty, and that is committed; valid once done is closed
}

// Begin continues the uncompleted run of the store, or begins the next one. The store belongs to the crawl until Run
// has returned. If ctx is done before all recorded depths are updated, the rest is left to the next start: Run must
// get the same ctx, and returns at once.
func Begin(ctx context.Context, store *kv.Store, opts Options) (*Crawl, Begun, error) {
	if opts.Shared == nil {
		opts.Shared = NewShared(0)
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if err := opts.Shard.mayEnter(store); err != nil {
		return nil, Begun{}, err
	}
	set, err := opts.settings(ctx, opts.Config)
	if err != nil {
		return nil, Begun{}, err
	}
	c := &Crawl{
		opts: opts, store: store,
		number: opts.Shared.crawls.Add(1), control: make(chan command), queries: make(chan query),
		done: make(chan struct{}), reload: make(chan struct{}, 1),
	}
	c.paused.Store(opts.Paused)
	c.follow(opts.Config)
	c.member = newMember(c, opts.Shard)
	c.committer = c.newCommitter(set)
	c.committer.recorder.Enter = opts.Shard.enter
	if store.Hosts() > 0 {
		opts.Shared.clocks.Since(time.Now()) // another process may have sent requests to them just before
	}
	begun, err := c.committer.recorder.Begin(ctx)
	if err == nil {
		err = continueAnswers(set, c.store.Path(), c.committer.recorder.Run())
	}
	if err != nil {
		return nil, begun, errors.Join(err, set.Close())
	}
	opts.Shared.limit(opts.Config.MaxOpen(), opts.Log)
	return c, begun, nil
}

func (c *Crawl) newCommitter(set *ring.Settings) *committer {
	r := newCommitter(c.store, set, c.opts.Log, c.opts.OnVisit)
	r.full, r.onFull, r.onCommit, r.member = &c.noRoom, c.opts.OnFull, c.opts.OnCommit, c.member
	r.recorder.OnRequest, r.recorder.Waiting = c.opts.OnRequest, c.opts.Waiting
	if c.member != nil {
		r.recorder.Tells = c.member.tellsRun
	}
	return r
}

// settings returns the settings of the ring under a configuration, with a renderer if it renders pages.
func (o *Options) settings(ctx context.Context, cfg *config.Config) (*ring.Settings, error) {
	set, err := ring.SharedSettings(cfg, &o.Shared.clients, o.Shared.memory.Load())
	if err != nil || cfg.Render.Mode == config.RenderOff {
		return set, err
	}
	open := o.OpenRenderer
	if open == nil {
		open = openBrowser
	}
	if set.Renderer, set.Seats, err = o.Shared.shows.lend(ctx, cfg, open); err != nil {
		set.Client.Close()
		return nil, err
	}
	set.Answers = answers.New("", answers.MaxBytes)
	return set, nil
}

// A Result says how a walk ended.
type Result struct {
	Run    schema.Run // its End says why
	Walked bool       // the frontier is empty
}

// Run walks until the frontier is empty or ctx is done. Open requests then get 10 s to finish. The store is
// consistent however the walk ends; an error means that the walk could not continue. A shard whose frontier is
// empty waits for [Crawl.Finish].
func (c *Crawl) Run(ctx context.Context) (res Result, err error) {
	defer func() {
		close(c.done)
		c.next.Swap(nil).end()
	}()
	defer func() {
		err = errors.Join(err, c.leave())
		c.walked = res.Walked && err == nil
	}()
	c.member.start()
	defer c.member.stop()
	for {
		why, err := c.walkUntil(ctx)
		if err == nil {
			err = c.member.mayWrite()
		}
		if err != nil {
			return Result{Run: c.committer.recorder.Run()}, err
		}
		next := c.next.Swap(nil)
		if next == nil && why.Kind == schema.EndReload { // signalled twice; the first time has already applied it
			next = &changed{cfg: c.opts.Config}
		}
		if next != nil {
			err := c.change(ctx, *next)
			next.end()
			if err != nil {
				return Result{Run: c.committer.recorder.Run()}, err
			}
			if why.Kind == schema.EndNone || why.Kind == schema.EndReload {
				continue
			}
		}
		return c.ended(why)
	}
}

// ended records why a walk is over. [schema.EndNone] means that nothing is left to do.
func (c *Crawl) ended(why schema.End) (Result, error) {
	walked := why.Kind == schema.EndNone
	var err error
	if walked {
		err = c.committer.recorder.Finish()
		if a := c.committer.set.Answers; a != nil && err == nil {
			err = a.Forget()
		}
	} else {
		err = c.committer.recorder.End(why)
	}
	return Result{Run: c.committer.recorder.Run(), Walked: walked}, err
}

// walkUntil runs the ring once, at most until max-run-time has passed since the start.
func (c *Crawl) walkUntil(ctx context.Context) (schema.End, error) {
	started := c.Since()
	limit := c.opts.Config.Crawler.MaxRunTime
	if limit <= 0 {
		return c.walk(ctx, nil)
	}
	timer := time.NewTimer(time.Until(started.Add(limit)))
	defer timer.Stop()
	return c.walk(ctx, timer.C)
}

// walk runs the ring once. It returns EndNone if nothing is left to do.
func (c *Crawl) walk(ctx context.Context, deadline <-chan time.Time) (schema.End, error) {
	if ctx.Err() != nil {
		return stopped(ctx), nil
	}
	cfg := c.committer.set.Config
	share := c.opts.Shared.slots.Share(cfg.MaxOpen())
	defer share.Close()
	sched := newScheduler(schedulerConfig{
		Share: share, Clocks: &c.opts.Shared.clocks, Trust: &c.trust, Network: &c.opts.Shared.network,
		AddressGap: cfg.Politeness.MinimumTimePerAddress, Soon: cfg.Retry.Timeout,
		MaxUncommitted: maxUncommitted(cfg.MaxOpen()), Paused: c.paused.Load(), Stays: c.member != nil,
	})
	if err := c.committer.recorder.EachWaiting(sched.apply); err != nil {
		return schema.End{}, err
	}
	var (
		steps    = make(chan ring.Step)
		found    = make(chan ring.Outcome)
		outcomes = make(chan ring.Outcome, maxBatch)
		effects  = make(chan ring.Effects)
		wakes    = make(chan ring.Wake)
		over     = make(chan struct{})
		stuck    = make(chan schema.End, 1)
		why      schema.End
	)
	g, walking := errgroup.WithContext(context.Background())
	asking, cancel := context.WithCancel(walking)
	defer cancel()
	// knows which hosts are ready; closes steps
	g.Go(func() error {
		err := sched.run(walking, steps, effects, wakes, c.control)
		for more := err == nil; more; { // a commit of messages from other shards may follow
			_, more = <-effects
		}
		return err
	})
	// make requests and parse answers, own nothing; close found
	visitors := visitors{
		share: share, came: semaphore.NewWeighted(int64(cfg.MaxOpen() / openPerCame)),
		clocks: &c.opts.Shared.clocks, parsers: newParsers(c.store.Hash, c.opts.OnAnchors, 0), member: c.member,
		network: &c.opts.Shared.network, flights: &c.flights,
	}
	g.Go(func() error { return visitors.run(walking, asking, steps, found) })
	g.Go(func() error {
		w := &attribution{shared: c.opts.Shared, crawl: c.number, log: c.opts.Log, out: outcomes, told: &c.held}
		w.stuck = func(end schema.End) {
			select {
			case stuck <- end:
			default: // already reported
			}
		}
		return w.run(walking, found) // clears hosts of failures of this machine; closes outcomes
	})
	g.Go(func() error { // owns the hosts and the write transaction; drains, commits, ends
		defer close(over)
		return c.committer.loop(walking, outcomes, wakes, c.queries, effects)
	})
	g.Go(func() error {
		why = c.watch(ctx, deadline, over, stuck, cancel)
		return nil
	})
	err := g.Wait()
	return why, err
}

// A StopError is the cause of a ctx that was cancelled to end the run for this reason.
type StopError struct{ End schema.End }

func (e *StopError) Error() string { return e.End.String() }

func stopped(ctx context.Context) schema.End {
	var told *StopError
	if errors.As(context.Cause(ctx), &told) {
		return told.End
	}
	return schema.End{Kind: schema.EndStopped, Detail: context.Cause(ctx).Error()}
}

// watch waits for a reason to stop, then gives open requests their grace period. There is none if the file belongs
// to another process now.
func (c *Crawl) watch(ctx context.Context, deadline <-chan time.Time, over <-chan struct{},
	stuck <-chan schema.End, cancel func()) (why schema.End) {
	rest := stopGrace
	select {
	case <-over:
		return schema.End{}
	case <-c.member.lost():
		rest = 0
	case <-c.member.failed():
	case <-ctx.Done():
		why = stopped(ctx)
	case <-deadline:
		why = schema.End{Kind: schema.EndMaxRunTime, After: c.opts.Config.Crawler.MaxRunTime}
	case why = <-stuck:
	case <-c.reload:
		why.Kind = schema.EndReload
	}
	select {
	case c.control <- command{do: commandStop}:
	case <-over:
		return why
	}
	grace := time.NewTimer(rest)
	defer grace.Stop()
	select {
	case <-over:
	case <-grace.C:
		c.committer.leave.Store(true)
		cancel()
	}
	return why
}

// Complete records that the outputs of a finished walk are in place. If an earlier process finished the walk, Run
// need not be called.
func (c *Crawl) Complete() error {
	err := c.member.mayWrite()
	if err == nil {
		err = c.committer.recorder.Complete()
	}
	select {
	case <-c.done:
	default:
		err = errors.Join(err, c.leave())
	}
	return err
}

// leave releases what the crawl shares with others, and closes its page store.
func (c *Crawl) leave() error {
	return errors.Join(c.committer.set.Close(), c.committer.recorder.ClosePages())
}
