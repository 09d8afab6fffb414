package main

import (
	"context"
	"errors"
	"net/http"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/crawl/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A followedShard answers for the crawl of a shard.
type followedShard struct {
	walk *walk
	end  func()
}

// Status implements [node.Follower].
func (s *followedShard) Status(ctx context.Context) census.Status {
	s.walk.watcher.Refresh(ctx)
	return s.walk.status()
}

// Reconfigured implements [node.Follower].
func (s *followedShard) Reconfigured(cfg *config.Config) {
	own := *cfg
	own.State.Path = s.walk.cfg.Load().State.Path
	s.walk.cfg.Store(&own)
}

// End implements [node.Follower].
func (s *followedShard) End() { s.end() }

// crawl has the crawl of a shard answer other commands, by the name of its file.
func (v *nodeView) crawl(of node.Walk) node.Follower {
	cfg := *v.cfg
	cfg.State.Path = of.Path
	w := &walk{
		voice: v.voice, log: v.voice.logger(), stop: v.stop, begun: make(chan struct{}),
		store: of.Store, machine: v.machine, crawl: of.Crawl, meter: v.desk.meter,
	}
	w.cfg.Store(&cfg)
	w.watcher = census.NewWatcher(of.Crawl, &w.cfg, of.Run)
	s := &followedShard{walk: w}
	w.shown = v.show(of.Shard, s.moment)
	close(w.begun)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return w.watcher.Follow(ctx, func(census.Status) {}) })
	w.recall(&g, of.Run, of.Store.LastSeq())
	server, err := control.Listen(of.Path, control.NewHandler(&commandedShard{commanded{w}}))
	if err == nil {
		g.Go(func() error { return server.Serve(ctx) })
	} else {
		w.log.Warn("other commands cannot reach this shard", "shard", of.Shard, "error", err)
	}
	s.end = func() {
		cancel()
		last := s.moment(ctx)
		last.Status.Status = "ended"
		w.shown.Freeze(last)
		if err := g.Wait(); err != nil {
			w.log.Warn("a shard could not be watched", "shard", of.Shard, "error", err)
		}
	}
	return s
}

// moment is what a scrape reads.
func (s *followedShard) moment(ctx context.Context) meter.Moment {
	m := s.walk.moment(ctx)
	all, err := s.walk.crawl.Backlog(ctx)
	for _, b := range all {
		m.Outbox += b.URLs
	}
	if err != nil && !errors.Is(err, crawl.ErrEnded) && ctx.Err() == nil {
		s.walk.log.Warn("it is not known what a shard has to tell", "error", err)
	}
	return m
}

// A commandedShard answers what other commands ask of a shard's file. What holds for all
// shards is not decided by one.
type commandedShard struct{ commanded }

// Pause is refused.
func (c *commandedShard) Pause(ctx context.Context) (any, error) { return c.Reload(ctx) }

// Unpause is refused.
func (c *commandedShard) Unpause(ctx context.Context) (any, error) { return c.Reload(ctx) }

// Reload is refused.
func (c *commandedShard) Reload(context.Context) (any, error) {
	return nil, &control.Error{Code: http.StatusConflict,
		Text: "this is one shard of a terrain: to command it on all machines, name its configuration with --config"}
}
