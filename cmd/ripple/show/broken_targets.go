package show

import (
	"bufio"
	"fmt"
	"io"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/broken"
)

// BrokenTargets prints broken targets, each with at most limit of the pages that link to it.
func BrokenTargets(w io.Writer, groups []broken.Group, limit int) error {
	out := bufio.NewWriter(w)
	var line []byte
	for i := range groups {
		g := &groups[i]
		fmt.Fprintf(out, "%s\n  %s: %s; %s here\n", term.ShownHost(g.To, 2048), g.Class(), term.Clean(g.Why, 300),
			term.Count(len(g.Links), "page links", "pages link"))
		if g.Capture != nil {
			fmt.Fprintf(out, "  %s\n", archivedText(g.Capture))
		}
		for j := range g.Links[:min(limit, len(g.Links))] {
			l := &g.Links[j]
			line = append(append(append(line[:0], "    "...), term.ShownHost(l.From, 2048)...), "  "...)
			line = appendLinkText(line, l.Link.Kinds.First().String(), l.Link.Rel.String(), l.Link.Where(), l.Link.Anchor)
			out.Write(append(line, '\n'))
		}
		if more := len(g.Links) - limit; more > 0 && limit > 0 {
			fmt.Fprintf(out, "    and %s\n", term.Count(more, "more page", "more pages"))
		}
	}
	return out.Flush()
}

func archivedText(c *broken.Capture) string {
	text := "archived on " + c.At.Format(time.DateOnly) + ": " + term.ShownHost(c.URL, 2048)
	if c.File != "" {
		text += " in " + term.Clean(c.File, 300)
	}
	return text
}
