package command

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/seeds"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
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
the configuration of the last run). No server is asked. Use it after adding an
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
	if opts.into == "" {
		return replay(a, opts, cfg, state)
	}
	copied, err := copyFor(ctx, a.states, state, opts.into)
	if err != nil {
		return err
	}
	defer os.Remove(copied)
	if err := replay(a, opts, cfg, copied); err != nil {
		return err
	}
	return kv.Rename(copied, opts.into)
}

// replay replays a state file that nobody else has open.
func replay(a *app, opts replayOptions, cfg *config.Config, state string) error {
	store, err := statefile.OpenLocked(state, kv.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	if opts.into != "" {
		if err := crawl.LeavePages(store); err != nil {
			return err
		}
	}
	if cfg == nil {
		if cfg, err = movedConfig(a, store); err != nil {
			return err
		}
	} else if cfg, err = seeds.WithKept(store, cfg); err != nil {
		return err
	}
	done, err := crawl.Replay(store, cfg)
	if err != nil {
		return err
	}
	if err := printReplayed(a, done, cfg, opts.json); err != nil {
		return err
	}
	if done.Pages+done.Missing == 0 {
		return output.ErrNoPages
	}
	return nil
}

// printReplayed tells what was done.
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

// replayed finds the configuration, nil for that of the last run, and the state
// file.
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

// copyFor makes a copy of a state beside a name that nobody has, which it is to be given when
// all is done.
func copyFor(ctx context.Context, from statefile.Files, state, into string) (string, error) {
	f := output.Format{State: true, Check: func(path string, _ bool) error {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s exists; name a new file", term.Shown(path))
		}
		return nil
	}}
	if err := f.RefuseNamed(into, false); err != nil {
		return "", err
	}
	copied, remove, err := from.WorkingCopy(ctx, state)
	if err != nil {
		return "", err
	}
	defer remove()
	next := into + ".compact"
	_ = os.Remove(next) // of one that was killed
	return next, kv.Compact(copied, next)
}

// movedConfig is the configuration of the last run: as the one by which the state was found has it,
// where that differs only in where its files are.
func movedConfig(a *app, store *kv.Store) (*config.Config, error) {
	last, err := statefile.LastConfig(store)
	path := a.named.StateConfig()
	if err != nil || path == "" {
		return last, err
	}
	now, _, err := config.Load(path)
	if err == nil {
		now, err = seeds.WithKept(store, now)
	}
	if err != nil || !now.SameElsewhere(last) {
		return last, nil // it need not be right
	}
	return now, nil
}
