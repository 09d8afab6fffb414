package show

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/suggest"
	"github.com/sumi-ripple/ripple/schema"
)

// Candidate writes a candidate as TOML: the reasons as comments, then its block, unless an earlier
// block covers it.
func Candidate(w io.Writer, found *suggest.Suggestions, c *suggest.Candidate, block string) {
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

// Owner writes hosts that could be one entity as TOML: their links as comments, then the block.
func Owner(w io.Writer, o *suggest.Owner) {
	fmt.Fprintf(w, "# %s: one owner, by their own pages, which name each other with rel=me\n", someOf(o.Hosts))
	for _, l := range o.Links {
		fmt.Fprintf(w, "#   %s -> %s\n", term.ShownHost(l.From, 300), term.ShownHost(l.To, 300))
	}
	fmt.Fprintln(w, o.Block())
}

// Outside writes hosts outside that link to origins as TOML: the reasons as comments, then the block of each.
func Outside(w io.Writer, a *answer.Outside) {
	fmt.Fprintf(w, "# From outside the terrain, by the web graph %s, a sample of the web\n\n", term.Clean(*a.Release, 100))
	for _, h := range a.Hosts {
		block := "# It cannot be the domain of an entry.\n"
		if h.Block != "" {
			block = h.Block + "\n"
		}
		fmt.Fprintf(w, "# %s\n# links to %d of %s in the graph; harmonic %s, pagerank %s\n#   %s\n%s\n",
			term.ShownHost(h.Host, 253), len(h.Origins), term.Count(a.Origins, "origin", "origins"),
			position(h.HarmonicRank), position(h.PageRank), someOf(h.Origins), block)
	}
}

// linkCounts says how many links of an origin are in the text of a page, and how many are
// elsewhere.
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

// coverageText says how far the crawl has covered a candidate.
func coverageText(c *suggest.Candidate) string {
	text := term.Clean(c.Coverage, 300)
	if c.Missing > 0 {
		text += ", " + term.Count(c.Missing, "page", "pages") + " missing"
	}
	if c.Answers == "" {
		text += "; none of its pages is known to answer"
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
		return "# The entry for its domain above covers it.\n"
	}
	return "# It cannot be the domain of an entry.\n"
}

// placed formats the text of a link and its place.
func placed(anchor, place string) string {
	place = cmp.Or(place, schema.LinkRedirect.String())
	if anchor == "" {
		return "(" + place + ")"
	}
	return fmt.Sprintf("%q (%s)", term.Clean(anchor, 120), place)
}
