package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// crawl crawls the shard until the run is over.
func (h *holding) crawl(ctx context.Context) error {
	n, f, c := h.node, h.file, h.node.member.get()
	cfg, number := n.cfg.now()
	part := c.part(h.shard)
	part.Run, part.Configuration = n.member.run, number
	if err := h.prepare(c, cfg, part); err != nil {
		return err
	}
	if over, err := f.over(part.Run); err != nil || over {
		return err
	}
	if n.ends != nil {
		var end context.CancelCauseFunc
		ctx, end = context.WithCancelCause(ctx)
		end(n.ends)
	}
	walk, begun, err := crawl.Begin(ctx, f.Store, h.options(ctx, cfg, part, c.paused()))
	if err != nil {
		return fmt.Errorf("%w: %w", errUnfit, err)
	}
	n.crawled.Store(true)
	n.OnShard(h.shard, "crawling")
	if begun.Run.Walked {
		return walk.Complete()
	}
	follower := n.OnCrawl(Walk{h.shard, f.path, f.Store, walk, begun.Run, cfg})
	result, err := h.run(ctx, running{walk, n.cfg, n.Stop, follower}, c, number)
	if err != nil {
		return err
	}
	if result.Walked {
		return walk.Complete()
	}
	return h.interrupted(ctx, c, result.Run.End)
}

// interrupted returns the reason why a crawl ended before the run was over. A stop is recorded in the file.
func (h *holding) interrupted(ctx context.Context, c *charter, end schema.End) error {
	why := context.Cause(ctx)
	if h.lease.Held() && errors.As(why, new(*crawl.StopError)) {
		if err := h.file.keepStop(c, h.node.member.get().Stop); err != nil {
			return err
		}
	}
	switch {
	case why != nil:
		return why
	case end.Kind == schema.EndMaxRunTime:
		return ErrTime
	}
	return fmt.Errorf("shard %d: %s", h.shard, end)
}

// prepare writes what the file must know about a charter before the shard is crawled.
func (h *holding) prepare(c *charter, cfg *config.Config, part schema.Part) error {
	err := h.file.keep(c)
	if err == nil && h.node.ends == nil { // this crawl resumes the run after the stop
		err = h.file.keepStop(c, h.node.member.stopped)
	}
	if err == nil && h.file.empty() {
		err = h.file.follow(part, cfg, c.Over[h.shard], c.Epochs[h.shard] > 0)
	}
	return err
}

// options returns the options of the crawl.
func (h *holding) options(ctx context.Context, cfg *config.Config, part schema.Part, paused bool) crawl.Options {
	n, f := h.node, h.file
	return crawl.Options{
		Config: cfg, Log: n.Log.With("shard", h.shard), Shared: n.Shared, Paused: paused,
		OnVisit:   func(e crawl.Event) { n.OnVisit(h.shard, e) },
		OnRequest: func(q crawl.Request) { n.OnRequest(h.shard, q) },
		OnCommit:  func(c crawl.Commit) { f.committed(); n.OnCommit(h.shard, c) },
		OnFull:    func(free uint64) { n.teller.full(f.sender, free) },
		Waiting:   func() int { return n.Waiting(h.shard) },
		Shard: &crawl.Shard{
			Part: part, Carrier: n.wire.of(h.shard), Lease: h.lease, Tells: n.teller.run(ctx, h.shard),
		},
	}
}

// run runs a crawl that has begun under a charter and the configuration with the given number, and makes it follow
// changes in the terrain.
func (h *holding) run(ctx context.Context, r running, c *charter, number uint64) (crawl.Result, error) {
	h.door.open(r)
	stop := aside(ctx, func(ctx context.Context) error {
		n := h.node
		a := allotter{n.member, n.cfg, h.shard, r.Crawl}
		var g errgroup.Group
		g.Go(func() error { return h.obey(ctx, r, c.paused(), number) })
		g.Go(func() error { return a.run(ctx, h.lease.Held) })
		g.Go(func() error { return n.teller.send(ctx, h.file.sender, r) })
		g.Go(func() error { return n.member.remember(ctx, r.Crawl, c.Epochs) })
		return g.Wait()
	})
	result, err := r.Run(ctx)
	stop()
	r.follower.End()
	return result, err
}

// obey pauses, resumes and reconfigures the crawl as the terrain does, until ctx is done or the crawl has ended.
func (h *holding) obey(ctx context.Context, r running, paused bool, number uint64) error {
	n := h.node
	for {
		var cfg *config.Config
		now := number
		err := n.member.look(ctx, func(c *charter) bool {
			cfg, now = n.cfg.now()
			return c.paused() != paused || now != number
		}, nil)
		if err != nil {
			return err
		}
		if now != number {
			number = now
			n.teller.follow(h.file.sender, cfg)
			r.follower.Reconfigured(cfg)
			r.Reconfigure(cfg, number)
			continue
		}
		if paused = !paused; paused {
			err = r.Pause()
		} else {
			err = r.Unpause()
		}
		if err != nil {
			return err
		}
	}
}

// remember writes new epochs of shards into the file of a crawl, until ctx is done.
func (m *member) remember(ctx context.Context, walk *crawl.Crawl, known []uint64) error {
	for {
		err := m.look(ctx, func(c *charter) bool { return !slices.Equal(c.Epochs, known) }, nil)
		if err != nil {
			return err
		}
		c := m.get()
		if err = walk.Update(func(tx *kv.Tx) error { return keepEpochs(tx, c) }); err == nil {
			known = c.Epochs
		} else if err := sleep(ctx, m.timing.Renew/10); err != nil { // the disk is full, or the crawl ends
			return err
		}
	}
}
