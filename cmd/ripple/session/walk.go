package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A walk is a session with one state file: the crawl, and what comes before and after it.
type walk struct {
	Shard
	sender    *webhook.Sender
	seeds     seeds.Extra // of this run
	desk      *desk.Desk  // nil: none is served
	check     *checker    // nil: a crawl that a configuration describes
	transfer  transfer
	reloading sync.Mutex // held while the configuration is read again
}

// newWalk returns a walk under a configuration, whose file is at path.
func newWalk(v *term.Voice, path string, cfg *config.Config) *walk {
	w := &walk{Shard: Shard{session: newSession(v, path, crawl.NewShared(0)), begun: make(chan struct{})}}
	w.cfg.Store(cfg)
	return w
}

// run opens the state and crawls. Other commands reach it as soon as the state is locked.
func (w *walk) run(ctx context.Context, fresh bool) error {
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	var g errgroup.Group
	beside, cancel := context.WithCancel(context.Background())
	g.Go(func() error { return w.obey(beside, w.begun, w.tellStatus, func() { _, _ = w.reload() }) })
	closeDesk := w.serveDesk()
	g.Go(func() error { return w.keepMemory(beside) })
	err := w.ready(ctx, fresh)
	if err == nil {
		err = w.open(fresh, func() { w.listen(beside, &g) })
	}
	if err == nil {
		defer w.store.Close()
		err = w.work(ctx, beside, &g)
	}
	err = errors.Join(err, w.shared.LeaveBrowsers())
	shown := closeDesk() // first, because it gets the last events from this crawl
	cancel()
	if errors.Is(err, kv.ErrLost) {
		err = statefile.Advise(w.cfg.Load().State.Path, err)
	}
	return errors.Join(err, shown, g.Wait())
}

// ready limits the memory, and checks the configuration before the state is touched. It opens the browsers, which stay
// open until the crawl has them.
func (w *walk) ready(ctx context.Context, fresh bool) error {
	cfg := w.cfg.Load()
	m := term.CrawlMemory(cfg)
	w.limitMemory(m)
	w.log.Debug("memory is limited", "limit", m.String())
	if err := m.Refuse(); err != nil {
		return err
	}
	if err := errors.Join(refuseMetrics(cfg.Monitor.MetricsCSV), refusePages(cfg.Pages)); err != nil {
		return err
	}
	if _, err := os.Stat(cfg.State.Path); fresh || errors.Is(err, fs.ErrNotExist) { // no run has seeds yet
		if _, err := w.seeds.Join(cfg); err != nil {
			return err
		}
	}
	return w.shared.KeepBrowsers(ctx, cfg)
}

// refusePages returns an error if a page store cannot be created or written.
func refusePages(p config.Pages) error {
	if !p.Keep {
		return nil
	}
	dir := p.Path
	info, err := os.Stat(dir)
	for errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) { // it will be created
		dir = filepath.Dir(dir)
		info, err = os.Stat(dir)
	}
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", term.Shown(dir))
	}
	if err == nil {
		err = statefile.MayWrite(dir)
	}
	if err != nil {
		return term.WrongConfig(fmt.Errorf("[pages] path: %w", err))
	}
	return nil
}

// open opens the state, and gives the run its seeds in addition to those of the configuration.
func (w *walk) open(fresh bool, locked func()) error {
	cfg := w.cfg.Load()
	m := term.CrawlMemory(cfg)
	voice := w.voice
	if w.check != nil && w.check.scratch { // nobody will look for the backup of a state that is removed
		voice = term.NewVoice(io.Discard)
	}
	store, err := openCrawl(voice, cfg.State.Path, fresh, kv.Options{Locked: locked, Memory: m.ForURLs()})
	if err != nil {
		return m.Explain(err)
	}
	if w.check != nil {
		cfg, err = w.check.mayEnter(store, cfg.State.Path, cfg)
	} else {
		cfg, err = w.seeds.ForRun(store, cfg)
		err = errors.Join(err, statefile.KeepConfig(store, w.path))
	}
	if err != nil {
		store.Close()
		return err
	}
	w.store = store
	w.cfg.Store(cfg)
	return nil
}

