package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/schema"
)

func newExportCommand(a *app) *cobra.Command {
	var opts output.Options
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the map as files",
		Long: `Write what is known to files. If no format is given, it writes the files that
[output] of the configuration names. While a crawl is running, it works on a copy of the
state. Files are replaced whole or not at all; one that Ripple did not write is left
alone unless --force is given, and a state file always.

Formats can be combined. Graphs have a node for each host, or for each unit that
--level names, with class, depth, degree, trust, PageRank, harmonic centrality,
component, community and position, the most trusted first. Trust is PageRank that
starts at the origins. The weight of a link is the number of links between pages that
it represents. Its editorial count says how many of these are endorsements: in the text
of a page, not on most pages of a host, and without nofollow, ugc or sponsored.
Rankings, communities and the picture use endorsements, or with --links all every link.
GEXF and the map show at most 100,000 links, and say so. With --level page, --collapse
duplicates makes pages whose texts are nearly the same one node ("ripple duplicates").
--with inlinks adds the hosts outside the terrain that link to origins, by the web graph
that "ripple import --graph" has read: nodes of class "outside", which have its release
and their ranks there, and no part in any metric.

--run N shows the map as run N left it, --run all everything that any run saw. By
default, a page that neither the last completed run nor a later one has met is in no
graph; in SQLite it is "discovered", without links.

From the file of one shard of a terrain, --parquet DIR writes DIR/shard=N, so that those
of all shards form one table; its ids are keys that are the same in all shards.

A folder of CSV opens in Gephi as it is. For Neo4j, write it with --csv-header
neo4j, then: neo4j-admin database import full --nodes=DIR/nodes.csv
--relationships=DIR/edges.csv`,
		Example: `  ripple export                             what [output] names
  ripple export --sqlite terrain.db
  ripple export --map terrain.html --gexf terrain.gexf --level site
  ripple export --csv terrain-csv --level page --without nav,footer,sitewide
  ripple export --parquet terrain-parquet --only quality,discovered --min-weight 3
  ripple export --state old.bolt --sqlite old.db --check`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var changed []string
			for _, name := range output.FormatFlags() {
				if cmd.Flags().Changed(name) {
					changed = append(changed, name)
				}
			}
			return runExport(cmd.Context(), a, opts, changed)
		},
	}
	opts.AddFlags(cmd.Flags())
	return cmd
}

func runExport(ctx context.Context, a *app, opts output.Options, changed []string) error {
	if err := opts.Graph.Parse(); err != nil {
		return err
	}
	targets := opts.Targets()
	if len(targets) > 0 {
		if err := opts.RefuseTargets(targets, changed); err != nil {
			return err
		}
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	gctune.Collect(gctune.Export())
	if len(targets) == 0 {
		if targets, err = output.ConfiguredTargets(&a.named, r); err != nil {
			return err
		}
		if err := opts.RefuseTargets(targets, changed); err != nil {
			return err
		}
	}
	left, err := opts.WriteTargets(ctx, a.Voice, a.stdout, r, targets)
	if err != nil {
		return err
	}
	if text := opts.Graph.Warning(targets); text != "" {
		a.Voice.Say(text)
	}
	if run := r.Run(); r.Live != nil || run.Status == schema.RunRunning {
		text := fmt.Sprintf("run #%d is not over: this is what was known a moment ago", run.ID)
		a.Voice.Tell(term.Event("run not over", text, "run", int(run.ID)))
	}
	return left
}
