package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/changes"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

type diffOptions struct {
	from, to runNumber
	limit    term.Limit
	json     bool
	markdown bool
	gexf     string
	force    bool
}

func (o *diffOptions) addFlags(f *pflag.FlagSet) {
	f.Var(&o.from, "from", "the earlier run `N` (default: the one before the later)")
	f.Var(&o.to, "to", "the later run `N` (default: the newest)")
	term.AddLimit(f, &o.limit, 50, "pages, links and hosts, each")
	f.BoolVar(&o.json, "json", false, "print JSON, with everything")
	f.BoolVar(&o.markdown, "markdown", false, "print Markdown")
	f.StringVar(&o.gexf, "gexf", "", "write a graph to `FILE`, coloured by what changed, instead")
	f.BoolVar(&o.force, "force", false, "replace a file that Ripple did not write")
}

// A runNumber is the run that a flag names; 0: none.
type runNumber uint32

func (n *runNumber) Set(text string) error {
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil || id == 0 {
		return errors.New("it must be the number of a run")
	}
	*n = runNumber(id)
	return nil
}

func (n *runNumber) String() string { return strconv.FormatUint(uint64(*n), 10) }

func (n *runNumber) Type() string { return "N" }

func newDiffCommand(a *app) *cobra.Command {
	var opts diffOptions
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "Show what was added, removed and changed between two runs",
		Long: `Show the pages, links and hosts that were added, removed or changed between two runs,
and how many links of each origin lead to dead pages. A page that has come to show what
its host shows for pages that do not exist is dead, too. A link counts as fixed if its
page is alive again; a deleted link is among the removed ones. A page that the later run
found behind a wall is shown as it was, and counts as not visited. Pages that a run did
not visit again are shown as earlier runs saw them, and hosts of which the later run
visited nothing are named. Pages that the newest run could not reach are shown as
unreachable. If the earlier run is an import of archives, the dead pages behind its
links are listed, those with the most links first. With --json, an added page or link
is "came" and a removed one "went".`,
		Example: "  ripple diff\n  ripple diff --from 1 --to 4 --markdown > changes.md\n" +
			"  ripple diff --json | jq '.pages[] | select(.change == \"went\") | .url'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDiff(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runDiff(ctx context.Context, a *app, opts diffOptions) error {
	if opts.json && opts.markdown || opts.gexf != "" && (opts.json || opts.markdown) {
		return term.Usage("--json, --markdown and --gexf exclude each other; use one of them")
	}
	if opts.gexf != "" {
		f := output.ChangesFormat()
		if err := f.RefuseNamed(opts.gexf, opts.force); err != nil {
			return err
		}
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	d, err := term.Finding(a.Voice, "comparing the runs",
		func() (*survey.Diff, error) {
			return answer.CompareRuns(r.Survey, schema.RunID(opts.from), schema.RunID(opts.to))
		})
	if err != nil {
		return err
	}
	return tellDiff(ctx, a.stdout, r.Survey, d, opts)
}

// tellDiff prints a comparison, or writes it as GEXF.
func tellDiff(ctx context.Context, w io.Writer, s *survey.Survey, d *survey.Diff, opts diffOptions) (err error) {
	if opts.gexf != "" {
		err := atomicfile.Stream(ctx, opts.gexf, func(w io.Writer) error { return changes.GEXF(w, s, d) })
		if err == nil {
			fmt.Fprintln(w, term.Shown(opts.gexf))
		}
		return err
	}
	out := bufio.NewWriter(w)
	if opts.json {
		err = changes.JSON(out, s, d)
	} else {
		err = changes.Text(out, s, d, changes.Options{Markdown: opts.markdown, Limit: int(opts.limit)})
	}
	return errors.Join(err, out.Flush())
}
