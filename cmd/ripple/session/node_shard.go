package session

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/kv"
)

// crawl monitors the crawl of a shard until it ends. The file must have been announced by [nodeView.file].
func (v *nodeView) crawl(of node.Walk) node.Follower {
	cfg := *of.Config
	cfg.State.Path = of.Path
	s := &Shard{session: v.session, begun: make(chan struct{}), store: of.Store, crawl: of.Crawl}
	s.cfg.Store(&cfg)
	s.watcher = census.NewWatcher(of.Crawl, &s.cfg, of.Run)
	s.shown = v.show(of.Shard, s.moment)
	close(s.begun)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error {
		return s.watcher.Follow(ctx, func(now census.Status) { s.waiting.Store(int64(now.PagesToVisit)) })
	})
	s.recall(&g, of.Run, of.Store.LastSeq())
	v.mu.Lock()
	f := v.shard(of.Shard).file
	v.mu.Unlock()
	f.shard.Store(s)
	s.end = func() {
		f.shard.Store(nil)
		cancel()
		if err := errors.Join(g.Wait(), s.watcher.End(s.store)); err != nil {
			s.log.Warn("a shard could not be watched", "shard", of.Shard, "error", err)
		}
		last := s.moment(ctx)
		last.Status.Status = "ended"
		s.shown.Freeze(last)
	}
	return s
}

// file lets other commands reach the file of a shard, by its name, until end is called.
func (v *nodeView) file(shard int, path string, store *kv.Store) (end func()) {
	f := &file{session: v.session, store: store}
	v.mu.Lock()
	v.shard(shard).file = f
	v.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	if err := f.listen(ctx, &g, path); err != nil {
		v.log.Warn("other commands cannot reach this shard", "shard", shard, "error", err)
	}
	return func() {
		cancel()
		if err := g.Wait(); err != nil {
			v.log.Warn("other commands could not reach this shard", "shard", shard, "error", err)
		}
	}
}
