package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type inspectOptions struct {
	Limit term.Limit
	Place string
	JSON  bool
}

func (o *inspectOptions) addFlags(f *pflag.FlagSet) {
	term.AddLimit(f, &o.Limit, term.Limit(serve.Default("page", "limit")),
		"links in each direction, or rows of each list of a host")
	f.StringVar(&o.Place, "place", "",
		"list who links there, and the busiest pages of a host, by links in one `PLACE` alone: "+
			strings.Join(answer.Places(), ", "))
	f.BoolVar(&o.JSON, "json", false, "print JSON, one object for each URL")
}

func newInspectCommand(a *app) *cobra.Command {
	var opts inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect URL|HOST...",
		Short: "Show everything known about a page or a host",
		Long: `Show everything known about a page: how its URL is read, its class and state and
the rule behind them, the shortest paths to it, what robots.txt decides, its links
in and out, and its visits. For a URL that was never met: how it is read, its
class, whether a rule refuses it, and what robots.txt decides.

For a host, which is a name without a scheme or a slash: its coverage and what
limits it, when it is requested next, delay, budget and robots.txt, who links to it,
its busiest pages, its errors and its runs.

Who links to a page or a host begins with links in the text: endorsements, which are
anchors in main, body or aside that are neither site-wide nor nofollow, ugc or
sponsored. Those to a host are counted from other hosts, those to a page from all.
A pair of pages has one link, in the best of its places; it is an anchor if one of
its kinds is (link_kinds in SQL). A site-wide link is counted in its place as well.
An origin counts if one of its hosts has such a link, an anchor once for each text.`,
		Example: "  ripple inspect https://example.com/page\n" +
			"  ripple inspect example.com\n" +
			"  ripple inspect --place text example.com\n" +
			"  # Who links to the pages of a list, and with which anchors?\n" +
			"  tr '\\n' '\\0' < urls.txt | xargs -0 ripple inspect --json --limit -1 |\n" +
			"    jq -r '.url as $to | .links_in.links[]? | [$to, .url, .anchor] | @csv'",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInspect(cmd.Context(), a, opts, args)
		},
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runInspect(ctx context.Context, a *app, opts inspectOptions, urls []string) error {
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var wrong []error
	for i, raw := range urls {
		var text strings.Builder
		if err := tellInspected((answer.Inspector{State: r}), &text, raw, opts); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if i > 0 && !opts.JSON {
			fmt.Fprintln(a.stdout)
		}
		if _, err := io.WriteString(a.stdout, text.String()); err != nil {
			return err
		}
	}
	return errors.Join(wrong...)
}

// tellInspected prints what is known of a page or a host.
func tellInspected(r answer.Inspector, w io.Writer, raw string, opts inspectOptions) error {
	limit := int(opts.Limit)
	if answer.IsHost(raw) {
		d, err := r.InspectHost(raw, opts.Place, limit)
		switch {
		case err != nil:
			return err
		case opts.JSON:
			return term.PrintJSON(w, d)
		}
		return show.Host(w, d, opts.Place, limit)
	}
	in, err := r.InspectPage(raw, opts.Place, limit)
	switch {
	case err != nil:
		return err
	case opts.JSON:
		return term.PrintJSON(w, in)
	}
	return show.Page(w, in, opts.Place)
}
