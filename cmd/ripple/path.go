package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

type pathOptions struct{ json bool }

func newPathCommand(a *app) *cobra.Command {
	var opts pathOptions
	cmd := &cobra.Command{
		Use:     "path URL",
		Short:   "Show the shortest link path from each origin to a page",
		Example: "  ripple path https://example.org/page\n  ripple path https://example.org/page --json",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runPath(cmd.Context(), a, opts, args[0]) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// An originPath is a shortest way from an origin to a page.
type originPath struct {
	Origin string    `json:"quality_origin"`
	Depth  int       `json:"depth"`
	Path   []pathHop `json:"path"`
}

// A pathHop is a page on the way, and the link that leads to it.
type pathHop struct {
	URL    string `json:"url"`
	Kind   string `json:"kind,omitempty"`
	Rel    string `json:"rel,omitempty"`
	Place  string `json:"place,omitempty"`
	Anchor string `json:"anchor,omitempty"`
}

func runPath(ctx context.Context, a *app, opts pathOptions, raw string) error {
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	u, err := parseURL(r.Config().Rules(), raw)
	if err != nil {
		return err
	}
	id, ok, err := r.Lookup(u.Norm)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s is not known: no page that was visited links there", term.ShownHost(u.Norm, 300))
	}
	paths, err := originPaths(r.Survey, id, len(r.Terrain().Origins()))
	if err != nil {
		return err
	}
	if opts.json {
		if err := term.PrintJSON(a.stdout, paths); err != nil || len(paths) > 0 {
			return err
		}
	}
	if len(paths) == 0 {
		return fmt.Errorf("no origin leads to %s within %s", term.ShownHost(u.Norm, 300),
			term.Count(r.Config().Crawler.MaxDepth+1, "link", "links"))
	}
	return term.Flushed(a.stdout, func(w io.Writer) error {
		for i, p := range paths {
			if i > 0 {
				fmt.Fprintln(w)
			}
			printPath(w, p)
		}
		return nil
	})
}

// originPaths returns shortest ways to a page from up to limit origins, the
// nearest first.
func originPaths(s *survey.Survey, id schema.ID, limit int) ([]originPath, error) {
	ways, err := s.Ways(id, limit)
	paths := make([]originPath, len(ways))
	for i, w := range ways {
		paths[i] = originPath{Origin: s.Terrain().Origins()[w.Origin].Name, Depth: int(w.Depth), Path: pathHops(w.Hops)}
	}
	return paths, err
}

func pathHops(hops []survey.Hop) []pathHop {
	out := make([]pathHop, len(hops))
	for i, h := range hops {
		out[i].URL = h.URL
		if i > 0 {
			out[i].Kind, out[i].Rel, out[i].Place = h.Link.Kinds.First().String(), h.Link.Rel.String(), h.Link.Where()
			out[i].Anchor = h.Link.Anchor
		}
	}
	return out
}

func printPath(w io.Writer, p originPath) {
	fmt.Fprintf(w, "from %s: depth %d\n", term.ShownHost(p.Origin, 253), p.Depth)
	for i, h := range p.Path {
		if i == 0 {
			fmt.Fprintf(w, "     %s\n", term.ShownHost(h.URL, 2048))
			continue
		}
		fmt.Fprintf(w, "  -> %s  %s\n", term.ShownHost(h.URL, 2048), linkText(h.Kind, h.Rel, h.Place, h.Anchor))
	}
}

// linkText tells what a link says.
func linkText(kind, rel, place, anchor string) string {
	return string(appendLinkText(nil, kind, rel, place, anchor))
}

func appendLinkText(b []byte, kind, rel, place, anchor string) []byte {
	if anchor != "" {
		b = append(strconv.AppendQuote(b, term.Clean(anchor, 120)), ' ')
	}
	b = append(append(b, '('), kind...)
	if kind != "redirect" && kind != "canonical" && kind != "refresh" {
		b = append(append(b, ", "...), place...)
	}
	if rel != "" {
		b = append(append(b, ", "...), rel...)
	}
	return append(b, ')')
}
