package command

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type pruneOptions struct {
	keep int
	json bool
}

func (o *pruneOptions) addFlags(f *pflag.FlagSet) {
	f.IntVar(&o.keep, "keep-runs", 2, "keep what the newest `N` completed runs recorded, and a run that is not over")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newPruneCommand(a *app) *cobra.Command {
	var opts pruneOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Drop old runs and compact the file",
		Long: `Write what the newest runs recorded to a new file, which then replaces the old one,
whole or not at all. Pages that only older runs knew are forgotten, and those runs
can no longer be compared. The delays, suspensions and robots.txt of hosts are kept.`,
		Example: "  ripple prune --keep-runs 2\n  ripple prune --state valley.bolt --keep-runs 1 --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runPrune(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runPrune(ctx context.Context, a *app, opts pruneOptions) error {
	if opts.keep < 1 {
		return term.Usage("--keep-runs is %d; it must be 1 or more", opts.keep)
	}
	path, err := a.named.StateFile()
	if err != nil {
		return err
	}
	if err := statefile.MustExist(path); err != nil {
		return err
	}
	done, err := term.Finding(a.Voice, "pruning "+term.Shown(path),
		func() (*statefile.Pruned, error) { return statefile.Prune(ctx, path, opts.keep) })
	if err != nil {
		return err
	}
	if opts.json {
		return term.PrintJSON(a.stdout, done)
	}
	fmt.Fprintf(a.stdout, "%s: kept from run #%d on; dropped %s and %s; the file has %s, had %s\n", term.Shown(path),
		done.FirstRun,
		term.Count(done.Dropped, "URL", "URLs"), term.Count(done.Visited, "visit", "visits"),
		humanize.Bytes(uint64(done.After)), humanize.Bytes(uint64(done.Before)))
	return nil
}
