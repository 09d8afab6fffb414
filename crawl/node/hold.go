package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/accord"
	"github.com/sumi-ripple/ripple/crawl/hub"
	"github.com/sumi-ripple/ripple/crawl/lease"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// lastRelease is for how long a hub is waited for that is to hear that a shard is let go.
const lastRelease = 10 * time.Second

// hold takes a shard, crawls it, and answers for it until the run is over everywhere, or
// until somebody wants it to be let go. It opens the file if that is nil, and closes it. The
// epoch is that in which the shard was held, or was to be.
func (n *node) hold(ctx context.Context, shard int, f *file) (epoch uint64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for {
		if f == nil {
			if f, err = openFile(&n.Options, shard); err != nil {
				return epoch, err
			}
		}
		f.release = func() { cancel(errReleased) }
		err := n.holdOnce(ctx, shard, f)
		if f.empty() && ctx.Err() == nil { // or err may be why another shard's has ended
			err = n.unmake(f, err)
		}
		epoch, f = f.epoch, nil
		switch lost := errors.Is(err, crawl.ErrLease) || errors.Is(err, lease.ErrLost); {
		case lost && ctx.Err() != nil: // a shard that is let go of is none that is lost
			return epoch, context.Cause(ctx)
		case !lost:
			return epoch, err
		}
		n.Log.Warn("a shard is taken anew", "shard", shard, "why", err)
		n.tell(shard, "lost")
	}
}

// unmake discards a file that was made here, where err is why the shard cannot be taken with an empty
// one, and says of what is elsewhere that it is: the charter may not know that another node
// has come with the file. A claim of this node itself that is in the way names this very file.
func (n *node) unmake(f *file, err error) error {
	held, written := new(lease.HeldError), new(lease.WrittenError)
	switch {
	case errors.Is(err, lease.ErrAnew),
		errors.As(err, &held) && held.Node != n.Name,
		errors.As(err, &written) && written.Node != n.Name:
		err = fmt.Errorf("%w: %w", errElsewhere, err)
	case errors.Is(err, lease.ErrFile):
		err = fmt.Errorf("%w: %s", ErrGone, f.path)
	default:
		return err
	}
	return errors.Join(err, f.discard())
}

func (n *node) tell(shard int, state string) {
	if n.OnShard != nil {
		n.OnShard(shard, state)
	}
}

// holdOnce holds a shard for as long as one lease lasts, and closes its file, before others
// can take it.
func (n *node) holdOnce(ctx context.Context, shard int, f *file) (err error) {
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.enter(shard, n.get(), n.Name); err != nil {
		return err
	}
	n.tell(shard, "waiting")
	own, err := n.take(ctx, shard, f)
	if err != nil {
		return err
	}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var g errgroup.Group
	g.Go(func() error { return own.Keep(keeping) })
	n.tell(shard, "held")
	cfg, _ := n.configuration()
	n.follows(f.sender, cfg)
	if err = n.work(ctx, shard, f, own); err == nil || ctx.Err() != nil || errors.Is(err, ErrTime) {
		n.tellLast(ctx, shard, f.sender, &desk{file: f, held: own.Held})
	}
	stop()
	if kept := g.Wait(); errors.Is(kept, lease.ErrLost) && err == nil {
		err = kept
	}
	f.committed()
	if closed := f.Close(); closed != nil {
		err = closed
	}
	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRelease)
	defer cancel()
	if gone := own.Release(releasing); gone != nil {
		n.Log.Warn("others wait before they can take a shard", "shard", shard, "error", gone)
	}
	return err
}

