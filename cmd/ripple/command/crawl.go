package command

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/demo"
	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

func addCrawlFlags(o *session.Options, f *pflag.FlagSet) {
	f.BoolVar(&o.Fresh, "fresh", false,
		"begin with an empty map; the old state is kept as a backup, and so are\nthe delays and suspensions of hosts")
	f.BoolVar(&o.DryRun, "dry-run", false,
		"show what would be crawled or refused, with estimates; visit no page\nand write nothing")
	f.BoolVar(&o.Resume, "resume", false, "resume the interrupted run (the default)")
	f.BoolVar(&o.NewTerrain, "new-terrain", false,
		"with [cluster] hub: begin a terrain at a hub that has none and may\nhave lost one")
	o.Seeds.AddFlags(f)
	f.StringVar(&o.Listen, "listen", "", "serve the desk at `ADDR` while crawling (default: [monitor] listen)")
}

func newCrawlCommand(a *app) *cobra.Command {
	var opts session.Options
	cmd := &cobra.Command{
		Use:   "crawl [CONFIG]",
		Short: "Crawl, or resume a crawl",
		Long: `Crawl the web that CONFIG describes (config.toml if none is named). An interrupted
run is resumed; after a completed run the next one begins.

Ctrl-C stops the crawl: open requests get 10 s to finish, and nothing is lost. A
second Ctrl-C ends it at once. It also ends with its terminal, unless nohup started it.
SIGHUP reloads the configuration, SIGUSR1 prints the status. From another terminal, use
ripple stats, pause, resume, stop and reload.

With [cluster] hub, this machine crawls its part of a terrain that several share: the
shards whose files are in [cluster] folder. See "ripple help machines" and "ripple hub".
A machine without files begins a terrain at a new hub; at one that may have lost its
store, only with --new-terrain.

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
			if cmd.Flags().Changed("resume") && !opts.Resume {
				return term.Usage("--resume=false is no way to crawl; --fresh begins with an empty map")
			}
			return runCrawl(cmd.Context(), a, opts, args)
		},
	}
	addCrawlFlags(&opts, cmd.Flags())
	return cmd
}

func runCrawl(ctx context.Context, a *app, opts session.Options, args []string) error {
	path, err := a.named.ConfigPath(args)
	if err != nil {
		return err
	}
	if !opts.DryRun {
		if err := demo.Served(path); err != nil {
			return err
		}
	}
	opts.Timing = a.Timing
	return session.Crawl(ctx, a.Voice, a.stdout, path, opts)
}
