package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/summary"
)

type summaryOptions struct {
	run   statefile.RunOption
	links output.LinksOption
	out   string
	force bool
}

func (o *summaryOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.run.Text, "run", "latest", "the run to summarise, `N|latest`")
	o.links.AddFlag(f, "rank domains and pages by these")
	f.StringVar(&o.out, "out", "", "write to `FILE` instead of stdout")
	f.BoolVar(&o.force, "force", false, "replace a file that Ripple did not write")
}

func newSummaryCommand(a *app) *cobra.Command {
	var opts summaryOptions
	cmd := &cobra.Command{
		Use:   "summary",
		Short: "Summarise a run in Markdown",
		Long: `Summarise the last run in Markdown: what was crawled, what went wrong, which hosts
matter, and how much is known to be missing. An older run is shown as it was when
it ended, without what is kept for the last run only: budgets, delays and caps,
hosts that were given up or asked Ripple to wait, and what was found without
being recorded.`,
		Example: "  ripple summary\n  ripple summary --run 1\n  ripple summary --out summary.md",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runSummary(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runSummary(ctx context.Context, a *app, opts summaryOptions) error {
	counted, err := opts.links.Parse()
	if err != nil {
		return err
	}
	if err := opts.run.Parse("latest"); err != nil {
		return err
	}
	if opts.out != "" {
		f := output.Format{Check: output.Replaceable(output.IsOurSummary), Noun: "a summary"}
		if err := f.RefuseNamed(opts.out, opts.force); err != nil {
			return err
		}
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	s, err := opts.run.Of(r.Survey)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return summary.Write(w, s, term.ThisBuild().Version, counted) }
	if opts.out != "" {
		err := a.Voice.During("writing "+term.Shown(opts.out),
			func(export.Progress) error { return atomicfile.Stream(ctx, opts.out, write) })
		if err == nil {
			fmt.Fprintln(a.stdout, term.Shown(opts.out))
		}
		return err
	}
	text, err := term.Finding(a.Voice, "summing up the run", func() (string, error) {
		var b strings.Builder
		err := write(&b)
		return b.String(), err
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.stdout, text)
	return err
}
