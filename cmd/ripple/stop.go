package main

import "github.com/spf13/cobra"

func newStopCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End a running crawl; \"ripple crawl\" resumes it",
		Long: "Stop a running crawl as Ctrl-C does: open requests get 10 s to finish, nothing is\n" +
			"lost, no outputs are written, and \"ripple crawl\" resumes the run. The crawl's exit\n" +
			"code is 0, as it did what it was told; after Ctrl-C it is 130. With [cluster] hub all\n" +
			"machines stop that work on a shard.",
		Example: "  ripple stop\n  ripple stop --config valley.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCommand(cmd.Context(), a, "stop", "run #%d is stopping; open requests get 10 s to finish")
		},
	}
}