// work crawls. Tasks that run next to the crawl until beside is done run in g.
func (w *walk) work(ctx, beside context.Context, g *errgroup.Group) error {
	w.shown = w.meter.Whole(w.moment)
	c, begun, err := crawl.Begin(ctx, w.store, crawl.Options{
		Config: w.cfg.Load(), Log: w.log, OnAnchors: w.check.onAnchors(),
		OnVisit: func(e crawl.Event) { w.tellVisit(e); w.check.visited(e) }, OnRequest: w.requests.add, OnFull: w.tellFull,
		OnCommit: func(c crawl.Commit) { w.meter.Committed(c); w.transfer.add(c) },
		Shared:   w.shared, Waiting: func() int { return int(w.waiting.Load()) },
	})
	if err := errors.Join(err, w.shared.LeaveBrowsers()); err != nil {
		return err
	}
	w.crawl, w.watcher = c, census.NewWatcher(c, &w.cfg, begun.Run)
	if err := w.tellBegun(begun); err != nil {
		return err
	}
	if path := w.cfg.Load().Monitor.MetricsCSV; path != "" {
		metrics, err := openMetrics(path)
		if err != nil {
			return err
		}
		warn := func(err error) { w.log.Warn("metrics cannot be written", "error", err) }
		metrics.transfer = &w.transfer
		g.Go(func() error { return metrics.follow(beside, w.status, warn) })
	}
	if begun.Run.Walked { // all pages are visited, and no crawl answers
		w.keepEnd()
		w.writing.Store(true)
	}
	close(w.begun)
	if !begun.Run.Walked {
		w.recall(g, begun.Run, w.store.LastSeq())
	}
	end := w.telling(ctx, !begun.Run.Walked)
	err = w.complete(ctx, begun)
	end(err)
	return err
}

// complete crawls, unless only the outputs are missing, and ends the run.
func (w *walk) complete(ctx context.Context, begun crawl.Begun) error {
	result := crawl.Result{Run: begun.Run, Walked: true}
	if !begun.Run.Walked {
		var err error
		result, err = w.watched(ctx)
		if !statefile.StoreFailed(err) {
			w.keepEnd()
		}
		if err != nil {
			return fmt.Errorf("run #%d: %w", begun.Run.ID, err)
		}
	}
	w.writing.Store(true)
	return w.finish(ctx, result)
}

// watched crawls and shows the progress.
func (w *walk) watched(ctx context.Context) (crawl.Result, error) {
	v := show.NewStatus(w.voice, w.log)
	var g errgroup.Group
	watching, cancel := context.WithCancel(context.Background())
	g.Go(func() error {
		return w.watcher.Follow(watching, func(s census.Status) {
			w.waiting.Store(int64(s.PagesToVisit))
			v.See(s)
		})
	})
	end := w.check.printing(w)
	result, err := w.crawl.Run(ctx)
	err = errors.Join(err, end())
	cancel()
	watchErr := g.Wait()
	v.End()
	if err == nil && watchErr != nil {
		w.log.Warn("the crawl could not be watched", "error", watchErr)
	}
	return result, err
}

func (w *walk) tellBegun(b crawl.Begun) error {
	if w.check != nil {
		return w.check.tellBegun(b)
	}
	lines, err := begunLines(w.store, w.cfg.Load(), b, w.seeds.Same)
	if err != nil {
		return err
	}
	event := "run begins"
	if b.Resumed {
		event = "run goes on"
	}
	w.voice.Tell(term.Event(event, lines[0], "run", b.Run.ID, "pages", b.Run.Pages, "before", b.Before.ID))
	for _, line := range lines[1:] {
		w.voice.Say(line)
	}
	return nil
}

// begunLines returns the lines that report which run has begun. same means that the configuration
// differs only in the seeds for one run.
func begunLines(store *kv.Store, cfg *config.Config, b crawl.Begun, same bool) ([]string, error) {
	run := b.Run
	var text string
	switch {
	case b.Resumed && run.Walked:
		text = fmt.Sprintf("run #%d has nothing left to visit; its outputs are written", run.ID)
	case b.Resumed:
		text = fmt.Sprintf("run #%d goes on: %s", run.ID, show.Visited(run.Pages))
	case b.Before.ID == 0:
		text = fmt.Sprintf("run #%d begins", run.ID)
	default:
		young, fresh, err := census.Young(store, cfg.Recrawl)
		if err != nil {
			return nil, err
		}
		text = fmt.Sprintf("run #%d completed %s ago; run #%d begins",
			b.Before.ID, term.Span(max(0, time.Since(b.Before.Finished))), run.ID) // 0: a clock was wrong
		if cfg.Recrawl.MinAge > 0 || young+fresh > 0 {
			text += "; " + show.KeptText(young, fresh, term.Span(cfg.Recrawl.MinAge))
		}
	}
	lines := []string{text}
	if b.Changed && !same {
		lines = append(lines, "the configuration has changed since: lists, rules and limits apply from now on, "+
			"visited pages keep their facts")
	}
	return lines, nil
}

// listen answers other commands until ctx is done.
func (w *walk) listen(ctx context.Context, g *errgroup.Group) {
	f := &file{session: w.session, reload: w.reload}
	f.shard.Store(&w.Shard)
	if err := f.listen(ctx, g, w.cfg.Load().State.Path); err != nil {
		w.log.Warn("other commands cannot reach this crawl", "error", err)
	}
}

// tellStatus reports the progress of the crawl.
func (w *walk) tellStatus() {
	status := w.status()
	w.voice.Tell(term.Event("status", strings.Join(show.StatusLines(&status), "\n"), "status", status))
}
