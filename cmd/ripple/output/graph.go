package output

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// GraphOptions select the content of a graph, and hold the graph for all formats of a call.
type GraphOptions struct {
	level         string
	run           statefile.RunOption
	links         LinksOption
	without, only []string
	kinds         []string
	minWeight     int
	collapse      string
	with          []string
	header        string // of CSV
	gexf          string // version

	opts export.Options
	made *export.Graph
	of   *survey.Survey // the survey that the graph in made was built from
}

// NewGraphOptions returns the defaults.
func NewGraphOptions() *GraphOptions {
	return &GraphOptions{level: "host", header: "gephi", gexf: "1.3", opts: export.Options{Level: export.LevelHost}}
}

func (o *GraphOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.level, "level", o.level, "of graphs: what a node is, `page|host|entity|site`")
	f.StringVar(&o.run.Text, "run", "latest", "of graphs and SQLite: the run that is shown, `N|latest|all`")
	o.links.AddFlag(f, "compute metrics, positions and order from these")
	f.StringSliceVar(&o.without, "without", nil,
		"of graphs: leave out links at these `PLACES`: main, body, aside, header, footer, nav, sitewide")
	f.StringSliceVar(&o.kinds, "kinds", nil,
		"of graphs: keep only links of these `KINDS`: anchor, canonical, redirect, frame, refresh, feed, me, blogroll")
	f.StringSliceVar(&o.only, "only", nil,
		"of graphs: keep only nodes of these `CLASSES`: quality, discovered, stub, blacklist")
	f.IntVar(&o.minWeight, "min-weight", 0, "of graphs: leave out links that represent fewer than `N` between pages")
	f.StringVar(&o.collapse, "collapse", "",
		"of graphs of pages: make near-`duplicates` one node, with the links of all")
	f.StringSliceVar(&o.with, "with", nil,
		"of graphs: add `inlinks`, the hosts outside that link to origins by a web graph")
	f.StringVar(&o.header, "csv-header", o.header, "name the columns of CSV for `gephi|neo4j`")
	f.StringVar(&o.gexf, "gexf-version", o.gexf, "write GEXF `1.3|1.2`; 1.2 for Gephi 0.9 and networkx below 3")
}

// FormatFlags returns the flags that some formats ignore.
func FormatFlags() []string {
	return []string{"check", "csv-header", "gexf-version", "level", "run", "without", "kinds", "only", "min-weight",
		"collapse", "with"}
}

// Parse reads the flags.
func (o *GraphOptions) Parse() (err error) {
	if o.opts.Level, err = export.ParseLevel(o.level); err != nil {
		return term.Usage("--level: %v", err)
	}
	if o.opts.Counted, err = o.links.Parse(); err != nil {
		return err
	}
	if o.opts.Without, err = export.ParsePlaces(o.without); err != nil {
		return term.Usage("--without: %v", err)
	}
	if o.opts.Kinds, err = export.ParseKinds(o.kinds); err != nil {
		return term.Usage("--kinds: %v", err)
	}
	if o.opts.Only, err = export.ParseClasses(o.only); err != nil {
		return term.Usage("--only: %v", err)
	}
	if o.opts.All = o.run.Text == "all"; !o.opts.All {
		if err := o.run.Parse("latest or all"); err != nil {
			return err
		}
	}
	if o.minWeight < 0 {
		return term.Usage("--min-weight is %d; it must be 0 or more", o.minWeight)
	}
	o.opts.MinWeight = o.minWeight
	if o.collapse != "" && o.collapse != "duplicates" {
		return term.Usage("--collapse is %q; it must be duplicates", term.Clean(o.collapse, 40))
	}
	if o.opts.Collapse = o.collapse != ""; o.opts.Collapse && o.opts.Level != export.LevelPage {
		return term.Usage("--collapse needs --level page: other nodes are whole hosts, entities or sites")
	}
	for _, what := range o.with {
		if what != "inlinks" {
			return term.Usage("--with is %q; it must be inlinks", term.Clean(what, 40))
		}
		o.opts.Inlinks = true
	}
	if o.minWeight > 1 && o.opts.Level == export.LevelPage && !o.opts.Collapse {
		return term.Usage("--min-weight has no meaning at page level: a link between two pages weighs 1")
	}
	if o.header != "gephi" && o.header != "neo4j" {
		return term.Usage("--csv-header is %q; it must be gephi or neo4j", term.Clean(o.header, 40))
	}
	if o.gexf != "1.3" && o.gexf != "1.2" {
		return term.Usage("--gexf-version is %q; it must be 1.3 or 1.2", term.Clean(o.gexf, 40))
	}
	return nil
}

