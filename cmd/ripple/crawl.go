package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

type crawlOptions struct {
	fresh  bool
	dryRun bool
	resume bool
	seeds  seedOptions
	listen string
}

func (o *crawlOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.fresh, "fresh", false,
		"begin with an empty map; the old state is kept as a backup, and what\nhosts asked for is remembered")
	f.BoolVar(&o.dryRun, "dry-run", false,
		"show what would be crawled or refused, with estimates; visit no page\nand write nothing")
	f.BoolVar(&o.resume, "resume", false, "resume the interrupted run (the default)")
	o.seeds.addFlags(f)
	f.StringVar(&o.listen, "listen", "", "serve the desk at `ADDR` while crawling (default: [monitor] listen)")
}

func newCrawlCommand(a *app) *cobra.Command {
	var opts crawlOptions
	cmd := &cobra.Command{
		Use:   "crawl [CONFIG]",
		Short: "Crawl, or resume a crawl",
		Long: `Crawl the web that CONFIG describes (config.toml if none is named). An interrupted
run is resumed; after a completed run the next one begins.

Ctrl-C stops the crawl: open requests get 10 s to finish, and nothing is lost. A
second Ctrl-C leaves at once. It ends with its terminal, too, unless nohup began it.
SIGHUP reloads the configuration, SIGUSR1 prints the status. From another terminal, use
ripple stats, pause, resume, stop and reload.

With [cluster] hub, this machine crawls its part of a terrain that several share: the
shards whose files are in [cluster] folder. See "ripple help machines" and "ripple hub".

The exit code is 0 if the run was completed, or interrupted by "ripple stop" or
max-run-time; 130 after Ctrl-C, 143 after SIGTERM. "ripple stats --json" shows which
it was, as .run.status.`,
		Example: `  ripple crawl config.toml --dry-run   # what would it do, and how long would it take?
  ripple crawl config.toml             # begin, or resume
  ripple crawl config.toml --fresh     # begin with an empty map
  sort new.txt | ripple crawl config.toml --seeds -   # add seeds for this run
  ripple query --csv "SELECT url FROM pages WHERE class = 'quality' AND state = 'failed'" |
    ripple crawl --seeds -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("resume") && !opts.resume {
				return term.Usage("--resume=false is no way to crawl; --fresh begins with an empty map")
			}
			return runCrawl(cmd.Context(), a, opts, args)
		},
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runCrawl(ctx context.Context, a *app, opts crawlOptions, args []string) error {
	path, err := a.named.ConfigPath(args)
	if err != nil {
		return err
	}
	if opts.fresh && opts.resume {
		return term.Usage("--fresh and --resume are opposites; use one of them")
	}
	cfg, err := statefile.LoadConfig(path, a.voice)
	if err != nil {
		return err
	}
	if err := warnOfProxy(a.voice, cfg); err != nil {
		return err
	}
	extra, err := opts.seeds.read()
	if err != nil {
		return err
	}
	if opts.dryRun {
		return runDryRun(ctx, a, cfg, extra, opts)
	}
	term.OutliveReaders()
	if cfg.Cluster.Hub != "" {
		return runNode(ctx, a, path, cfg, opts)
	}
	if err := refuseOutputs(cfg); err != nil {
		return err
	}
	sender, err := newSender(cfg, a.voice.Logger())
	if err != nil {
		return err
	}
	w := &walk{voice: a.voice, path: path, log: a.voice.Logger(), sender: sender, seeds: extra,
		machine: crawl.NewMachine(0), begun: make(chan struct{})}
	w.cfg.Store(cfg)
	if err := w.openDesk(opts.listen); err != nil {
		return err
	}
	return w.run(ctx, opts.fresh)
}

// warnOfProxy says what is not safe behind a proxy, if there is one.
func warnOfProxy(v *term.Voice, cfg *config.Config) error {
	proxy, err := fetch.ProxyOf(cfg.Network.Proxy)
	if err == nil && proxy != "" {
		v.Warn(term.Event("behind a proxy only literal addresses can be judged", "behind the proxy "+term.Clean(proxy, 253)+
			" only literal addresses can be judged: have it refuse names that lead to private ones", "proxy", term.Clean(proxy,
			253)))
	}
	return err
}

// openCrawl opens the state file of a crawl, which is made if it is missing.
func openCrawl(v *term.Voice, path string, fresh bool, opts kv.Options) (*kv.Store, error) {
	if err := hasFolder(path); err != nil {
		return nil, err
	}
	if fresh {
		if err := statefile.BeginFresh(v, path); err != nil {
			return nil, err
		}
	}
	return statefile.OpenLocked(path, opts)
}

// hasFolder reports an error if the folder of a state file is missing, or the file is a folder itself.
func hasFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return statefile.Advise(path, fmt.Errorf("%s is a folder: %w", term.Shown(path), kv.ErrForeign))
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return term.Hint(term.Usage("the folder %s of the state file does not exist", term.Shown(dir)),
			"create it or change [state] path")
	}
	return nil
}