// take takes the lease of a shard, however long the hub is away. Who has an empty file, where the
// charter does not say that it is to make one, lets others come first that wait with the file.
func (n *node) take(ctx context.Context, shard int, f *file) (*lease.Lease, error) {
	id, err := lease.FileID(f.path)
	if err != nil {
		return nil, err
	}
	for {
		timing := n.Timing
		if f.empty() && n.get().maker(shard) != n.Name {
			timing.Watch += timing.Renew
		}
		l, err := lease.Take(ctx, lease.Claim{
			Bucket: n.bucket, Key: hub.Key(shard), Node: n.Name, File: f, FileID: id, Epoch: f.epoch, Timing: timing,
			Clock: n.Clock,
		})
		var held *lease.HeldError
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &held), errors.Is(err, lease.ErrFile):
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		n.Log.Warn("a shard cannot be taken yet", "shard", shard, "error", err)
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// work crawls a shard that is held, unless its run is over, and answers for it until the
// run is over everywhere.
func (n *node) work(ctx context.Context, shard int, f *file, own *lease.Lease) error {
	var d door
	d.open(idle{n})
	defer n.serve(ctx, shard, f, own, &d)()
	waiting, cancel := whileHeld(ctx, own)
	defer cancel()
	defer n.named(waiting, shard, f.epoch)()
	err := n.look(waiting, func(c *charter) bool { return c.Run > n.run || c.made() || n.ends != nil }, func(c *charter) {
		n.Log.Info("shards have no file yet; other nodes are to make them", "shards", c.unmade())
	})
	if err != nil || n.get().Run > n.run {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	if shard == 0 {
		g.Go(func() error { return n.end(ctx) })
	}
	err = n.crawl(ctx, shard, f, own, &d)
	if err == nil {
		err = n.answer(ctx, shard, f, own, &d)
	}
	stop()
	_ = g.Wait() // that it was told to end
	return err
}

// named has the charter say that a shard which is held is this node's, whatever others say
// that come with a copy of its file, until stop is called or ctx is done.
func (n *node) named(ctx context.Context, shard int, epoch uint64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	other := func(c *charter) bool { return c.maker(shard) != n.Name && c.Epochs[shard] == epoch }
	var g errgroup.Group
	g.Go(func() error {
		for {
			if err := sleep(ctx, n.Timing.Renew/10); err != nil {
				return err
			}
			if !other(n.get()) {
				continue
			}
			c, err := n.registry.change(ctx, func(c *charter) (*charter, error) {
				if c == nil || !n.get().same(c) || !other(c) {
					return nil, nil
				}
				c.Made[shard] = c.number(n.Name)
				return c, nil
			})
			if err == nil && c != nil && n.get().same(c) {
				n.set(c)
			}
		}
	})
	return func() { cancel(); _ = g.Wait() }
}

// crawl crawls a shard to the end of the run.
func (n *node) crawl(ctx context.Context, shard int, f *file, own *lease.Lease, d *door) error {
	c := n.get()
	cfg, number := n.configuration()
	part := c.part(shard)
	part.Run, part.Configuration = n.run, number
	err := f.keep(c)
	if err == nil && n.ends != nil {
		var end context.CancelCauseFunc
		ctx, end = context.WithCancelCause(ctx)
		end(n.ends)
	} else if err == nil { // whoever comes back, or is started again, goes on
		err = f.keepStop(c, n.stopped)
	}
	if err == nil && f.empty() {
		err = f.follow(part, cfg, c.Over[shard], c.Epochs[shard] > 0)
	}
	if err != nil {
		return err
	}
	over, err := f.over(n.run)
	if err != nil || over {
		return err
	}
	paused := c.paused()
	walk, begun, err := crawl.Begin(ctx, f.Store, crawl.Options{
		Config: cfg, Log: n.Log.With("shard", shard), Machine: n.Machine,
		OnVisit:   func(e crawl.Event) { n.visited(shard, e) },
		OnRequest: func(q crawl.Request) { n.asks(shard, q) },
		OnCommit:  func(c crawl.Commit) { f.committed(); n.commits(shard, c) },
		OnFull:    func(free uint64) { n.tellFull(f.sender, free) },
		Shard: &crawl.Shard{
			Part: part, Carrier: n.wire.of(shard), Lease: own, Tells: n.tellsRun(ctx, shard),
		},
		Paused: paused,
	})
	if err != nil {
		return err
	}
	n.crawled.Store(true)
	n.tell(shard, "crawling")
	if begun.Run.Walked {
		return walk.Complete()
	}
	follower := n.OnCrawl(Walk{shard, f.path, f.Store, walk, begun.Run})
	d.open(running{walk, n, follower})
	pausing, unwatch := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return n.obey(pausing, f, walk, follower, paused, number) })
	g.Go(func() error { return n.allot(pausing, shard, walk, own.Held) })
	g.Go(func() error { return n.telling(pausing, f.sender, walk) })
	g.Go(func() error { return n.remember(pausing, walk, c.Epochs) })
	result, err := walk.Run(ctx)
	unwatch()
	_ = g.Wait() // that it was told to end, or the crawl has
	follower.End()
	if err == nil && !result.Walked && own.Held() && errors.As(context.Cause(ctx), new(*crawl.StopError)) {
		err = f.keepStop(c, n.get().Stop)
	}
	switch {
	case err != nil:
		return err
	case result.Walked:
		return walk.Complete()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case result.Run.End.Kind == schema.EndMaxRunTime:
		return ErrTime
	}
	return fmt.Errorf("shard %d: %s", shard, result.Run.End)
}

