package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

type exportOptions struct {
	force bool
	check bool
	graph *graphOptions
	paths map[string]*string // by format

	progress export.Progress
}

func (o *exportOptions) addFlags(f *pflag.FlagSet) {
	o.paths = map[string]*string{}
	for _, format := range formats() {
		if format.flag != "" {
			o.paths[format.flag] = f.String(format.flag, "", format.usage)
		}
	}
	o.graph = newGraphOptions()
	o.graph.addFlags(f)
	f.BoolVar(&o.force, "force", false, "replace files that Ripple did not write")
	f.BoolVar(&o.check, "check", false, "have SQLite check the database before it takes its name")
}

func newExportCommand(a *app) *cobra.Command {
	var opts exportOptions
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the map as files",
		Long: `Write what is known to files. If no format is given, it writes the files that
[output] of the configuration names. While a crawl is running, it works on a copy of the
state. Files are replaced whole or not at all; one that Ripple did not write is left
alone unless --force is given, and a state file always.

Formats can be combined. Graphs have a node for each host, or for what --level
says, with class, depth, degree, trust, PageRank, harmonic centrality, component,
community and a place in the picture, the most trusted first. Trust is PageRank seen
from the origins. The weight of a link is the number of links between pages that it
stands for, editorial how many of these endorse: they are in the text of a page, not
on most pages of a host, and without nofollow, ugc or sponsored. Rankings, communities
and the picture are made of these, or with --links all of all links. GEXF and the map
show at most 100,000 links, and say so.

--run N shows the map as run N left it, --run all what any run saw. Else a page that
the last completed run and a later one have not met is in no graph; in SQLite it is
"discovered", without links.

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
			for _, name := range formatFlags() {
				if cmd.Flags().Changed(name) {
					changed = append(changed, name)
				}
			}
			return runExport(cmd.Context(), a, opts, changed)
		},
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

// A target is a file to write.
type target struct {
	format format
	path   string
	named  string // by what: "--gexf", "[output] graph-path"
}

func runExport(ctx context.Context, a *app, opts exportOptions, changed []string) error {
	if err := opts.graph.parse(); err != nil {
		return err
	}
	targets := opts.targets()
	if len(targets) > 0 {
		if err := opts.refuse(targets, changed); err != nil {
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
		if targets, err = configuredTargets(&a.named, r); err != nil {
			return err
		}
		if err := opts.refuse(targets, changed); err != nil {
			return err
		}
	}
	left, err := opts.writeAll(ctx, a, r, targets)
	if err != nil {
		return err
	}
	if text := opts.graph.told(targets); text != "" {
		a.voice.Say(text)
	}
	if run := r.Run(); r.Live != nil || run.Status == schema.RunRunning {
		text := fmt.Sprintf("run #%d is not over: this is what was known a moment ago", run.ID)
		a.voice.Tell(term.Event("run not over", text, "run", int(run.ID)))
	}
	return left
}

// writeAll writes the targets and names them. What is left out of one that is written all the
// same, it returns first.
func (o *exportOptions) writeAll(ctx context.Context, a *app, r *statefile.State, targets []target) (left, err error) {
	for _, t := range targets {
		err := a.voice.During("writing "+term.Shown(t.path), func(p export.Progress) error {
			o.progress = p
			return t.format.write(ctx, t.path, r.Survey, *o)
		})
		if errors.As(err, new(*unreadError)) {
			left, err = fmt.Errorf("%s: %w", term.Shown(t.path), err), nil
		}
		if err != nil {
			return left, err
		}
		if _, err := fmt.Fprintln(a.stdout, term.Shown(t.path)); err != nil {
			return left, err
		}
	}
	return left, nil
}

// configuredTargets are the files that [output] names.
func configuredTargets(files *statefile.Target, r *statefile.State) (targets []target, err error) {
	cfg, err := outputConfig(files, r)
	if err != nil {
		return nil, err
	}
	for _, f := range formats() {
		if f.path != nil && f.path(cfg) != "" && !f.atEnd {
			targets = append(targets, target{f, f.path(cfg), f.key})
		}
	}
	if len(targets) == 0 {
		return nil, term.Usage("[output] names no file; name one, as in: ripple export --sqlite terrain.db")
	}
	return targets, nil
}

// outputConfig is the configuration that names the outputs: the one by which the state
// was found, which may have been moved with it, else that of the run.
func outputConfig(files *statefile.Target, r *statefile.State) (*config.Config, error) {
	path := files.ConfigOrDefault()
	if _, err := os.Stat(path); files.State != "" || err != nil {
		return r.Config(), nil
	}
	cfg, _, err := config.Load(path)
	return cfg, err
}

// targets are the files that flags name, in the order of the formats.
func (o *exportOptions) targets() []target {
	var all []target
	for _, f := range formats() {
		if path := o.paths[f.flag]; path != nil && *path != "" {
			all = append(all, target{f, *path, "--" + f.flag})
		}
	}
	return all
}

// refuse reports flags that the targets cannot follow, then the first target that
// cannot be written, or must not be.
func (o *exportOptions) refuse(targets []target, changed []string) error {
	if err := o.graph.fits(targets, changed); err != nil {
		return err
	}
	for _, t := range targets {
		if err := t.format.refuseNamed(t.path, o.force); err != nil {
			return err
		}
	}
	return nil
}
