package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

type crawlOptions struct {
	fresh  bool
	dryRun bool
	resume bool
	seeds  seedOptions
}

func (o *crawlOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.fresh, "fresh", false,
		"begin an empty map; the old state is kept as a backup, and what\nhosts asked for is remembered")
	f.BoolVar(&o.dryRun, "dry-run", false,
		"show what would be crawled or refused, with estimates; visit no page\nand write nothing")
	f.BoolVar(&o.resume, "resume", false, "resume the interrupted run (the default)")
	o.seeds.addFlags(f)
}

func newCrawlCommand(a *app) *cobra.Command {
	var opts crawlOptions
	cmd := &cobra.Command{
		Use:   "crawl [CONFIG]",
		Short: "Crawl, or resume a crawl",
		Long: `Crawl the web that CONFIG describes (config.toml if none is named). An interrupted
run is resumed; after a completed run the next one begins.

Ctrl-C stops the crawl: open requests get 10 s to finish, and nothing is lost. A
second Ctrl-C leaves at once. SIGHUP reloads the configuration, SIGUSR1 prints the
status. From another terminal, use ripple stats, pause, unpause and stop.

The exit code is 0 if the run was completed, or interrupted by "ripple stop" or
max-run-time; 130 after Ctrl-C, 143 after SIGTERM. "ripple stats --json" shows which
it was, as .run.status.`,
		Example: `  ripple crawl config.toml --dry-run   # what would it do, and how long would it take?
  ripple crawl config.toml             # begin, or resume
  ripple crawl config.toml --fresh     # begin an empty map
  sort new.txt | ripple crawl config.toml --seeds -   # add seeds for this run
  ripple query --csv "SELECT url FROM pages WHERE class = 'quality' AND depth > 3" |
    ripple crawl --seeds -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runCrawl(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runCrawl(ctx context.Context, a *app, opts crawlOptions, args []string) error {
	path, err := a.configPath(args)
	if err != nil {
		return err
	}
	if opts.fresh && opts.resume {
		return usage("--fresh and --resume are opposites; use one of them")
	}
	cfg, err := a.load(path)
	if err != nil {
		return err
	}
	if err := a.warnOfProxy(cfg); err != nil {
		return err
	}
	extra, err := opts.seeds.read()
	if err != nil {
		return err
	}
	if opts.dryRun {
		return runDryRun(ctx, a, cfg, extra, opts.fresh)
	}
	if err := refuseOutputs(cfg); err != nil {
		return err
	}
	w := &walk{app: a, path: path, log: a.logger(), seeds: extra, begun: make(chan struct{})}
	w.cfg.Store(cfg)
	return w.run(ctx, opts.fresh)
}

// configPath is the configuration that a crawl follows.
func (a *app) configPath(args []string) (string, error) {
	switch {
	case a.state != "":
		return "", usage("a crawl takes its state file from [state] path; leave --state out")
	case len(args) > 0 && a.config != "":
		return "", usage("the configuration is named twice, %s and %s", shown(args[0]), shown(a.config))
	case len(args) > 0 && (strings.Contains(args[0], "://") || strings.HasPrefix(args[0], "www.")):
		return "", usage("%s is a URL and no configuration; this writes one that crawls it: ripple init --origin %[1]s",
			shown(clean(args[0], 2048)))
	case len(args) > 0:
		return args[0], nil
	case a.config != "":
		return a.config, nil
	}
	return defaultConfig, nil
}

// load reads a configuration that is to be followed, and tells its notices.
func (a *app) load(path string) (*config.Config, error) {
	cfg, notices, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	if keys := cfg.Unsupported(); len(keys) > 0 {
		return nil, fmt.Errorf("%s: this version of ripple cannot do yet what %s asks for; take it out (%w)",
			shown(path), strings.Join(keys, ", "), errConfig)
	}
	for _, n := range notices {
		a.warn(remark{string(n), "configuration", []any{"notice", string(n)}})
	}
	return cfg, nil
}

// warnOfProxy says what is not safe behind a proxy, if there is one.
func (a *app) warnOfProxy(cfg *config.Config) error {
	proxy, err := fetch.ProxyOf(cfg.Network.Proxy)
	if err == nil && proxy != "" {
		a.warn(remark{"behind the proxy " + clean(proxy, 253) +
			" only literal addresses can be judged: have it refuse names that lead to private ones",
			"behind a proxy only literal addresses can be judged", []any{"proxy", clean(proxy, 253)}})
	}
	return err
}

// openCrawl opens the state file of a crawl, which is made if it is missing.
// When it is locked, and before it is read, locked is called.
func (a *app) openCrawl(path string, fresh bool, locked func()) (*kv.Store, error) {
	if err := hasFolder(path); err != nil {
		return nil, err
	}
	if fresh {
		if err := a.beginFresh(path); err != nil {
			return nil, err
		}
	}
	return openLocked(path, locked)
}

// hasFolder reports an error if the folder of a state file is missing.
func hasFolder(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return hint(usage("the folder %s of the state file does not exist", shown(dir)),
			"create it or change [state] path")
	}
	return nil
}

// A walk is one process's work on a run: the crawl, who watches it and who
// commands it.
type walk struct {
	app     *app
	path    string // of the configuration
	log     *slog.Logger
	cfg     atomic.Pointer[config.Config]
	stop    context.CancelCauseFunc // ends the crawl as a signal does
	begun   chan struct{}           // closed when what follows is there
	store   *kv.Store
	crawl   *crawl.Crawl
	watcher *census.Watcher
	seeds   extraSeeds  // of this run
	writing atomic.Bool // the walk is over, the outputs are being written
}

// run opens the state and crawls. Other commands reach it from the moment at
// which the state that it works on is locked.
func (w *walk) run(ctx context.Context, fresh bool) error {
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	var g errgroup.Group
	beside, cancel := context.WithCancel(context.Background())
	g.Go(func() error { return w.obey(beside) })
	err := w.open(fresh, func() { w.listen(beside, &g) })
	if err == nil {
		defer w.store.Close()
		err = w.work(ctx, beside, &g)
	}
	cancel()
	if errors.Is(err, kv.ErrLost) {
		err = stateError(w.cfg.Load().State.Path, err)
	}
	return errors.Join(err, g.Wait())
}

// open opens the state, and gives the run the seeds that it has beside those of
// the configuration.
func (w *walk) open(fresh bool, locked func()) error {
	cfg := w.cfg.Load()
	store, err := w.app.openCrawl(cfg.State.Path, fresh, locked)
	if err != nil {
		return err
	}
	if cfg, err = w.seeds.forRun(store, cfg); err != nil {
		store.Close()
		return err
	}
	w.store = store
	w.cfg.Store(cfg)
	return nil
}

// work crawls, with what stands beside it in g.
func (w *walk) work(ctx, beside context.Context, g *errgroup.Group) error {
	c, begun, err := crawl.Begin(ctx, w.store, crawl.Options{Config: w.cfg.Load(), Log: w.log, OnVisit: w.tellVisit})
	if err != nil {
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
		g.Go(func() error { return metrics.follow(beside, w.status, warn) })
	}
	w.writing.Store(begun.Run.Walked) // nothing is walked, and nobody answers
	close(w.begun)
	return w.walk(ctx, begun)
}

// walk crawls, unless only the outputs are missing, and ends the run.
func (w *walk) walk(ctx context.Context, begun crawl.Begun) error {
	result := crawl.Result{Run: begun.Run, Walked: true}
	if !begun.Run.Walked {
		var err error
		if result, err = w.watched(ctx); err != nil {
			return fmt.Errorf("run #%d: %w", begun.Run.ID, err)
		}
	}
	w.writing.Store(true)
	return w.finish(ctx, result)
}

// watched crawls and shows how it goes.
func (w *walk) watched(ctx context.Context) (crawl.Result, error) {
	v := newView(w.app, w.log)
	var g errgroup.Group
	watching, cancel := context.WithCancel(context.Background())
	g.Go(func() error { return w.watcher.Follow(watching, v.see) })
	result, err := w.crawl.Run(ctx)
	cancel()
	watchErr := g.Wait()
	v.end()
	if err == nil && watchErr != nil {
		w.log.Warn("the crawl could not be watched", "error", watchErr)
	}
	return result, err
}

func (w *walk) tellVisit(e crawl.Event) {
	attrs := []any{"url", clean(e.URL, 2048), "state", e.State.String(), "status_code", e.Status, "links", e.Links,
		"response_ms", e.Time.Milliseconds()}
	if e.Error != "" {
		attrs = append(attrs, "error", clean(e.Error, 256))
	}
	w.log.Debug("visit", attrs...)
}

func (w *walk) tellBegun(b crawl.Begun) error {
	lines, err := begunLines(w.store, w.cfg.Load(), b, w.seeds.same)
	if err != nil {
		return err
	}
	event := "run begins"
	if b.Resumed {
		event = "run goes on"
	}
	w.app.tell(remark{lines[0], event, []any{"run", b.Run.ID, "pages", b.Run.Pages, "before", b.Before.ID}})
	for _, line := range lines[1:] {
		w.app.say(line)
	}
	return nil
}

// begunLines say which run it is. same says that the configuration differs at most by
// seeds that are given for one run.
func begunLines(store *kv.Store, cfg *config.Config, b crawl.Begun, same bool) ([]string, error) {
	run := b.Run
	var text string
	switch {
	case b.Resumed && run.Walked:
		text = fmt.Sprintf("run #%d has nothing left to visit; its outputs are written", run.ID)
	case b.Resumed:
		text = fmt.Sprintf("run #%d goes on: %s", run.ID, visited(run.Pages))
	case b.Before.ID == 0:
		text = fmt.Sprintf("run #%d begins", run.ID)
	default:
		kept, err := census.Young(store, cfg.Recrawl.MinAge)
		if err != nil {
			return nil, err
		}
		text = fmt.Sprintf("run #%d completed %s ago; run #%d begins; %s younger than %s are kept",
			b.Before.ID, span(time.Since(b.Before.Finished)), run.ID, count(kept, "page", "pages"), span(cfg.Recrawl.MinAge))
	}
	lines := []string{text}
	if b.Changed && !same {
		lines = append(lines, "the configuration has changed since: lists, rules and limits hold from now on, "+
			"visited pages keep their facts")
	}
	return lines, nil
}
