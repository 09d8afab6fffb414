package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

var (
	// errStopped is why a crawl ends that "ripple stop" ends.
	errStopped = errors.New("ripple stop")

	// errOver reports a crawl that has nothing left to pause or to stop.
	ErrOver = &control.Error{Code: http.StatusConflict, Text: "the crawl is over and writes its outputs"}

	// errStarting reports a crawl that cannot be asked yet.
	errStarting = &control.Error{
		Code: http.StatusServiceUnavailable,
		Text: "the crawl is starting and reads what is known; try again, or end it with \"ripple stop\"",
	}
)

// startWait is how long a question waits for a crawl that is starting. It is shorter than the time-out of the
// commands that ask.
const startWait = 3 * time.Second

// Listen has the other commands answered until ctx is done.
func (w *Walk) Listen(ctx context.Context, g *errgroup.Group) {
	server, err := control.Listen(w.Cfg.Load().State.Path, serve.CrawlHandler(&commanded{w}))
	if err != nil {
		w.Log.Warn("other commands cannot reach this crawl", "error", err)
		return
	}
	g.Go(func() error { return server.Serve(ctx) })
}

// A commanded walk answers the other commands; see [serve.Crawl].
type commanded struct{ walk *Walk }

// begun returns when the store, the crawl and the watcher are there. It fails with
// [errStarting] where that takes too long.
func (c *commanded) begun(ctx context.Context) error {
	select {
	case <-c.walk.Begun:
		return nil
	case <-time.After(startWait):
	case <-ctx.Done():
	}
	return errStarting
}

func (c *commanded) Status(ctx context.Context, latest bool) (census.Status, error) {
	if err := c.begun(ctx); err != nil {
		return census.Status{}, err
	}
	if !latest && !c.walk.Writing.Load() {
		c.walk.Watcher.Refresh(ctx)
	}
	return c.walk.status(), nil
}

func (c *commanded) Pause(ctx context.Context) (census.Status, error) {
	return c.command(ctx, func() error { return c.walk.Crawl.Pause() })
}

func (c *commanded) Unpause(ctx context.Context) (census.Status, error) {
	return c.command(ctx, func() error { return c.walk.Crawl.Unpause() })
}

func (c *commanded) command(ctx context.Context, do func() error) (census.Status, error) {
	if err := c.begun(ctx); err != nil {
		return census.Status{}, err
	}
	if c.walk.Writing.Load() {
		return census.Status{}, ErrOver
	}
	return c.walk.status(), do()
}

// Stop ends the crawl as a signal does, also one that is starting: its status is
// then that of run 0.
func (c *commanded) Stop(context.Context) (census.Status, error) {
	if c.walk.Writing.Load() {
		return census.Status{}, ErrOver
	}
	c.walk.stop(errStopped)
	select {
	case <-c.walk.Begun:
		return c.walk.status(), nil
	default:
		return census.Status{Status: "stopping", PID: os.Getpid(), Left: census.Left{Depth: -1}}, nil
	}
}

func (c *commanded) Size(ctx context.Context) (int64, error) {
	if err := c.begun(ctx); err != nil {
		return 0, err
	}
	return c.walk.Store.Size(), nil
}

func (c *commanded) Snapshot(to io.Writer) (int64, error) { return c.walk.Store.Snapshot(to) }

func (c *commanded) Fetching(ctx context.Context) (answer.Fetching, error) {
	if err := c.begun(ctx); err != nil {
		return answer.Fetching{}, err
	}
	f, held := answer.NewFetching(c.walk.Crawl.Flights(), c.walk.Cfg.Load().Rules()), c.walk.Crawl.Held()
	if len(held) == 0 || c.walk.Writing.Load() {
		return f, nil
	}
	err := c.walk.Crawl.View(func(tx *kv.Tx) error {
		for _, one := range held {
			h, err := tx.Hosts.At(one.Host)
			if err != nil {
				return err
			}
			f.Held = append(f.Held, answer.HeldFailure{Domain: h.Name, Why: one.Why, Since: one.Since.UTC()})
		}
		return nil
	})
	if errors.Is(err, crawl.ErrEnded) {
		err = nil
	}
	return f, err
}

func (c *commanded) Origins(ctx context.Context) (answer.OriginList, error) {
	if err := c.begun(ctx); err != nil {
		return answer.OriginList{}, err
	}
	return answer.OriginList{Origins: c.walk.Watcher.Origins()}, nil
}

func (c *commanded) Requests(_ context.Context, domain string) (answer.RequestList, error) {
	return c.walk.requests.of(domain), nil
}

// Feed reads visits between two commits, and those that are held of a walk that is over.
func (c *commanded) Feed(ctx context.Context, q serve.FeedQuery) (*feed.Batch, error) {
	if err := c.begun(ctx); err != nil {
		return nil, err
	}
	if tail := c.walk.tail.Load(); tail != nil && q.Short() {
		return fed(tail.After(q.Since, q.Last))
	}
	if c.walk.Writing.Load() { // or the run had been walked before
		return nil, serve.ErrWriting
	}
	var b *feed.Batch
	lists := c.walk.Cfg.Load().Scope()
	err := c.walk.Crawl.Query(func(store *kv.Store) (err error) {
		b, err = q.Read(store, lists)
		return err
	})
	return fed(b, err)
}

