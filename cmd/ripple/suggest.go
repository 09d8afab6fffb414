package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/gctune"
	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

type suggestOptions struct {
	links      linksOption
	minOrigins int
	limit      term.Limit
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
Hosts with equally many origins are ranked by trust, which is PageRank seen from the
origins; hosts that never answered come last.
The output is TOML: [[quality]] blocks, with comments that say who links there, and
how, and what the crawl has found there so far. The seed is a page that answered, if
one did. Stub URLs follow as comments, grouped by entity.`,
		Example: `  ripple suggest
  ripple suggest --min-origins 2 >> config.toml
  ripple suggest --json | jq -r '.discovered[].entity'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSuggest(cmd.Context(), a, opts) },
	}
	f := cmd.Flags()
	f.IntVar(&opts.minOrigins, "min-origins", 1,
		"list what at least `N` origins endorse; 0: a link in a footer or the like will do")
	term.AddLimit(f, &opts.limit, 20, "hosts, and as many stubs")
	opts.links.addFlag(f, "take trust from these")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runSuggest(ctx context.Context, a *app, opts suggestOptions) error {
	if opts.minOrigins < 0 {
		return term.Usage("--min-origins must be 0 or more")
	}
	counted, err := opts.links.parse()
	if err != nil {
		return err
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	gctune.Collect(gctune.Export())
	found, err := term.Finding(a.voice, "looking for hosts to add", func() (*suggest.Suggestions, error) {
		return suggest.Find(r.Survey, suggest.Options{
			MinOrigins: opts.minOrigins, Limit: int(opts.limit), Counted: counted,
		})
	})
	if err != nil {
		return err
	}
	if opts.json {
		return term.PrintJSON(a.stdout, newSuggestions(found))
	}
	if len(found.Discovered)+len(found.Stubs) == 0 && opts.limit > 0 {
		a.voice.Tell(term.Event("nothing to suggest", noneFrom(opts.minOrigins), "min_origins", opts.minOrigins))
		return nil
	}
	return term.Flushed(a.stdout, func(w io.Writer) error {
		blocks := suggest.Blocks(found.Discovered)
		for i := range found.Discovered {
			printCandidate(w, found, &found.Discovered[i], blocks[i])
		}
		if len(found.Stubs) > 0 {
			fmt.Fprintln(w, "# Stubs, which are never visited:\n#")
		}
		for i := range found.Stubs {
			printCandidate(w, found, &found.Stubs[i], "")
		}
		return nil
	})
}

// noneFrom says that so many origins link to nothing that could be added.
func noneFrom(origins int) string {
	if origins == 0 {
		return "no origin links to a stub or to a host that is on no list"
	}
	return fmt.Sprintf("nothing is linked from %s or more; --min-origins 0 asks for less",
		term.Count(origins, "origin", "origins"))
}

// printCandidate writes a candidate as TOML: why as comments, then its block, if it is not part of
// one before.
func printCandidate(w io.Writer, found *suggest.Suggestions, c *suggest.Candidate, block string) {
	title := ""
	if c.Title != "" {
		title = ": " + term.Clean(c.Title, 100)
	}
	fmt.Fprintf(w, "# %s%s\n# %d of %s, %s, %s known, trust %.4g\n", term.ShownHost(c.Name, 300), title,
		c.Votes, term.Count(found.Origins, "origin", "origins"),
		term.Count(c.Links, "link", "links"), term.Count(c.Pages, "page", "pages"),
		c.Trust)
	for _, o := range c.Origin {
		fmt.Fprintf(w, "#   %s (%s): %s -> %s %s\n", term.ShownHost(o.Name, 253),
			linkCounts(o), term.ShownHost(o.From, 300), term.ShownHost(o.To, 300), placed(o.Anchor, o.Place))
	}
	if c.Class.Visitable() {
		fmt.Fprintln(w, "# coverage: "+coverageText(c))
	}
	fmt.Fprintln(w, candidateBlock(c, block))
}

// linkCounts tells how many links of an origin are in the text of a page, and how many
// are not.
func linkCounts(o suggest.Origin) string {
	var parts []string
	if o.Editorial > 0 {
		parts = append(parts, term.Count(o.Editorial, "endorsement", "endorsements"))
	}
	if o.Elsewhere > 0 {
		parts = append(parts, term.Commas(o.Elsewhere)+" elsewhere")
	}
	if o.SiteWide > 0 {
		parts = append(parts, term.Commas(o.SiteWide)+" site-wide")
	}
	text := strings.Join(parts, ", ")
	if o.Editorial == 0 {
		return "only " + text
	}
	return text
}

// coverageText tells what a crawl made of a candidate so far.
func coverageText(c *suggest.Candidate) string {
	text := term.Clean(c.Coverage, 300)
	if c.Missing > 0 {
		text += ", " + term.Count(c.Missing, "page", "pages") + " missing"
	}
	if c.Answers == "" {
		text += "; no page of it is known to answer"
	}
	return text
}

func candidateBlock(c *suggest.Candidate, block string) string {
	switch {
	case !c.Class.Visitable():
		return "#"
	case block != "":
		return block
	case c.Block() != "":
		return "# The entry of its domain above holds it.\n"
	}
	return "# It cannot be the domain of an entry.\n"
}

// The suggestions as a program reads them.
type (
	suggestions struct {
		Origins    int         `json:"origins"`
		Discovered []candidate `json:"discovered"`
		Stubs      []candidate `json:"stubs"`
	}
	candidate struct {
		Entity   string         `json:"entity"`
		Domain   *string        `json:"domain"`                 // null: it is no single host
		Shown    string         `json:"entity_shown,omitempty"` // to a person, if that is not the entity alone
		Title    *string        `json:"title"`
		Class    string         `json:"class"`
		Hosts    int            `json:"hosts"`
		Pages    int            `json:"pages"`
		Origins  int            `json:"origins"`
		Links    int            `json:"links"`
		Trust    float64        `json:"trust"`
		From     []citingOrigin `json:"linked_from"`
		Coverage string         `json:"coverage"`
		Missing  int            `json:"known_missing"`
		Answers  string         `json:"answering_url"` // a page that answered; empty: none
		Block    string         `json:"block,omitempty"`
	}
	citingOrigin struct {
		Origin    string `json:"quality_origin"`
		Editorial int    `json:"editorial"`
		Elsewhere int    `json:"elsewhere"`
		SiteWide  int    `json:"sitewide"`
		From      string `json:"from_url"`
		To        string `json:"to_url"`
		Anchor    string `json:"anchor"`
		Place     string `json:"place"`
	}
)

func newSuggestions(found *suggest.Suggestions) suggestions {
	return suggestions{Origins: found.Origins, Discovered: newCandidates(found.Discovered),
		Stubs: newCandidates(found.Stubs)}
}

func newCandidates(all []suggest.Candidate) []candidate {
	list := []candidate{}
	for i := range all {
		c := &all[i]
		one := candidate{
			Entity: c.Name, Shown: weburl.ShownIfOther(c.Name),
			Class: c.Class.String(), Hosts: c.Hosts, Pages: c.Pages, Origins: c.Votes, Links: c.Links,
			Trust: c.Trust,
			From:  []citingOrigin{}, Coverage: c.Coverage, Missing: c.Missing,
			Answers: c.Answers,
		}
		if host := c.Host(); host != "" {
			one.Domain = &host
		}
		if c.Title != "" {
			one.Title = &c.Title
		}
		if c.Class.Visitable() {
			one.Block = strings.TrimSpace(c.Block())
		}
		for _, o := range c.Origin {
			one.From = append(one.From, citingOrigin{
				o.Name, o.Editorial, o.Elsewhere, o.SiteWide, o.From, o.To, o.Anchor, o.Place,
			})
		}
		list = append(list, one)
	}
	return list
}

// placed tells the text of a link and where it stands.
func placed(anchor, place string) string {
	place = cmp.Or(place, schema.LinkRedirect.String())
	if anchor == "" {
		return "(" + place + ")"
	}
	return fmt.Sprintf("%q (%s)", term.Clean(anchor, 120), place)
}
