package command

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
)

// newReadTerrainCommand returns the command of the child process. It is not meant for people.
func newReadTerrainCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "read-terrain",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			socket := os.Getenv(serve.EnvSocket)
			if socket == "" {
				return term.Usage("use \"ripple serve\"")
			}
			return serve.ReadTerrain(cmd.Context(), a.Voice, a.stdout, a.named.State, socket)
		},
	}
}
