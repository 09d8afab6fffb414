package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
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
that robots.txt forbids is not broken: it was never requested. The exit code is 1
if there are any broken links.`,
		Example: "  ripple broken\n  ripple broken --csv > july.csv\n" +
			"  grep -vxFf june.csv july.csv   # what is new since the list of June\n" +
			"  ripple broken --json | jq -r '.[].to_url' | sort -u",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBroken(cmd.Context(), a, opts) },
	}
	cmd.Flags().BoolVar(&opts.csv, "csv", false, "print CSV")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runBroken(ctx context.Context, a *app, opts brokenOptions) error {
	if opts.csv && opts.json {
		return term.Usage("--csv and --json exclude each other; use one of them")
	}
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	links, err := term.Finding(a.voice, "looking for broken links",
		func() ([]broken.Link, error) { return broken.Find(r.Survey) })
	if err != nil {
		return err
	}
	switch {
	case opts.csv:
		err = writeBroken(newCSVRows(a.stdout, brokenColumns()), links)
	case opts.json:
		err = writeBroken(newJSONRows(a.stdout, brokenColumns()), links)
	case len(links) == 0:
		return toldNone(a.voice, r.Survey)
	default:
		err = printBroken(a.stdout, links)
	}
	if err == nil && len(links) > 0 {
		return term.ErrQuiet
	}
	return err
}

// toldNone says that there are no broken links, among how many.
func toldNone(v *term.Voice, s *survey.Survey) error {
	counts, err := s.Counts()
	if err == nil {
		v.Say("no broken links among " + term.Commas(counts.Links))
	}
	return err
}

func brokenColumns() []string {
	return []string{
		"quality_origin", "from_url", "anchor", "to_url",
		"state", "status_code", "error_message", "kind", "rel", "place",
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

// brokenBlock is the number of links that are made text at a time, on each core.
const brokenBlock = 1 << 12

// printBroken shows broken links below the pages that they stand on.
func printBroken(w io.Writer, links []broken.Link) error {
	byOrigin := map[string]int{}
	for i := range links {
		byOrigin[links[i].Origin]++
	}
	texts := make([][]byte, runtime.GOMAXPROCS(0))
	for done := 0; done < len(links); {
		var making errgroup.Group
		for i := range texts {
			from, to := done, min(done+brokenBlock, len(links))
			making.Go(func() error { texts[i] = appendBroken(texts[i][:0], links, from, to, byOrigin); return nil })
			done = to
		}
		_ = making.Wait() // none fails
		for _, text := range texts {
			if _, err := w.Write(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendBroken appends some of all links, with the origins and pages that begin there.
func appendBroken(b []byte, links []broken.Link, from, to int, byOrigin map[string]int) []byte {
	for i := from; i < to; i++ {
		l := &links[i]
		if i == 0 || l.Origin != links[i-1].Origin {
			if i > 0 {
				b = append(b, '\n')
			}
			b = fmt.Appendf(b, "%s: %s\n", cmp.Or(term.ShownHost(l.Origin, 253), "on other pages"),
				term.Count(byOrigin[l.Origin], "broken link", ""))
		}
		if i == 0 || l.Source != links[i-1].Source {
			b = append(append(append(b, "  "...), term.ShownHost(l.From, 2048)...), '\n')
		}
		b = append(append(append(b, "    -> "...), term.ShownHost(l.To, 2048)...), "  "...)
		b = appendLinkText(b, l.Link.Kinds.First().String(), l.Link.Rel.String(), l.Link.Where(), l.Link.Anchor)
		b = append(append(append(b, "\n       "...), l.State.String()...), ": "...)
		b = append(append(b, term.Clean(l.Why, 300)...), '\n')
	}
	return b
}
