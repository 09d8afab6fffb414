package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

type stopOptions struct{ without []string }

func (o *stopOptions) addFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&o.without, "without", nil, "end the run without shards `N,...`, whose machines are gone")
}

func newStopCommand(a *app) *cobra.Command {
	var opts stopOptions
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "End a running crawl; \"ripple crawl\" resumes it",
		Long: `Stop a running crawl as Ctrl-C does: open requests get 10 s to finish, nothing is
lost, no outputs are written, and "ripple crawl" resumes the run. The crawl's exit
code is 0, as for a completed run; after Ctrl-C it is 130. With [cluster] hub, all
machines that work on a shard stop.

A run of several machines stays open while a shard cannot be reached. If its machine is
gone, --without ends the run: all other machines record in their files that it was
interrupted without that shard, and stop; one that is killed meanwhile does so when it
is started again. It takes a little more than half a minute, to make sure that nobody
has the shard. Then "ripple merge --without" makes a map of the others. Nothing is
forgotten: with the shard back, or recreated, "ripple crawl" on all machines resumes
the run.`,
		Example: "  ripple stop\n  ripple stop --config valley.toml\n  ripple stop --without 3",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("without") && len(opts.without) == 0 { // a script's variable was empty
				return term.Usage("--without names no shard; to stop all machines leave it out")
			}
			return runStop(cmd.Context(), a, opts)
		},
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runStop(ctx context.Context, a *app, opts stopOptions) error {
	without, err := parseShards(opts.without)
	if err != nil {
		return err
	}
	if without == (schema.Shards{}) {
		return runCommand(ctx, a, "stop", "run #%d is stopping; open requests get 10 s to finish")
	}
	cfg, err := splitTerrain(&a.named)
	if err != nil {
		return err
	}
	return session.AtHub(ctx, a.Voice.Logger(), cfg, func(conn *hub.Conn) error {
		e, err := node.StopWithout(ctx, conn, without, a.Timing(cfg.Cluster.Lease))
		if e.Nodes == nil {
			return stopError(err)
		}
		text := fmt.Sprintf("run #%d is interrupted without %s", e.Run, without.Named())
		if e.Over {
			text = fmt.Sprintf("run #%d is over on all shards but %s, for which nobody waits any more",
				e.Run, without.String())
		}
		stopped := slices.DeleteFunc(slices.Clone(e.Nodes),
			func(node string) bool { return slices.Contains(e.Left, node) })
		if len(stopped) > 0 {
			text += "; stopped: " + term.Clean(strings.Join(stopped, ", "), 200)
		}
		a.Voice.Tell(term.Event("run ended without shards", text, "run", e.Run, "without", without.String(), "nodes",
			e.Nodes))
		if e.Left != nil {
			a.Voice.Warn(term.Event("not stopped yet", "not stopped yet, and told to: "+term.Clean(strings.Join(e.Left, ", "),
				200), "nodes", e.Left))
		}
		return stopError(err)
	})
}

// splitTerrain returns the configuration of the terrain whose run is to end without some shards.
func splitTerrain(files *statefile.Target) (*config.Config, error) {
	if cfg := files.Terrain(); cfg != nil {
		return cfg, nil
	}
	if path := files.StateConfig(); path != "" {
		if _, _, err := config.Load(path); err != nil {
			return nil, err
		}
	}
	return nil, term.Usage("--without is for a terrain of several machines: " +
		"name its configuration, with [cluster] hub, by --config")
}

// stopError adds advice about a run that cannot be ended without shards.
func stopError(err error) error {
	var held *lease.HeldError
	switch {
	case errors.As(err, &held):
		return term.Hint(err, "stop that node first, or leave the shard in")
	case errors.Is(err, node.ErrSilent):
		return term.Hint(err, "name them too if they are gone; else wait until they answer, or start their machines")
	case errors.Is(err, node.ErrShard):
		return term.Usage("%s", strings.TrimSpace(err.Error()))
	case errors.Is(err, node.ErrAll):
		return term.Usage("--without names all shards; \"ripple stop\" alone stops all machines")
	}
	return err
}