// survey returns the survey of the run that --run names.
func (o *GraphOptions) survey(s *survey.Survey) (*survey.Survey, error) {
	if o.opts.All {
		return s.Ever(), nil
	}
	return o.run.Of(s)
}

// graph reads the graph of a survey, once.
func (o *GraphOptions) graph(s *survey.Survey) (*export.Graph, error) {
	if o.made != nil && o.of == s {
		return o.made, nil
	}
	of, err := o.run.Of(s)
	if err != nil {
		return nil, err
	}
	g, err := export.New(of, o.opts)
	if err != nil {
		return nil, err
	}
	o.made, o.of = g, s
	return g, nil
}

// graphFormats returns the formats that show the graph.
func graphFormats() []Format {
	var all []Format
	for _, f := range graph.Formats() {
		one := Format{
			Flag: f.Name, usage: f.Usage, Noun: f.Noun, Graph: &f, Check: f.Check,
			Offer: desk.Format{Name: f.Name, Title: f.Title, For: f.For, Graph: true, Ending: f.Ending},
			Write: func(ctx context.Context, path string, s *survey.Survey, opts Options) error {
				opts.Graph.opts.Progress = opts.progress
				g, err := opts.Graph.graph(s)
				if err != nil {
					return err
				}
				g.Until(ctx, opts.progress)
				return f.Write(ctx, path, g, graph.Options{
					Force: opts.Force, Neo4j: opts.Graph.header == "neo4j", GEXF12: opts.Graph.gexf == "1.2",
				})
			},
		}
		if f.Path != nil {
			one.Key, one.Path = "[output] "+f.Key, func(c *config.Config) string { return f.Path(c.Output) }
		}
		all = append(all, one)
	}
	return all
}

// NoWebGraph says that nothing is known of links from outside.
const NoWebGraph = "no web graph has been read yet: \"ripple import --graph PREFIX\" reads one"

// Warning returns a message about missing in-links, or about what the pictures leave out; empty if there is none.
func (o *GraphOptions) Warning(targets []Target) string {
	if o.made == nil {
		return ""
	}
	if o.opts.Inlinks && o.made.Meta().Inlinks == "" {
		return NoWebGraph
	}
	if o.made.Level() == export.LevelPage {
		return ""
	}
	pictures := slices.ContainsFunc(targets, func(t Target) bool {
		return t.format.Graph != nil && t.format.Graph.Pruned
	})
	p, err := o.made.Picture() // exists since the graph was written
	if err != nil || !pictures || p.Left == 0 {
		return ""
	}
	return fmt.Sprintf("%s show the %s heaviest of %s links; the other formats have all of them",
		strings.Join(prunedTitles(), " and "), term.Commas(len(p.Links)), term.Commas(len(p.Links)+p.Left))
}

// prunedTitles returns the formats that show only the links of the picture.
func prunedTitles() (titles []string) {
	for _, f := range graph.Formats() {
		if f.Pruned {
			titles = append(titles, f.Title)
		}
	}
	return titles
}

// fits returns why the targets of a call do not go together, or do not support its flags.
func (o *GraphOptions) fits(targets []Target, changed []string) error {
	graphs := false
	formats, at := map[string]bool{}, map[string]string{}
	for _, t := range targets {
		f := t.format.Graph
		graphs = graphs || f != nil
		formats[t.format.Flag] = true
		if f != nil && f.Drawn && o.opts.Level == export.LevelPage {
			return term.Usage("%s draws hosts, entities or sites; there are too many pages for a picture", t.named)
		}
		path := filepath.Clean(disk.Behind(t.path))
		if other, ok := at[path]; ok {
			return term.Usage("%s and %s both name %s", other, t.named, term.Shown(t.path))
		}
		at[path] = t.named
	}
	for _, flag := range changed {
		switch {
		case flag == "check" && !formats["sqlite"]:
			return term.Usage("--check is for the SQLite database; add --sqlite FILE")
		case flag == "csv-header" && !formats["csv"]:
			return term.Usage("--csv-header is for CSV; add --csv DIR")
		case flag == "gexf-version" && !formats["gexf"]:
			return term.Usage("--gexf-version is for GEXF; add --gexf FILE")
		case flag == "run" && (graphs || formats["sqlite"]):
		case flag == "run":
			return term.Usage("--run is for graphs and the SQLite database; \"ripple summary\" has a --run of its own")
		case flag == "with" && graphs && len(targets) == 1 && formats["opml"]:
			return term.Usage("--with inlinks is for graphs with links; OPML lists the nodes of the terrain alone")
		case flag != "check" && !graphs:
			return term.Usage("--%s is for graphs; the SQLite database has everything", flag)
		}
	}
	return nil
}