// fed is what comes of reading visits.
func fed(b *feed.Batch, err error) (*feed.Batch, error) {
	switch {
	case errors.Is(err, crawl.ErrEnded), errors.Is(err, feed.ErrTail):
		return nil, serve.ErrWriting
	case errors.Is(err, feed.ErrCursor):
		return nil, &control.Error{Code: http.StatusBadRequest, Text: err.Error()}
	}
	return b, err
}

func (w *Walk) status() census.Status {
	s := w.Watcher.Latest()
	s.Waits = show.WaitText(&s)
	if w.Writing.Load() {
		s.Status, s.Waits = "writing", "the outputs are being written"
	}
	return s
}

// obey follows the signals that only a crawl listens to, until ctx is done. Those
// that come before it has begun are followed then.
func (w *Walk) obey(ctx context.Context) error {
	got := make(chan os.Signal, 4)
	ends := term.EndsWithTerminal()
	term.NotifyCrawl(got)
	defer signal.Stop(got)
	select {
	case <-w.Begun:
	case <-ctx.Done():
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-got:
			switch {
			case !term.IsReload(s):
				status := w.status()
				w.Voice.Tell(term.Event("status", strings.Join(show.StatusLines(&status), "\n"), "status", status))
			case ends && !term.HasTerminal():
				if err := term.Terminate(); err != nil {
					return err
				}
			default:
				_, _ = w.Reload() // it was said
			}
		}
	}
}

// reloadWait is how long a reload waits until the crawl follows the configuration: open requests have 10 s to end.
const reloadWait = 12 * time.Second

// Reload resumes under the configuration file as it is now, and answers once the crawl follows it.
func (c *commanded) Reload(ctx context.Context) (census.Status, error) {
	return c.command(ctx, func() error {
		followed, err := c.walk.Reload()
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

// Reload resumes under the configuration file as it is now. The channel is closed when the crawl follows it. Where that
// cannot be, reload says so and returns why.
func (w *Walk) Reload() (followed <-chan struct{}, err error) {
	w.reloading.Lock()
	defer w.reloading.Unlock()
	if w.Writing.Load() {
		w.Log.Warn(ErrOver.Text + ": the next one reads the configuration again")
		return nil, ErrOver
	}
	if err := w.Crawl.HasRoom(); errors.Is(err, crawl.ErrNoRoom) {
		w.Log.Error("the configuration is not taken; the crawl goes on as before", "error", err)
		return nil, term.Hint(err, "make room there and reload again")
	}
	cfg, err := w.readAgain()
	if err != nil {
		for line := range strings.Lines(term.Complaint(err)) {
			w.Log.Error("the configuration is wrong", "error", strings.TrimSpace(line))
		}
		w.Log.Error("the configuration is not taken; the crawl goes on as before")
		return nil, err
	}
	w.Voice.Say("the configuration was read again; it holds from now on")
	for _, key := range atStart(&w.Cfg.Load().Monitor, &cfg.Monitor) {
		w.Log.Warn("[monitor] " + key + " holds from the next start on")
	}
	w.Cfg.Store(cfg) // before the limit, which is looked at every few seconds
	w.limitMemory(term.CrawlMemory(cfg))
	return w.Crawl.Reload(cfg), nil
}

// readAgain reads the configuration file as it is now, and reports why it cannot be followed.
func (w *Walk) readAgain() (*config.Config, error) {
	cfg, err := statefile.LoadConfig(w.Path, w.Voice)
	if err == nil {
		seeds := seeds.Extra{AsQuality: w.seeds.AsQuality, URLs: w.seeds.URLs}
		cfg, err = seeds.JoinKept(cfg, 0) // those that are refused now may be welcome later
	}
	if err == nil {
		err = w.mayFollow(cfg)
	}
	if err == nil {
		err = w.Crawl.Admits(context.Background(), cfg)
	}
	if err == nil && cfg.Network.Proxy != w.Cfg.Load().Network.Proxy {
		err = warnOfProxy(w.Voice, cfg)
	}
	if err == nil {
		err = w.Sender.Follow(cfg)
	}
	return cfg, err
}

// atStart names the keys of [monitor] that a crawl reads when it starts alone, as far as they differ.
func atStart(old, now *config.Monitor) (keys []string) {
	for _, key := range []struct {
		name string
		same bool
	}{
		{"listen", old.Listen == now.Listen}, {"token-file", old.TokenFile == now.TokenFile},
		{"hosts", slices.Equal(old.Hosts, now.Hosts)}, {"cert-file", old.CertFile == now.CertFile},
		{"key-file", old.KeyFile == now.KeyFile}, {"metrics-csv", old.MetricsCSV == now.MetricsCSV},
	} {
		if !key.same {
			keys = append(keys, key.name)
		}
	}
	return keys
}

// mayFollow reports what a running crawl cannot change.
func (w *Walk) mayFollow(cfg *config.Config) error {
	old := w.Cfg.Load()
	switch {
	case cfg.State.Path != old.State.Path:
		return fmt.Errorf("[state] path cannot change while a crawl runs")
	case cfg.URLIdentity() != old.URLIdentity():
		return fmt.Errorf("[url] cannot change; stop the crawl and use --fresh")
	}
	if err := term.CrawlMemory(cfg).Allows(gctune.Live()); err != nil {
		return err
	}
	return errors.Join(output.Refuse(cfg), refusePages(cfg.Pages))
}
