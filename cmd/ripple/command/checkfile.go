package command

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// newCheckFileCommand returns the command of the child process. It is not meant for people.
func newCheckFileCommand(a *app) *cobra.Command {
	var digest bool
	cmd := &cobra.Command{
		Use:    "check-file",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path := os.Getenv(statefile.EnvCheck)
			if path == "" {
				return term.Usage("use \"ripple verify\"")
			}
			return statefile.CheckFile(a.stdout, path, digest)
		},
	}
	cmd.Flags().BoolVar(&digest, "digest", false, "")
	return cmd
}
