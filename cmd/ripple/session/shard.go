package session

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/meter"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A Shard is the crawl of one state file in a session: of a whole terrain, or of one of its shards.
// In the second case it is the [node.Follower] of that crawl.
type Shard struct {
	*session
	cfg     atomic.Pointer[config.Config]
	begun   chan struct{} // closed when the fields below are set
	store   *kv.Store
	crawl   *crawl.Crawl
	watcher *census.Watcher
	shown   *meter.Collector
	waiting atomic.Int64              // pages to visit, as last counted
	writing atomic.Bool               // the crawl is over, the outputs are being written
	tail    atomic.Pointer[feed.Tail] // of a crawl that is over

	requests lastRequests
	end      func() // ends what runs next to the crawl of one of several shards
}

// Status implements [node.Follower].
func (s *Shard) Status(ctx context.Context) census.Status {
	if !s.writing.Load() {
		s.watcher.Refresh(ctx)
	}
	return s.status()
}

// Reconfigured implements [node.Follower].
func (s *Shard) Reconfigured(cfg *config.Config) {
	own := *cfg
	own.State.Path = s.cfg.Load().State.Path
	s.cfg.Store(&own)
}

// End implements [node.Follower].
func (s *Shard) End() { s.end() }

// status returns the result of the last look at the crawl.
func (s *Shard) status() census.Status {
	now := s.watcher.Latest()
	if s.writing.Load() {
		now.Status = "writing"
	}
	answer.Tell(&now)
	return now
}

// moment returns what a scrape reads.
func (s *Shard) moment(ctx context.Context) meter.Moment {
	m := meter.Moment{Status: s.Status(ctx), State: s.store.Size()}
	all, err := s.crawl.Backlog(ctx)
	for _, b := range all {
		m.Outbox += b.URLs
	}
	expected := errors.Is(err, crawl.ErrEnded) || errors.Is(err, crawl.ErrPart) // over, or not one of several shards
	if err != nil && !expected && ctx.Err() == nil {
		s.log.Warn("the unsent messages of a shard are not known", "error", err)
	}
	return m
}

// recall counts, next to the walk, what the run had visited before this process.
func (s *Shard) recall(g *errgroup.Group, run schema.Run, last schema.Seq) {
	g.Go(func() error {
		err := s.shown.Recall(s.crawl.View, run.FirstVisit, last)
		if errors.Is(err, crawl.ErrEnded) {
			return nil
		}
		return err
	})
}

func (s *Shard) tellVisit(e crawl.Event) {
	s.shown.Visited(e)
	attrs := []any{"url", term.Clean(e.URL, 2048), "state", e.State.String(), "status_code", e.Status, "links", e.Links,
		"response_ms", e.Time.Milliseconds()}
	if e.Error != "" {
		attrs = append(attrs, "error", term.Clean(e.Error, 256))
	}
	s.log.Debug("visit", attrs...)
}

// keepEnd keeps the last visits of a walk that is over, and its result.
func (s *Shard) keepEnd() {
	tail, err := feed.ReadTail(s.store, s.cfg.Load().Scope(), serve.KeptVisits)
	if err == nil {
		s.tail.Store(tail)
		err = s.watcher.End(s.store)
	}
	if err != nil {
		s.log.Warn("the end of the walk is not shown at the desk", "error", err)
	}
}
