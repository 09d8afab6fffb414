package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/export/broken"
	"github.com/sumi-ripple/ripple/kv/survey"
)

type brokenOptions struct {
	csv  bool
	json bool
}

func newBrokenCommand(a *app) *cobra.Command {
	var opts brokenOptions
	cmd := &cobra.Command{
		Use:   "broken",
		Short: "List the links that lead nowhere",
		Long: `List the links whose target is dead, has failed or cannot be reached: by origin,
with the page that links, the anchor, the target and what became of it. A page
that robots.txt forbids is not broken: nobody has asked for it. The exit code is 1
if there are any broken links.`,
		Example: "  ripple broken\n  ripple broken --csv > broken.csv\n  ripple broken --json | jq -r '.[].to_url' | sort -u",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runBroken(cmd.Context(), a, opts) },
	}
	cmd.Flags().BoolVar(&opts.csv, "csv", false, "print CSV")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runBroken(ctx context.Context, a *app, opts brokenOptions) error {
	if opts.csv && opts.json {
		return usage("--csv and --json exclude each other; use one of them")
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	links, err := finding(a, "looking for broken links", func() ([]broken.Link, error) { return broken.Find(r.Survey) })
	if err != nil {
		return err
	}
	switch {
	case opts.csv:
		err = writeBroken(newCSVRows(a.stdout, brokenColumns()), links)
	case opts.json:
		err = writeBroken(newJSONRows(a.stdout, brokenColumns()), links)
	case len(links) == 0:
		return toldNone(a, r.Survey)
	default:
		err = printBroken(a.stdout, links)
	}
	if err == nil && len(links) > 0 {
		return errQuiet
	}
	return err
}

// toldNone says that there are no broken links, among how many.
func toldNone(a *app, s *survey.Survey) error {
	counts, err := s.Counts()
	if err == nil {
		a.say("no broken links among " + commas(counts.Links))
	}
	return err
}

func brokenColumns() []string {
	return []string{
		"quality_origin", "from_url", "anchor", "to_url", "state", "status_code", "error_message", "kind", "rel", "place",
	}
}

// writeBroken writes broken links as programs read them.
func writeBroken(to rowWriter, links []broken.Link) error {
	for i := range links {
		l := &links[i]
		values := []any{orNull(l.Origin), l.From, l.Link.Anchor, l.To, l.State.String(), orNull(int64(l.Status)), l.Why,
			l.Link.Kinds.First().String(), l.Link.Rel.String(), l.Link.Where()}
		if _, err := to.row(values); err != nil {
			return err
		}
	}
	return to.end()
}

// orNull is NULL for the zero value.
func orNull[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// printBroken shows broken links below the pages that they stand on.
func printBroken(w io.Writer, links []broken.Link) error {
	byOrigin := map[string]int{}
	for i := range links {
		byOrigin[links[i].Origin]++
	}
	out := bufio.NewWriter(w)
	var text []byte
	for i := range links {
		l := &links[i]
		if i == 0 || l.Origin != links[i-1].Origin {
			if i > 0 {
				fmt.Fprintln(out)
			}
			fmt.Fprintf(out, "%s: %s\n", cmp.Or(l.Origin, "on other pages"),
				count(byOrigin[l.Origin], "broken link", ""))
		}
		text = text[:0]
		if i == 0 || l.Source != links[i-1].Source {
			text = append(append(append(text, "  "...), clean(l.From, 2048)...), '\n')
		}
		if _, err := out.Write(appendBroken(text, l)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// appendBroken appends a link and what became of its target.
func appendBroken(b []byte, l *broken.Link) []byte {
	b = append(append(append(b, "    -> "...), clean(l.To, 2048)...), "  "...)
	b = appendLinkText(b, l.Link.Kinds.First().String(), l.Link.Rel.String(), l.Link.Where(), l.Link.Anchor)
	b = append(append(append(b, "\n       "...), l.State.String()...), ": "...)
	return append(append(b, clean(l.Why, 300)...), '\n')
}
