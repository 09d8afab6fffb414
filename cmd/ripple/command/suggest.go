package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/output"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

type suggestOptions struct {
	links      output.LinksOption
	minOrigins int
	limit      term.Limit
	outside    bool
	json       bool
}

func newSuggestCommand(a *app) *cobra.Command {
	var opts suggestOptions
	cmd := &cobra.Command{
		Use:   "suggest",
		Short: "Suggest hosts to add: those that many origins link to",
		Long: `Rank hosts that are on no list by the number of origins that endorse them: that link
to them in the text of a page, not on most pages of a host, and without nofollow, ugc
or sponsored. Other links are shown but do not count. Origins of one site count once.
Hosts with equally many origins are ranked by trust, which is PageRank that starts at
the origins; hosts that never answered come last.
The output is TOML: [[quality]] blocks, with comments that say who links there, and
how, and what the crawl has found there so far. The seed is a page that answered, if
one did. Stub URLs follow as comments, grouped by entity. Last come [[entity]] blocks,
for hosts of different sites whose pages name each other as the same person's with
rel=me, their front pages among them.
With --outside, the hosts are those that link to the origins and that the terrain does
not know, by the web graph that "ripple import --graph" has read, which is made from a
sample of the web. They are ranked by the number of origins that they link to, then by
harmonic centrality among all hosts of the graph.`,
		Example: `  ripple suggest
  ripple suggest --min-origins 2 >> config.toml
  ripple suggest --outside --limit 10
  ripple suggest --json | jq -r '.discovered[].entity'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if opts.outside && cmd.Flags().Changed("links") {
				return term.Usage("--links is for trust, which hosts outside have not; leave it out with --outside")
			}
			return runSuggest(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	f.IntVar(&opts.minOrigins, "min-origins", serve.Default("suggest", "min_origins"),
		"list what at least `N` origins endorse; 0: a link in a footer or the like will do")
	term.AddLimit(f, &opts.limit, term.Limit(serve.Default("suggest", "limit")), "hosts, and as many stubs")
	opts.links.AddFlag(f, "take trust from these")
	f.BoolVar(&opts.outside, "outside", false, "suggest hosts that link to the origins from outside, by a web graph")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runSuggest(ctx context.Context, a *app, opts suggestOptions) error {
	if opts.minOrigins < 0 {
		return term.Usage("--min-origins must be 0 or more")
	}
	counted, err := opts.links.Parse()
	if err != nil {
		return err
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	gctune.Collect(gctune.Export())
	if opts.outside {
		return suggestOutside(a, r.Survey, opts)
	}
	found, err := term.Finding(a.Voice, "looking for hosts to add", func() (*suggest.Suggestions, error) {
		return suggest.Find(r.Survey, suggest.Options{
			MinOrigins: opts.minOrigins, Limit: int(opts.limit), Counted: counted,
		})
	})
	if err != nil {
		return err
	}
	if opts.json {
		return term.PrintJSON(a.stdout, answer.NewSuggestions(found))
	}
	if len(found.Discovered)+len(found.Stubs)+len(found.Owners) == 0 && opts.limit > 0 {
		a.Voice.Tell(term.Event("nothing to suggest", noneFrom(opts.minOrigins), "min_origins", opts.minOrigins))
		return nil
	}
	return term.Flushed(a.stdout, func(w io.Writer) error {
		blocks := suggest.Blocks(found.Discovered)
		for i := range found.Discovered {
			show.Candidate(w, found, &found.Discovered[i], blocks[i])
		}
		if len(found.Stubs) > 0 {
			fmt.Fprintln(w, "# Stubs, which are never visited:\n#")
		}
		for i := range found.Stubs {
			show.Candidate(w, found, &found.Stubs[i], "")
		}
		for i := range found.Owners {
			show.Owner(w, &found.Owners[i])
		}
		return nil
	})
}

// noneFrom returns the message for an empty list of suggestions with a minimum of origins.
func noneFrom(origins int) string {
	if origins == 0 {
		return "no origin links to a stub or to a host that is on no list"
	}
	return fmt.Sprintf("nothing is linked from %s or more; --min-origins 0 asks for less",
		term.Count(origins, "origin", "origins"))
}

// suggestOutside suggests hosts outside that link to origins.
func suggestOutside(a *app, s *survey.Survey, opts suggestOptions) error {
	found, err := term.Finding(a.Voice, "looking for links from outside", func() (*answer.Outside, error) {
		return answer.NewOutside(s, opts.minOrigins, int(opts.limit))
	})
	switch {
	case err != nil:
		return err
	case opts.json:
		return term.PrintJSON(a.stdout, found)
	case found.Release == nil:
		a.Voice.Say(output.NoWebGraph)
		return nil
	case len(found.Hosts) == 0 && opts.limit > 0:
		text := fmt.Sprintf("nothing outside links to %s or more, %s", term.Count(opts.minOrigins, "origin", "origins"),
			fromSample(*found.Release))
		a.Voice.Tell(term.Event("nothing to suggest", text, "min_origins", opts.minOrigins))
		return nil
	}
	return term.Flushed(a.stdout, func(w io.Writer) error {
		show.Outside(w, found)
		return nil
	})
}
