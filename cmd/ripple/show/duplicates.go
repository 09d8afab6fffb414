package show

import (
	"bufio"
	"fmt"
	"io"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// Duplicates prints clusters of near-duplicates.
func Duplicates(w io.Writer, d *answer.Duplicates) error {
	out := bufio.NewWriter(w)
	for i := range d.Clusters {
		c := &d.Clusters[i]
		fmt.Fprintf(out, "%s\n  %s", term.ShownHost(c.URL, 2048), term.Count(c.Pages, "page", "pages"))
		if c.Hosts > 1 {
			fmt.Fprintf(out, " on %s", term.Count(c.Hosts, "host", "hosts"))
		}
		fmt.Fprintf(out, ", %s\n", differing(c.Bits))
		for _, p := range c.List {
			fmt.Fprintf(out, "    %s  %s\n", term.ShownHost(p.URL, 2048), differing(p.Bits))
		}
		if more := c.Pages - 1 - len(c.List) - c.Elsewhere; more > 0 {
			fmt.Fprintf(out, "    and %s\n", term.Count(more, "more page", "more pages"))
		}
		if c.Elsewhere > 0 {
			fmt.Fprintf(out, "    and %s on other hosts\n", term.Count(c.Elsewhere, "page", "pages"))
		}
	}
	if more := d.Count - len(d.Clusters); more > 0 {
		fmt.Fprintf(out, "and %s\n", term.Count(more, "more cluster", "more clusters"))
	}
	return out.Flush()
}

// differing says in how many bits SimHashes differ.
func differing(bits int) string { return term.Count(bits, "bit differs", "bits differ") }
