package session

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
)

var (
	// errStopped is the cause of a crawl that "ripple stop" ended.
	errStopped = errors.New("ripple stop")

	// errOver reports a crawl that has nothing left to pause or to stop.
	errOver = &control.Error{Code: http.StatusConflict, Text: "the crawl is over and writes its outputs"}

	// errCheck reports a check of links, which follows its command line.
	errCheck = &control.Error{Code: http.StatusConflict, Text: "a check of links has no configuration to read again"}

	// errStarting reports a crawl that cannot answer yet.
	errStarting = &control.Error{
		Code: http.StatusServiceUnavailable,
		Text: "the crawl is starting and reads what is known; try again, or end it with \"ripple stop\"",
	}

	// errIdle reports a shard that waits for the hub, or for other shards.
	errIdle = &control.Error{Code: http.StatusGone, Text: "this shard is not being crawled just now"}

	// errShard rejects a command that applies to all shards of a terrain.
	errShard = &control.Error{Code: http.StatusConflict,
		Text: "this is one shard of a terrain: to command it on all machines, name its configuration with --config"}
)

// startWait is how long a question waits for a crawl that is starting. It is shorter than the
// time-out of the commands that send the question.
const startWait = 3 * time.Second

// reloadWait is how long a reload waits until the crawl follows the configuration: open requests have 10 s to end.
const reloadWait = 12 * time.Second

// A file is a state file that this process has open. At its control socket it answers other
// commands from the crawl of the file, if there is one; see [serve.Crawl].
type file struct {
	*session
	store  *kv.Store                       // nil: it is opened by the crawl
	shard  atomic.Pointer[Shard]           // nil: the file is not being crawled just now
	reload func() (<-chan struct{}, error) // nil: the file is one of several shards
}

// listen answers other commands, in g, until ctx is done.
func (f *file) listen(ctx context.Context, g *errgroup.Group, path string) error {
	server, err := control.Listen(path, serve.CrawlHandler(f))
	if err != nil {
		return err
	}
	g.Go(func() error { return server.Serve(ctx) })
	return nil
}

// begun returns the crawl of the file once it has begun. It fails with [errStarting] if that takes too long.
func (f *file) begun(ctx context.Context) (*Shard, error) {
	s := f.shard.Load()
	if s == nil {
		return nil, errIdle
	}
	select {
	case <-s.begun:
		return s, nil
	case <-time.After(startWait):
	case <-ctx.Done():
	}
	return nil, errStarting
}

func (f *file) Status(ctx context.Context, latest bool) (census.Status, error) {
	s, err := f.begun(ctx)
	switch {
	case err != nil:
		return census.Status{}, err
	case latest:
		return s.status(), nil
	}
	return s.Status(ctx), nil
}

func (f *file) Pause(ctx context.Context) (census.Status, error) {
	return f.command(ctx, func(s *Shard) error { return s.crawl.Pause() })
}

func (f *file) Unpause(ctx context.Context) (census.Status, error) {
	return f.command(ctx, func(s *Shard) error { return s.crawl.Unpause() })
}

// Reload resumes under the configuration file as it is now, and answers once the crawl follows it.
func (f *file) Reload(ctx context.Context) (census.Status, error) {
	return f.command(ctx, func(*Shard) error {
		followed, err := f.reload()
		if err != nil {
			return &control.Error{Code: http.StatusConflict, Text: strings.TrimPrefix(term.Complaint(err), "ripple: ")}
		}
		select {
		case <-followed:
		case <-time.After(reloadWait):
		case <-ctx.Done():
		}
		return nil
	})
}

func (f *file) command(ctx context.Context, do func(*Shard) error) (census.Status, error) {
	if f.reload == nil {
		return census.Status{}, errShard
	}
	s, err := f.begun(ctx)
	switch {
	case err != nil:
		return census.Status{}, err
	case s.writing.Load():
		return census.Status{}, errOver
	}
	return s.status(), do(s)
}

// Stop ends the session as a signal does, even if it is starting or waiting. The status of such a
// session is that of run 0.
func (f *file) Stop(context.Context) (census.Status, error) {
	starting := census.Status{Status: "stopping", PID: os.Getpid(), Left: census.Left{Depth: -1}}
	answer.Tell(&starting)
	s := f.shard.Load()
	if s == nil {
		f.stop(errStopped)
		return starting, nil
	}
	if s.writing.Load() {
		return census.Status{}, errOver
	}
	f.stop(errStopped)
	select {
	case <-s.begun:
		return s.status(), nil
	default:
		return starting, nil
	}
}

