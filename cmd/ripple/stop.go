package main

import "github.com/spf13/cobra"

func newStopCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End a running crawl; \"ripple crawl\" resumes it",
		Long: "End a running crawl as Ctrl-C does: what is open has 10 s to finish, nothing is\n" +
			"lost, no outputs are written, and \"ripple crawl\" goes on where it ended. Its exit\n" +
			"code is 0, as it did what it was told; that of Ctrl-C is 130.",
		Example: "  ripple stop\n  ripple stop --config valley.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCommand(cmd.Context(), a, "stop", "run #%d ends; what is open has 10 s to finish")
		},
	}
}
