package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
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

func runPath(ctx context.Context, a *app, opts pathOptions, raw string) error {
	r, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	norm, paths, err := answer.Inspector{State: r}.Paths(raw)
	if unknown := new(answer.UnknownError); errors.As(err, &unknown) {
		return fmt.Errorf("%s is not known: no page that was visited links there", term.ShownHost(norm, 300))
	}
	if err != nil {
		return err
	}
	if opts.json {
		if err := term.PrintJSON(a.stdout, paths); err != nil || len(paths) > 0 {
			return err
		}
	}
	if len(paths) == 0 {
		return fmt.Errorf("no origin leads to %s within %s", term.ShownHost(norm, 300),
			term.Count(r.Config().Crawler.MaxDepth+1, "link", "links"))
	}
	return term.Flushed(a.stdout, func(w io.Writer) error {
		for i, p := range paths {
			if i > 0 {
				fmt.Fprintln(w)
			}
			show.Path(w, p)
		}
		return nil
	})
}