// obey has a crawl that begins paused or not, and under a configuration, follow what the
// terrain comes to, until ctx is done or the crawl has ended.
func (n *node) obey(ctx context.Context, f *file, walk *crawl.Crawl, follower Follower, paused bool, number uint64) error {
	for {
		var cfg *config.Config
		now := number
		err := n.look(ctx, func(c *charter) bool {
			cfg, now = n.configuration()
			return c.paused() != paused || now != number
		}, nil)
		if err != nil {
			return err
		}
		if now != number {
			number = now
			n.follows(f.sender, cfg)
			follower.Reconfigured(cfg)
			walk.Reconfigure(cfg, number)
			continue
		}
		if paused = !paused; paused {
			err = walk.Pause()
		} else {
			err = walk.Unpause()
		}
		if err != nil {
			return err
		}
	}
}

// remember has the file of a crawl know what epochs shards come to, until ctx is done.
func (n *node) remember(ctx context.Context, walk *crawl.Crawl, known []uint64) error {
	for {
		err := n.look(ctx, func(c *charter) bool { return !slices.Equal(c.Epochs, known) }, nil)
		if err != nil {
			return err
		}
		c := n.get()
		if err = walk.Update(func(tx *kv.Tx) error { return keepEpochs(tx, c) }); err == nil {
			known = c.Epochs
		} else if err := sleep(ctx, n.Timing.Renew/10); err != nil { // the disk is full, or the crawl ends
			return err
		}
	}
}

func (n *node) visited(shard int, e crawl.Event) {
	if n.OnVisit != nil {
		n.OnVisit(shard, e)
	}
}

func (n *node) asks(shard int, q crawl.Request) {
	if n.OnRequest != nil {
		n.OnRequest(shard, q)
	}
}

func (n *node) commits(shard int, c crawl.Commit) {
	if n.OnCommit != nil {
		n.OnCommit(shard, c)
	}
}

// answer answers for a shard whose run is over until it is over everywhere.
func (n *node) answer(ctx context.Context, shard int, f *file, own *lease.Lease, d *door) error {
	f.committed()
	n.tell(shard, "over")
	ctx, cancel := whileHeld(ctx, own)
	defer cancel()
	cfg, number := n.configuration()
	e, err := newEnded(f, cfg.SharedHash(), own.Held)
	e.number, e.stop = number, n.Stop
	if err != nil {
		return err
	}
	d.open(e)
	telling, hush := context.WithCancel(ctx)
	var g errgroup.Group
	g.Go(func() error { return n.telling(telling, f.sender, e.desk) })
	defer func() { hush(); _ = g.Wait() }()
	for !n.over() {
		if c := n.get(); c.Run == n.run && (!c.Over[shard] || c.Portions.Of[shard] != e.portion) {
			if err := n.note(ctx, shard, e.portion); err != nil {
				return err
			}
		}
		if err := sleep(ctx, n.Timing.Renew/10); err != nil {
			return err
		}
	}
	return nil
}

// whileHeld is a context that ends with a lease, for [lease.ErrLost].
func whileHeld(ctx context.Context, own *lease.Lease) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-own.Lost():
			cancel(lease.ErrLost)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

// note has the charter say that a shard's run is over, with what it had of max-pages.
func (n *node) note(ctx context.Context, shard int, had portion) error {
	noted, err := n.registry.change(ctx, func(c *charter) (*charter, error) {
		if c == nil {
			c = n.remembered()
		}
		if !n.get().same(c) || c.Run != n.run {
			return nil, nil
		}
		if news := c.Portions.set(shard, had); c.Over[shard] && !news {
			return nil, nil
		}
		c.Over[shard], c.Restored = true, c.Restored && !n.crawled.Load()
		return c, nil
	})
	if err == nil && n.get().same(noted) {
		n.set(noted)
	}
	return err
}

// end looks for the end of the run until there is one, or ctx is done. It says what keeps it
// open where that stays the same for long.
func (n *node) end(ctx context.Context) error {
	var last string
	var since time.Time
	said := false
	return accord.End(ctx, len(n.get().Made), n.wire, max(n.Timing.Renew/10, 20*time.Millisecond), func(why error) {
		if text := why.Error(); text != last {
			last, since, said = text, time.Now(), false
		} else if !said && !errors.Is(why, accord.ErrBusy) && time.Since(since) > n.Timing.Watch {
			said = true
			n.Log.Info("the run is not over yet", "why", text)
		}
	})
}
