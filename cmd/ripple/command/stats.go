package command

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type statsOptions struct {
	json  bool
	limit term.Limit
}

func newStatsCommand(a *app) *cobra.Command {
	var opts statsOptions
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show counts, and the hosts that take longest",
		Long: `Count pages by state, class and depth, and list the hosts that are slow, suspended
or cut short: how long each will still take, how many of its pages are missing, and
why. During a crawl, its live status comes first. Errors count visits that
failed, including redirects that lead nowhere, and pages that were not visited because
their host could not be reached.
With [cluster] hub it lists the shards of the terrain: which machine has which, how far
they are, and which wait for others.`,
		Example: "  ripple stats\n  ripple stats --limit -1 --json | jq .slow_hosts",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStats(cmd.Context(), a, opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	term.AddLimit(cmd.Flags(), &opts.limit, term.Limit(serve.Default("stats", "limit")),
		"hosts, and sites whose hosts are not all recorded")
	return cmd
}

func runStats(ctx context.Context, a *app, opts statsOptions) error {
	if cfg := a.named.Terrain(); cfg != nil {
		return runTerrainStats(ctx, a, cfg, opts)
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	s, err := answer.NewStats(r, int(opts.limit))
	if err != nil {
		return err
	}
	if opts.json {
		return term.PrintJSON(a.stdout, s)
	}
	return term.Flushed(a.stdout, func(w io.Writer) error { return show.Stats(w, s) })
}
