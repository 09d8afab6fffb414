package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/export/summary"
	"github.com/sumi-ripple/ripple/export/whole"
)

type summaryOptions struct {
	run   string
	out   string
	force bool
}

func (o *summaryOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.run, "run", "latest", "the run `N` that is told of; only the latest can be")
	f.StringVar(&o.out, "out", "", "write to `FILE` instead of stdout")
	f.BoolVar(&o.force, "force", false, "replace a file that Ripple did not write")
}

func newSummaryCommand(a *app) *cobra.Command {
	var opts summaryOptions
	cmd := &cobra.Command{
		Use:     "summary",
		Short:   "Tell of the last run, in Markdown",
		Long:    "Tell of the last run in Markdown: what was crawled, what went wrong, which hosts\nmatter, and how much is known to be missing.",
		Example: "  ripple summary\n  ripple summary --out summary.md",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runSummary(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runSummary(ctx context.Context, a *app, opts summaryOptions) error {
	if opts.run != "latest" {
		return usage("--run is %q; only \"latest\" can be told of", clean(opts.run, 40))
	}
	if opts.out != "" {
		f := format{check: replaceable(isOurSummary)}
		if err := f.refuse(opts.out, opts.force); err != nil {
			return usage("--out: %v", err)
		}
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	write := func(w io.Writer) error { return summary.Write(w, r.Survey, thisBuild().Version) }
	if opts.out == "" {
		return flushed(a.stdout, write)
	}
	if err := whole.Stream(ctx, opts.out, write); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout, shown(opts.out))
	return nil
}
