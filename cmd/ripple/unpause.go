package main

import "github.com/spf13/cobra"

func newUnpauseCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "unpause",
		Short:   "Resume a paused crawl",
		Example: "  ripple unpause\n  ripple unpause --state valley.bolt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCommand(cmd.Context(), a, "unpause", "run #%d goes on")
		},
	}
}
