package command

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/show"
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
with the page that links, the anchor, the target and its state. A page
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
	links, err := term.Finding(a.Voice, "looking for broken links",
		func() ([]broken.Link, error) { return broken.Find(r.Survey) })
	if err != nil {
		return err
	}
	switch {
	case opts.csv:
		err = answer.WriteBroken(answer.NewCSVRows(a.stdout, answer.BrokenColumns()), links)
	case opts.json:
		err = answer.WriteBroken(answer.NewJSONRows(a.stdout, answer.BrokenColumns()), links)
	case len(links) == 0:
		return toldNone(a.Voice, r.Survey)
	default:
		err = show.Broken(a.stdout, links)
	}
	if err == nil && len(links) > 0 {
		return term.ErrQuiet
	}
	return err
}

// toldNone reports that no link is broken, and how many links there are.
func toldNone(v *term.Voice, s *survey.Survey) error {
	counts, err := s.Counts()
	if err == nil {
		v.Say("no broken links among " + term.Commas(counts.Links))
	}
	return err
}
