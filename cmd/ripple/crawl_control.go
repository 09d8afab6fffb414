package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/config"
)

var (
	// errStopped is why a crawl ends that "ripple stop" ends.
	errStopped = errors.New("ripple stop")

	// errOver reports a crawl that has nothing left to pause or to stop.
	errOver = errors.New("the crawl is over and writes its outputs")

	// errStarting reports a crawl that cannot be asked yet.
	errStarting = errors.New("the crawl is starting and reads what is known; try again, or end it with \"ripple stop\"")
)

// startWait is how long a question waits for a crawl that is starting: less than
// whoever asks has patience.
const startWait = 3 * time.Second

// listen has the other commands answered until ctx is done.
func (w *walk) listen(ctx context.Context, g *errgroup.Group) {
	server, err := control.Listen(w.cfg.Load().State.Path, control.Handler{Answer: w.answer, Size: w.size, Snapshot: w.snapshot})
	if err != nil {
		w.log.Warn("other commands cannot reach this crawl", "error", err)
		return
	}
	g.Go(func() error { return server.Serve(ctx) })
}

// awaitBegun returns when the store, the crawl and the watcher are there. It fails
// with [errStarting] where that takes too long.
func (w *walk) awaitBegun(ctx context.Context) error {
	select {
	case <-w.begun:
		return nil
	case <-time.After(startWait):
	case <-ctx.Done():
	}
	return errStarting
}

func (w *walk) size(ctx context.Context) (int64, error) {
	if err := w.awaitBegun(ctx); err != nil {
		return 0, err
	}
	return w.store.Size(), nil
}

func (w *walk) snapshot(to io.Writer) (int64, error) { return w.store.Snapshot(to) }

func (w *walk) answer(ctx context.Context, do string) (any, error) {
	if do == "stop" {
		return w.answerStop()
	}
	if err := w.awaitBegun(ctx); err != nil {
		return nil, err
	}
	switch do {
	case "status":
		if !w.writing.Load() {
			w.watcher.refresh(ctx)
		}
		return w.status(), nil
	case "pause", "unpause":
		if w.writing.Load() {
			return nil, errOver
		}
	}
	switch do {
	case "pause":
		return w.status(), w.crawl.Pause()
	case "unpause":
		return w.status(), w.crawl.Unpause()
	}
	if cursor, ok := strings.CutPrefix(do, askFeed); ok {
		return w.feed(cursor)
	}
	return nil, fmt.Errorf("this crawl does not know %q; it may be another version of ripple", clean(do, 40))
}

// answerStop ends the crawl as a signal does, also one that is starting: its
// status is then that of run 0.
func (w *walk) answerStop() (any, error) {
	if w.writing.Load() {
		return nil, errOver
	}
	w.stop(errStopped)
	select {
	case <-w.begun:
		return w.status(), nil
	default:
		return crawlStatus{Status: "stopping", PID: os.Getpid(), Depth: -1}, nil
	}
}

func (w *walk) status() crawlStatus {
	s := *w.watcher.latest.Load()
	if w.writing.Load() {
		s.Status, s.Waits = "writing", "the outputs are being written"
	}
	return s
}

// obey follows the signals that only a crawl listens to, until ctx is done. Those
// that come before it has begun are followed then.
func (w *walk) obey(ctx context.Context) error {
	got := make(chan os.Signal, 4)
	notifyCrawl(got)
	defer signal.Stop(got)
	had := hasTerminal()
	select {
	case <-w.begun:
	case <-ctx.Done():
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-got:
			switch {
			case !isReload(s):
				status := w.status()
				w.app.say(strings.Join(statusLines(&status), "\n"))
			case had && !hasTerminal():
				if err := terminate(); err != nil {
					return err
				}
			default:
				w.reload()
			}
		}
	}
}

// reload goes on under the configuration file as it is now, if that can be.
func (w *walk) reload() {
	cfg, err := w.app.load(w.path)
	if err == nil {
		cfg, err = w.seeds.join(cfg)
	}
	if err == nil {
		err = w.mayFollow(cfg)
	}
	if err != nil {
		for line := range strings.Lines(complaint(err)) {
			w.log.Error(strings.TrimSpace(line))
		}
		w.log.Error("the configuration is not taken; the crawl goes on as before")
		return
	}
	w.app.say("the configuration was read again; it holds from now on")
	w.cfg.Store(cfg)
	w.crawl.Reload(cfg)
}

// mayFollow reports what a running crawl cannot change.
func (w *walk) mayFollow(cfg *config.Config) error {
	old := w.cfg.Load()
	switch {
	case cfg.State.Path != old.State.Path:
		return fmt.Errorf("[state] path cannot change while a crawl runs")
	case cfg.URLIdentity() != old.URLIdentity():
		return fmt.Errorf("[url] cannot change; stop the crawl and use --fresh")
	}
	return refuseOutputs(cfg)
}
