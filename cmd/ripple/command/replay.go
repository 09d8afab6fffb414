package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema/config"
)

type replayOptions struct {
	into string
	json bool
}

func (o *replayOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.into, "into", "", "write into the new state `FILE` and leave the old one as it is")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newReplayCommand(a *app) *cobra.Command {
	var opts replayOptions
	cmd := &cobra.Command{
		Use:   "replay [CONFIG]",
		Short: "Extract links and facts again from the page store",
		Long: `Extract links and facts again from the stored pages ([pages] keep), under CONFIG (or
the configuration of the last run). No request is sent. Use it after adding an
[[extract]], or with a newer release of Ripple. Pages that are not in the store stay
as they are; the next "ripple crawl" visits pages that have come within reach.`,
		Example: "  ripple replay config.toml\n  ripple replay --state valley.bolt --into again.bolt",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runReplay(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runReplay(ctx context.Context, a *app, opts replayOptions, args []string) error {
	cfg, state, err := replayed(a, args)
	if err != nil {
		return err
	}
	return decide.Replay{
		States: a.states, State: state, Into: opts.into, Config: cfg, Found: a.named.StateConfig(),
		Tell: func(done crawl.Replayed, cfg *config.Config) error { return printReplayed(a, done, cfg, opts.json) },
	}.Run(ctx)
}

// printReplayed prints what was done.
func printReplayed(a *app, done crawl.Replayed, cfg *config.Config, program bool) error {
	if program {
		return term.PrintJSON(a.stdout, struct {
			Run     int    `json:"run_id"`
			Status  string `json:"status"`
			Pages   int    `json:"pages_read"`
			Changed int    `json:"pages_changed"`
			Missing int    `json:"pages_missing"`
		}{int(done.Run.ID), done.Run.Status.String(), done.Pages, done.Changed, done.Missing})
	}
	fmt.Fprintf(a.stdout, "run #%d: %s read from %s, %s other than recorded\n", done.Run.ID,
		term.Count(done.Pages, "page", "pages"), term.Shown(cfg.Pages.Path), term.Commas(done.Changed))
	if done.Missing > 0 {
		text := term.Count(done.Missing, "page is", "pages are") + " not in the page store any more; as recorded"
		a.Voice.Tell(term.Event("pages not in the page store", text, "count", done.Missing))
	}
	return nil
}

// replayed returns the state file and the configuration, which is nil for that of the last run.
func replayed(a *app, args []string) (*config.Config, string, error) {
	if len(args) == 0 {
		state, err := a.named.StateFile()
		if err == nil {
			err = statefile.MustExist(state)
		}
		return nil, state, err
	}
	path, err := a.named.ConfigPath(args)
	if err != nil {
		return nil, "", err
	}
	cfg, err := statefile.LoadConfig(path, a.Voice)
	if err == nil {
		err = statefile.OfOne(path, cfg)
	}
	if err != nil {
		return nil, "", err
	}
	return cfg, cfg.State.Path, statefile.MustExist(cfg.State.Path)
}
