package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type verifyOptions struct {
	digest  bool
	compact bool
	json    bool
}

func (o *verifyOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.digest, "digest", false, "print the SHA-256 of the map: two crawls of the same web have the same one")
	f.BoolVar(&o.compact, "compact", false,
		"then write the state without its free space into a new file, which\nreplaces the old one")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newVerifyCommand(a *app) *cobra.Command {
	var opts verifyOptions
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the state file's invariants",
		Long: `Check the checksum of every record in the state file, and that all records agree:
every queued entry has a page, every page has one state, every counter matches a
recount, and every depth is a shortest distance.

The check runs in a process of its own, with limits on memory and time, because a
damaged file may crash it. During a crawl it checks a consistent copy.`,
		Example: "  ripple verify\n  ripple verify --state terrain.bolt --digest\n  ripple verify --compact",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runVerify(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runVerify(ctx context.Context, a *app, opts verifyOptions) error {
	path, err := a.named.StateFile()
	if err != nil {
		return err
	}
	target, release, err := a.states.Quiet(ctx, path, opts.compact)
	if err != nil {
		return err
	}
	defer release()
	v, err := term.Finding(a.Voice, "checking "+term.Shown(path),
		func() (*statefile.Verdict, error) { return statefile.CheckApart(ctx, target, opts.digest) })
	if err != nil {
		return err
	}
	v.File = path
	if v.Whole && opts.compact {
		if v.Before, v.After, err = statefile.Compact(path); err != nil {
			return err
		}
	}
	if err := printVerdict(a.stdout, v, opts); err != nil {
		return err
	}
	if !v.Whole {
		return term.Hint(fmt.Errorf("%s is damaged: %s", term.Shown(path), term.Count(v.Found, "problem", "problems")),
			"%s", v.Advice())
	}
	return nil
}

// printVerdict prints what was found.
func printVerdict(w io.Writer, v *statefile.Verdict, opts verifyOptions) error {
	if opts.json {
		return term.PrintJSON(w, v)
	}
	return term.Flushed(w, func(w io.Writer) error {
		for _, p := range v.Problems {
			fmt.Fprintln(w, term.Clean(p, 400))
		}
		if more := v.Found - len(v.Problems); more > 0 {
			fmt.Fprintf(w, "and %s more\n", term.Commas(more))
		}
		if v.Whole {
			fmt.Fprintf(w, "%s is whole: %s, %s, %s of every class, with pages or without\n", term.Shown(v.File),
				term.Count(v.URLs, "URL", "URLs"), term.Count(v.Visits, "visit", "visits"), term.Count(v.Hosts, "host", "hosts"))
		}
		if v.Digest != "" {
			fmt.Fprintf(w, "digest %s\n", v.Digest)
		}
		if v.Before > 0 {
			fmt.Fprintf(w, "compacted from %s to %s bytes\n", term.Commas(int(v.Before)), term.Commas(int(v.After)))
		}
		return nil
	})
}
