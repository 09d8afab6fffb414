package command

import "github.com/spf13/cobra"

func newReloadCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "reload",
		Short: "Have a running crawl read its configuration again",
		Long: "Have a running crawl read its configuration, lists and decisions again, as SIGHUP does.\n" +
			"If they are wrong, it keeps the old ones and says why. With [cluster] hub, one\n" +
			"reload reaches all machines: change the file on each of them first. Settings of a\n" +
			"single machine, such as max-open, apply from its next start.",
		Example: "  ripple reload\n  ripple reload --state valley.bolt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCommand(cmd.Context(), a, "reload", "run #%d continues with the new configuration")
		},
	}
}
