package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/decide"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/webgraph"
)

// A graphOptions says which web graph is read.
type graphOptions struct{ prefix, ranks string }

func (o *graphOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.prefix, "graph", "",
		"read the web graph whose files begin with `PREFIX`: PREFIX-vertices.txt.gz,\nPREFIX-edges.paths.gz and so on")
	f.StringVar(&o.ranks, "ranks", "", "read the ranks from `FILE`; default: PREFIX-ranks.txt.gz, if it exists")
}

// runImportGraph records who links to the origins from outside.
func runImportGraph(ctx context.Context, a *app, opts graphOptions, program bool) error {
	state, err := a.named.StateFile()
	if err == nil {
		err = statefile.MustExist(state)
	}
	if err != nil {
		return err
	}
	files, err := webgraph.Find(opts.prefix, opts.ranks)
	if missing := new(webgraph.MissingError); errors.As(err, &missing) {
		return term.Hint(err, "name the files up to \"-%s\", with their folder", missing.List)
	}
	if err != nil {
		return err
	}
	gctune.Collect(gctune.Export())
	var done webgraph.Result
	err = a.Voice.During("reading the web graph "+term.Clean(files.Release, 100), func(p export.Progress) (err error) {
		done, err = decide.GraphImport{State: state, Files: files, See: p}.Run(ctx)
		return err
	})
	if errors.Is(err, webgraph.ErrNoOrigin) {
		return term.Hint(err, "a sample of the web lacks many hosts; nothing was changed")
	}
	if err != nil {
		return err
	}
	return printGraph(a, files, &done, program)
}

// printGraph prints what was found.
func printGraph(a *app, files *webgraph.Files, done *webgraph.Result, program bool) error {
	for _, place := range done.Bad {
		a.Voice.Tell(term.Event("unreadable line", "passed over an unreadable line: "+term.Shown(place), "place", place))
	}
	if more := int(done.Unreadable) - len(done.Bad); more > 0 {
		text := "passed over " + term.Count(more, "more unreadable line", "more unreadable lines")
		a.Voice.Tell(term.Event("unreadable lines", text, "count", more))
	}
	there := 0
	for _, n := range done.Found {
		if n > 0 {
			there++
		}
	}
	if program {
		return term.PrintJSON(a.stdout, struct {
			Release    string `json:"release"`
			Sample     bool   `json:"sample"`
			Domains    bool   `json:"domains"`
			Bytes      int64  `json:"bytes_read"`
			Vertices   int    `json:"vertices"`
			Edges      int    `json:"edges"`
			Origins    int    `json:"origins"`
			There      int    `json:"origins_found"`
			Hosts      int    `json:"host_count"`
			Known      int    `json:"known_count"`
			Unreadable int    `json:"lines_unreadable"`
		}{done.Release, true, done.Domains, files.Bytes, int(done.Vertices), int(done.Edges), len(done.Origins), there,
			int(done.Sources), int(done.Known), int(done.Unreadable)})
	}
	one, many := "host", "hosts"
	if done.Domains {
		one, many = "domain", "domains"
	}
	fmt.Fprintf(a.stdout, "%s: %s and %s read from %s; %d of %s in it\n", term.Clean(done.Release, 100),
		term.Count(int(done.Vertices), one, many), term.Count(int(done.Edges), "link", "links"),
		humanize.Bytes(uint64(files.Bytes)), there, term.Count(len(done.Origins), "origin", "origins"))
	fmt.Fprintf(a.stdout, "%s outside link to them; %s more that the terrain knows are left out\n",
		term.Count(int(done.Sources), one, many), term.Commas(int(done.Known)))
	a.Voice.Say("a web graph is made from a sample of the web, so there may be others; \"ripple inlinks\" lists the hosts")
	return nil
}
