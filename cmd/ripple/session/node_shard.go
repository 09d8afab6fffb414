package session

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A FollowedShard answers for the crawl of a shard.
type FollowedShard struct {
	Walk *Walk
	end  func()
}

// Status implements [node.Follower].
func (s *FollowedShard) Status(ctx context.Context) census.Status {
	s.Walk.Watcher.Refresh(ctx)
	return s.Walk.status()
}

// Reconfigured implements [node.Follower].
func (s *FollowedShard) Reconfigured(cfg *config.Config) {
	own := *cfg
	own.State.Path = s.Walk.Cfg.Load().State.Path
	s.Walk.Cfg.Store(&own)
}

// End implements [node.Follower].
func (s *FollowedShard) End() { s.end() }

// Crawl has the crawl of a shard answer other commands, by the name of its file.
func (v *NodeView) Crawl(of node.Walk) node.Follower {
	cfg := *of.Config
	cfg.State.Path = of.Path
	w := &Walk{
		Voice: v.Voice, Log: v.Voice.Logger(), stop: v.stop, Begun: make(chan struct{}),
		Store: of.Store, Machine: v.Machine, Crawl: of.Crawl, meter: v.Desk.meter,
	}
	w.Cfg.Store(&cfg)
	w.Watcher = census.NewWatcher(of.Crawl, &w.Cfg, of.Run)
	s := &FollowedShard{Walk: w}
	w.shown = v.show(of.Shard, s.moment)
	close(w.Begun)
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return w.Watcher.Follow(ctx, func(census.Status) {}) })
	w.recall(&g, of.Run, of.Store.LastSeq())
	file := v.fileOf(of.Shard)
	file.answered(&commandedShard{commanded{w}})
	s.end = func() {
		file.answered(file.idle)
		cancel()
		if err := errors.Join(g.Wait(), w.Watcher.End(w.Store)); err != nil {
			w.Log.Warn("a shard could not be watched", "shard", of.Shard, "error", err)
		}
		last := s.moment(ctx)
		last.Status.Status = "ended"
		w.shown.Freeze(last)
	}
	return s
}

// moment is what a scrape reads.
func (s *FollowedShard) moment(ctx context.Context) meter.Moment {
	m := s.Walk.moment(ctx)
	all, err := s.Walk.Crawl.Backlog(ctx)
	for _, b := range all {
		m.Outbox += b.URLs
	}
	if err != nil && !errors.Is(err, crawl.ErrEnded) && ctx.Err() == nil {
		s.Walk.Log.Warn("it is not known what a shard has to tell", "error", err)
	}
	return m
}

// A commandedShard answers what other commands ask of a shard's file. What holds for all
// shards is not decided by one.
type commandedShard struct{ commanded }

// Pause is refused.
func (c *commandedShard) Pause(ctx context.Context) (census.Status, error) { return c.Reload(ctx) }

// Unpause is refused.
func (c *commandedShard) Unpause(ctx context.Context) (census.Status, error) { return c.Reload(ctx) }

// Reload is refused.
func (c *commandedShard) Reload(context.Context) (census.Status, error) {
	return census.Status{}, &control.Error{Code: http.StatusConflict,
		Text: "this is one shard of a terrain: to command it on all machines, name its configuration with --config"}
}

// A heldFile is that of a shard which this machine has open. Other commands are answered all the time: by the
// crawl while there is one.
type heldFile struct {
	idle    *idleShard
	answers atomic.Pointer[http.Handler]
}

// ServeHTTP answers a command.
func (f *heldFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*f.answers.Load()).ServeHTTP(w, r)
}

// answered has commands be answered by somebody else.
func (f *heldFile) answered(by serve.Crawl) {
	h := serve.CrawlHandler(by)
	f.answers.Store(&h)
}

// fileOf is the file of a shard, which is open.
func (v *NodeView) fileOf(shard int) *heldFile {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.files[shard]
}

// File has other commands reach the file of a shard, by its name, until end is called.
func (v *NodeView) File(shard int, path string, store *kv.Store) (end func()) {
	f := &heldFile{idle: &idleShard{store: store, stop: v.stop}}
	f.answered(f.idle)
	v.mu.Lock()
	v.files[shard] = f
	v.mu.Unlock()
	server, err := control.Listen(path, f)
	if err != nil {
		v.Voice.Logger().Warn("other commands cannot reach this shard", "shard", shard, "error", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var g errgroup.Group
	g.Go(func() error { return server.Serve(ctx) })
	return func() {
		cancel()
		if err := g.Wait(); err != nil {
			v.Voice.Logger().Warn("other commands could not reach this shard", "shard", shard, "error", err)
		}
	}
}

// An idleShard answers for a file that nobody crawls just now: its machine waits for the hub, or for others. It gives
// out copies.
type idleShard struct {
	commandedShard
	store *kv.Store
	stop  context.CancelCauseFunc
}

// errIdle says that nobody crawls the shard.
var errIdle = &control.Error{Code: http.StatusGone, Text: "this shard is not being crawled just now"}

// Status implements [serve.Crawl].
func (s *idleShard) Status(context.Context, bool) (census.Status, error) {
	return census.Status{}, errIdle
}

// Feed implements [serve.Crawl].
func (s *idleShard) Feed(context.Context, serve.FeedQuery) (*feed.Batch, error) {
	return nil, errIdle
}

// Requests implements [serve.Crawl].
func (s *idleShard) Requests(context.Context, string) (answer.RequestList, error) {
	return answer.RequestList{}, errIdle
}

// Fetching implements [serve.Crawl].
func (s *idleShard) Fetching(context.Context) (answer.Fetching, error) {
	return answer.Fetching{}, errIdle
}

// Origins implements [serve.Crawl].
func (s *idleShard) Origins(context.Context) (answer.OriginList, error) {
	return answer.OriginList{}, errIdle
}

// Stop stops the machine.
func (s *idleShard) Stop(context.Context) (census.Status, error) {
	s.stop(errStopped)
	return census.Status{Status: "stopping", PID: os.Getpid(), Left: census.Left{Depth: -1}}, nil
}

// Metrics implements [serve.Crawl].
func (s *idleShard) Metrics(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, errIdle.Text, errIdle.Code)
}

// Size implements [serve.Crawl].
func (s *idleShard) Size(context.Context) (int64, error) { return s.store.Size(), nil }

// Snapshot implements [serve.Crawl].
func (s *idleShard) Snapshot(to io.Writer) (int64, error) { return s.store.Snapshot(to) }
