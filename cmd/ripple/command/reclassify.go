package command

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
)

type reclassifyOptions struct {
	dryRun bool
	json   bool
}

func (o *reclassifyOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change, and write nothing")
	f.BoolVar(&o.json, "json", false, "print JSON, with every page that changes")
}

func newReclassifyCommand(a *app) *cobra.Command {
	var opts reclassifyOptions
	cmd := &cobra.Command{
		Use:   "reclassify [CONFIG]",
		Short: "Apply changed lists to the map, without asking a server",
		Long: `Apply the lists and limits in CONFIG (config.toml if none is named) to the pages
already known. Classes, depths and the queue are derived from the recorded links.
No request is sent, and visited pages keep their facts. The next "ripple crawl"
visits pages that have come within reach, and "ripple export" rewrites the outputs.
A running crawl does the same on SIGHUP.`,
		Example: "  ripple reclassify config.toml --dry-run\n  ripple reclassify config.toml && ripple export",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runReclassify(cmd.Context(), a, opts, args) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runReclassify(ctx context.Context, a *app, opts reclassifyOptions, args []string) error {
	path, err := a.named.ConfigPath(args)
	if err != nil {
		return err
	}
	cfg, err := statefile.LoadConfig(path, a.Voice)
	if err != nil {
		return err
	}
	if cfg.Cluster.Hub != "" {
		return term.Usage("%s is for several machines; \"ripple reload\" has those that crawl follow it", term.Shown(path))
	}
	state := cfg.State.Path
	if opts.dryRun {
		copied, remove, err := a.states.WorkingCopy(ctx, state)
		if err != nil {
			return err
		}
		defer remove()
		state = copied
	} else if err := statefile.MustExist(state); err != nil {
		return err
	}
	err = decide.Reclassify(state, cfg, func(store *kv.Store, change *decide.Change) error {
		if opts.json {
			return change.WriteJSON(a.stdout, store)
		}
		return term.Flushed(a.stdout, func(w io.Writer) error { return change.Print(w, store, opts.dryRun) })
	})
	if errors.Is(err, kv.ErrLocked) {
		return term.Hint(err, "a crawl that is running follows it by: ripple reload --state %s", term.Shown(state))
	}
	return err
}
