package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/schema/config"
)

// handler answers the other commands.
func (w *walk) handler() control.Handler {
	return control.Handler{Answer: w.answer, Size: w.store.Size, Snapshot: w.store.Snapshot}
}

func (w *walk) answer(_ context.Context, do string) (any, error) {
	switch do {
	case "status":
		return w.status(), nil
	case "pause", "unpause", "stop":
		if w.writing.Load() {
			return nil, fmt.Errorf("the crawl is over and writes its outputs")
		}
	}
	switch do {
	case "pause":
		return w.status(), w.crawl.Pause()
	case "unpause":
		return w.status(), w.crawl.Unpause()
	case "stop":
		w.crawl.Stop("ripple stop")
		return w.status(), nil
	}
	if cursor, ok := strings.CutPrefix(do, askFeed); ok {
		return w.feed(cursor)
	}
	return nil, fmt.Errorf("this crawl does not know %q; it may be another version of ripple", clean(do, 40))
}

func (w *walk) status() crawlStatus {
	s := *w.watcher.latest.Load()
	if w.writing.Load() {
		s.Status, s.Waits = "writing", "the outputs are being written"
	}
	return s
}

// obey follows the signals that only a crawl listens to, until ctx is done.
func (w *walk) obey(ctx context.Context) error {
	got := make(chan os.Signal, 4)
	notifyCrawl(got)
	defer signal.Stop(got)
	had := hasTerminal()
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
