package show

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// Inlinks prints who links to the origins from outside.
func Inlinks(w io.Writer, a *answer.Inlinks) error {
	out := bufio.NewWriter(w)
	one, many := "host", "hosts"
	if a.Level == "domain" {
		one, many = "domain", "domains"
	}
	fmt.Fprintf(out, "Web graph %s of %s, a sample of the web\n\n", term.Clean(*a.Release, 100), many)
	t := term.NewTable(out)
	t.Row("origin", "linked from")
	for _, o := range a.Origins {
		from := term.Count(o.Hosts, one, many) + " outside"
		if o.Found == 0 {
			from = "(not in the graph)"
		}
		t.Row(term.ShownHost(o.Origin, 253), from)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(a.Hosts) > 0 {
		fmt.Fprintln(out)
		t = term.NewTable(out)
		t.Row(one, "harmonic", "pagerank", "origins", "links to")
		for _, h := range a.Hosts {
			t.Row(term.ShownHost(h.Host, 253), position(h.HarmonicRank), position(h.PageRank), len(h.Origins), someOf(h.Origins))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	if more := a.HostCount - len(a.Hosts); more > 0 {
		fmt.Fprintf(out, "and %s\n", term.Count(more, "more "+one, "more "+many))
	}
	return out.Flush()
}

// position formats a rank.
func position(rank *int) string {
	if rank == nil {
		return "-"
	}
	return "#" + term.Commas(*rank)
}

// someOf lists the first names.
func someOf(names []string) string {
	const most = 5
	shown := term.ShownHosts(names[:min(len(names), most)])
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return strings.Join(shown, ", ")
}
