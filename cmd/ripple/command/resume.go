package command

import "github.com/spf13/cobra"

func newResumeCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "resume",
		Short:   "Resume a paused crawl",
		Example: "  ripple resume\n  ripple resume --state valley.bolt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCommand(cmd.Context(), a, "unpause", "run #%d resumes")
		},
	}
}
