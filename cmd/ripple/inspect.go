package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

type inspectOptions struct {
	limit term.Limit
	json  bool
}

func (o *inspectOptions) addFlags(f *pflag.FlagSet) {
	term.AddLimit(f, &o.limit, 20, "links in each direction, or rows of each list of a host")
	f.BoolVar(&o.json, "json", false, "print JSON, one object for each URL")
}

func newInspectCommand(a *app) *cobra.Command {
	var opts inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect URL|HOST...",
		Short: "Show everything known about a page or a host",
		Long: `Show all that is known of a page: how its URL is read, its class and state and
the rule behind them, the shortest ways to it, what robots.txt decides, its links
in and out, and its visits. For a URL that was never met: how it is read, its
class, whether a rule refuses it, and what robots.txt decides.

For a host, which is a name without a scheme or a slash: its coverage and what is
in the way, when it is asked next, delay, budget and robots.txt, who links to it,
its busiest pages, its errors and its runs.`,
		Example: "  ripple inspect https://example.com/page\n" +
			"  ripple inspect example.com\n" +
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

const (
	maxHistory     = 100 // visits that are shown
	maxOriginPaths = 10
	maxRedirected  = schema.MaxRedirects + 1
)

func runInspect(ctx context.Context, a *app, opts inspectOptions, urls []string) error {
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var wrong []error
	for i, raw := range urls {
		var text strings.Builder
		if err := (inspector{r}).tell(&text, raw, opts); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if i > 0 && !opts.json {
			fmt.Fprintln(a.stdout)
		}
		if _, err := io.WriteString(a.stdout, text.String()); err != nil {
			return err
		}
	}
	return errors.Join(wrong...)
}

// tell writes what is known of a page or a host.
func (r inspector) tell(w io.Writer, raw string, opts inspectOptions) error {
	limit := int(opts.limit)
	if isHost(raw) {
		d, err := r.host(raw, limit)
		switch {
		case err != nil:
			return err
		case opts.json:
			return term.PrintJSON(w, d)
		}
		return printDossier(w, d, limit)
	}
	in, err := r.inspect(raw, limit)
	switch {
	case err != nil:
		return err
	case opts.json:
		return term.PrintJSON(w, in)
	}
	return printInspection(w, in)
}

func (r inspector) inspect(raw string, limit int) (*inspection, error) {
	u, err := parseURL(r.Config().Rules(), raw)
	if err != nil {
		return nil, err
	}
	steps, _, err := r.Config().Rules().Explain(completed(raw))
	if err != nil {
		return nil, err
	}
	verdict := r.Terrain().Classify(u.Norm)
	in := &inspection{Input: raw, URL: u.Norm, Shown: weburl.ShownIfOther(u.Host()), SURT: weburl.SURT(u.Norm),
		Class: verdict.Class.String(), Rule: verdict.Rule}
	in.classRule = verdict.Rule
	for _, s := range steps {
		in.Steps = append(in.Steps, urlStep{s.Name, s.Result})
	}
	if rule, refused := r.Terrain().Refuse(u.Host(), u.PathQuery()); refused && verdict.Class.Visitable() {
		in.Rule = rule.String()
	}
	id, known, err := r.Lookup(u.Norm)
	if err != nil {
		return in, err
	}
	form := u.Form
	if in.Known = known; known {
		if in.inspectedPage, err = r.page(id, u.Norm, limit); err != nil {
			return in, err
		}
		in.Rule, form = in.inspectedPage.rule, cmp.Or(in.inspectedPage.form, form)
	}
	v, ok, err := r.robots(u.Host(), form, "")
	if ok {
		in.Robots = &v
	}
	return in, err
}

// An inspector answers questions about one state.
type inspector struct{ *statefile.State }
