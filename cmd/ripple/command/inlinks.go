package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type inlinksOptions struct {
	minOrigins int
	limit      term.Limit
	csv, json  bool
}

func newInlinksCommand(a *app) *cobra.Command {
	var opts inlinksOptions
	cmd := &cobra.Command{
		Use:   "inlinks",
		Short: "List hosts outside the terrain that link to the origins",
		Long: `List the hosts that link to origins and that the terrain does not know, by the web graph
that "ripple import --graph" has read. Those that link to the most origins come first,
then the best ranked by harmonic centrality among all hosts of the graph.

A web graph is made from a sample of the web: a link that is not listed may exist, and
one that is listed may be gone. --csv lists all, a row for each host and origin.`,
		Example: "  ripple inlinks\n  ripple inlinks --min-origins 2\n  ripple inlinks --csv > inlinks.csv",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runInlinks(cmd.Context(), a, opts) },
	}
	f := cmd.Flags()
	f.IntVar(&opts.minOrigins, "min-origins", serve.Default("inlinks", "min_origins"),
		"list what links to at least `N` origins")
	term.AddLimit(f, &opts.limit, term.Limit(serve.Default("inlinks", "limit")), "hosts, unless --csv lists all")
	f.BoolVar(&opts.csv, "csv", false, "print CSV, one row for each host and origin")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runInlinks(ctx context.Context, a *app, opts inlinksOptions) error {
	switch {
	case opts.minOrigins < 1:
		return term.Usage("--min-origins must be 1 or more")
	case opts.csv && opts.json:
		return term.Usage("--csv and --json exclude each other; use one of them")
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	g, ok, err := r.Survey.Graph()
	switch {
	case err != nil:
		return err
	case !ok:
		a.Voice.Say(output.NoWebGraph)
	case opts.csv:
		a.Voice.Say("hosts outside that link to origins, " + fromSample(g.Release))
	}
	if opts.csv {
		return answer.WriteInlinks(answer.NewCSVRows(a.stdout, answer.InlinkColumns()), r.Survey, opts.minOrigins)
	}
	found, err := term.Finding(a.Voice, "looking for links from outside", func() (*answer.Inlinks, error) {
		return answer.NewInlinks(r.Survey, opts.minOrigins, int(opts.limit))
	})
	switch {
	case err != nil:
		return err
	case opts.json:
		return term.PrintJSON(a.stdout, found)
	case !ok:
		return nil
	}
	return show.Inlinks(a.stdout, found)
}

// fromSample says what the links from outside are from.
func fromSample(release string) string {
	return "by the web graph " + term.Clean(release, 100) + ", which is made from a sample of the web"
}
