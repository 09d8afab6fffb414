package command

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/control"
)

func newPauseCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "pause",
		Short: "Pause a running crawl",
		Long: "Pause a running crawl: it sends no further request until \"ripple resume\". Open\n" +
			"requests are finished, and nothing is lost. With [cluster] hub, all machines pause,\n" +
			"including those that join later.",
		Example: "  ripple pause\n  ripple pause --state valley.bolt",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runCommand(cmd.Context(), a, "pause", "run #%d is paused; \"ripple resume\" resumes it")
		},
	}
}

// runCommand sends a command to the running crawl, and then prints what was done.
func runCommand(ctx context.Context, a *app, do, done string) error {
	if cfg := a.named.Terrain(); cfg != nil {
		return commandTerrain(ctx, a, cfg, do)
	}
	path, err := a.named.StatePath()
	if err != nil {
		return err
	}
	var st census.Status
	err = a.states.CrawlOf(path).Post(ctx, do, &st)
	if errors.Is(err, control.ErrNobody) {
		if err := statefile.MustExist(path); err != nil {
			return err
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return term.Usage("%s is a folder; several machines are told by their hub, which their configuration names: "+
				"--config FILE", term.Shown(path))
		}
		return term.Hint(fmt.Errorf("no crawl is running on %s", term.Shown(path)), "\"ripple crawl\" begins one")
	}
	if err != nil {
		return err
	}
	if st.RunID == 0 {
		a.Voice.Say("the crawl was still starting; it ends now")
		return nil
	}
	a.Voice.Tell(term.Event("crawl obeys", fmt.Sprintf(done, st.RunID), "command", do, "run", st.RunID))
	return nil
}
