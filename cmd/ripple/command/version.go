package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

type versionOptions struct{ json bool }

func newVersionCommand(a *app) *cobra.Command {
	var opts versionOptions
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  ripple version\n  ripple version --json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runVersion(opts, a.stdout) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runVersion(opts versionOptions, out io.Writer) error {
	b := term.ThisBuild()
	if opts.json {
		return term.PrintJSON(out, b)
	}
	_, err := fmt.Fprintf(out, "ripple %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
	return err
}