func (f *file) Fetching(ctx context.Context) (answer.Fetching, error) {
	s, err := f.begun(ctx)
	if err != nil {
		return answer.Fetching{}, err
	}
	open, held := answer.NewFetching(s.crawl.Flights(), s.cfg.Load().Rules()), s.crawl.Held()
	if len(held) == 0 || s.writing.Load() {
		return open, nil
	}
	err = s.crawl.View(func(tx *kv.Tx) error {
		for _, one := range held {
			h, err := tx.Hosts.At(one.Host)
			if err != nil {
				return err
			}
			open.Held = append(open.Held, answer.HeldFailure{Domain: h.Name, Why: one.Why, Since: one.Since.UTC()})
		}
		return nil
	})
	if errors.Is(err, crawl.ErrEnded) {
		err = nil
	}
	return open, err
}

func (f *file) Origins(ctx context.Context) (answer.OriginList, error) {
	s, err := f.begun(ctx)
	if err != nil {
		return answer.OriginList{}, err
	}
	return answer.OriginList{Origins: s.watcher.Origins()}, nil
}

// History returns the progress of a run over time; 0: of the current one.
func (f *file) History(ctx context.Context, run int) (h answer.History, err error) {
	s, err := f.begun(ctx)
	if err != nil {
		return h, err
	}
	read := func(tx *kv.Tx) error {
		h, err = answer.NewHistory(tx, run)
		return err
	}
	err = s.crawl.View(read)
	if errors.Is(err, crawl.ErrEnded) {
		err = s.store.View(read)
	}
	return h, err
}

func (f *file) Requests(_ context.Context, domain string) (answer.RequestList, error) {
	s := f.shard.Load()
	if s == nil {
		return answer.RequestList{}, errIdle
	}
	return s.requests.of(domain), nil
}

// Feed reads visits between two commits. After the end of a crawl it reads the visits that are kept
// in memory.
func (f *file) Feed(ctx context.Context, q serve.FeedQuery) (*feed.Batch, error) {
	s, err := f.begun(ctx)
	if err != nil {
		return nil, err
	}
	if tail := s.tail.Load(); tail != nil && q.Short() {
		return fed(tail.After(q.Since, q.Last))
	}
	if s.writing.Load() { // or the run had been walked before
		return nil, serve.ErrWriting
	}
	var b *feed.Batch
	lists := s.cfg.Load().Scope()
	err = s.crawl.Query(func(store *kv.Store) (err error) {
		b, err = q.Read(store, lists, nil)
		return err
	})
	return fed(b, err)
}

// fed adds the code to the error of reading visits.
func fed(b *feed.Batch, err error) (*feed.Batch, error) {
	switch {
	case errors.Is(err, crawl.ErrEnded), errors.Is(err, feed.ErrTail):
		return nil, serve.ErrWriting
	case errors.Is(err, feed.ErrCursor):
		return nil, &control.Error{Code: http.StatusBadRequest, Text: err.Error()}
	}
	return b, err
}

// Metrics answers a scrape of Prometheus.
func (f *file) Metrics(w http.ResponseWriter, r *http.Request) {
	var refused *control.Error
	if _, err := f.begun(r.Context()); errors.As(err, &refused) {
		http.Error(w, refused.Text, refused.Code)
		return
	}
	f.meter.Handler().ServeHTTP(w, r)
}

func (f *file) Size(ctx context.Context) (int64, error) {
	store, err := f.opened(ctx)
	if err != nil {
		return 0, err
	}
	return store.Size(), nil
}

func (f *file) Snapshot(to io.Writer) (int64, error) {
	store, err := f.opened(context.Background())
	if err != nil {
		return 0, err
	}
	return store.Snapshot(to)
}

// opened returns the store of the file. A copy can be made of it even if the file is not being
// crawled.
func (f *file) opened(ctx context.Context) (*kv.Store, error) {
	if f.store != nil {
		return f.store, nil
	}
	s, err := f.begun(ctx)
	if err != nil {
		return nil, err
	}
	return s.store, nil
}
