package show

import (
	"fmt"
	"io"
	"strconv"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// Path prints a shortest path from an origin to a page.
func Path(w io.Writer, p answer.OriginPath) {
	fmt.Fprintf(w, "from %s: depth %d\n", term.ShownHost(p.Origin, 253), p.Depth)
	for i, h := range p.Path {
		if i == 0 {
			fmt.Fprintf(w, "     %s\n", term.ShownHost(h.URL, 2048))
			continue
		}
		fmt.Fprintf(w, "  -> %s  %s\n", term.ShownHost(h.URL, 2048), linkText(h.Kind, h.Rel, h.Place, h.Anchor))
	}
}

// linkText describes a link.
func linkText(kind, rel, place, anchor string) string {
	return string(appendLinkText(nil, kind, rel, place, anchor))
}

func appendLinkText(b []byte, kind, rel, place, anchor string) []byte {
	if anchor != "" {
		b = append(strconv.AppendQuote(b, term.Clean(anchor, 120)), ' ')
	}
	b = append(append(b, '('), kind...)
	if kind == "anchor" || kind == "frame" { // the others have no place
		b = append(append(b, ", "...), place...)
	}
	if rel != "" {
		b = append(append(b, ", "...), rel...)
	}
	return append(b, ')')
}
