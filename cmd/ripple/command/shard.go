package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sumi-ripple/ripple/cmd/ripple/session"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/cluster/hub"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/schema/config"
)

func newShardCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shard",
		Short: "Move a shard to another machine, or recreate its lost file",
		Long: "Move a shard of a terrain to another machine, or recreate its file if that is gone for\n" +
			"good. A shard belongs to the machine that has its file.",
		Example: "  ripple shard move 3 --to cellar\n  ripple shard recreate 3",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newMoveCommand(a), newReleaseCommand(a), newRecreateCommand(a))
	return cmd
}

func newMoveCommand(a *app) *cobra.Command {
	to := ""
	cmd := &cobra.Command{
		Use:   "move N --to NODE [CONFIG]",
		Short: "Move shard N to another machine of the terrain, over the hub",
		Long: `Move shard N to another machine of the terrain, over the hub; this works from any
machine. NODE is a machine's name as "ripple stats" shows it, or the part before the
colon. Both machines must be running.

The file is copied while the shard is crawled. Then the shard is stopped, what changed
meanwhile is copied, and every block is compared. After that the old file is marked, so
that only the other machine can take the shard, and is renamed to .moved once it has.
If the copy fails, the shard is crawled on where it was. If the other machine disappears
after the mark, the shard waits for it; --to the machine that has the old file takes it
back, when the other machine answers that it has not used its copy.

Kept pages ([pages]) stay where they are; copy them to keep them together.`,
		Example: "  ripple shard move 3 --to cellar\n  ripple shard move 3 --to cellar:/home/ann/terrain valley.toml",
		Args:    cobra.RangeArgs(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return runMove(cmd.Context(), a, to, args) },
	}
	cmd.Flags().StringVar(&to, "to", "", "the machine that is to have the shard")
	return cmd
}

func newReleaseCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "release N [CONFIG]",
		Short: "Have the machine that has shard N release it, so that its file can be moved",
		Long: `Have the machine that has shard N release it; this works from any machine. Open requests
get 10 s to finish, the file is closed, and its path is printed. That machine does not
take the shard again until it is restarted, or the file has been moved away and back. If
it is off, the file may be moved as it is.

Move the file into the [cluster] folder of another machine, which takes it when it is
started, or within a minute if it is running: in that case copy it under another name
first, then rename it. A copy that stays behind is refused once the other one was taken.`,
		Example: "  ripple shard release 3\n  ripple shard release 3 valley.toml",
		Args:    cobra.RangeArgs(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return runRelease(cmd.Context(), a, args) },
	}
}

func newRecreateCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "recreate N... [CONFIG]",
		Short: "Recreate the lost file of shard N on this machine",
		Long: `Recreate the lost file of shard N on this machine, with the crawl that is running here
or the next one. It takes a little more than a lease, to make sure that nobody has
the shard. All other shards tell the new file what they know, and its sites are visited
again, after max-suspension. Their earlier visits are lost, and so are their suspensions.
A copy of the old file is refused from then on. If one of several shards cannot be
recreated, none is.

The machines with all other shards must be running, unless the run is over. If it is
already over on another shard, the new file takes part from the next run on.`,
		Example: "  ripple shard recreate 3\n  ripple shard recreate 3 5 valley.toml",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runRecreate(cmd.Context(), a, args) },
	}
}

// shardArgs returns the shard numbers among the arguments, and the configuration of their terrain,
// whose path may come last.
func shardArgs(files *statefile.Target, args []string) (shards []int, cfg *config.Config, err error) {
	path := files.Config
	for i, arg := range args {
		n, err := strconv.Atoi(arg)
		switch {
		case err == nil && n >= 0:
			shards = append(shards, n)
		case i == 0 || i < len(args)-1:
			return nil, nil, term.Usage("%s is not the number of a shard; \"ripple stats\" lists them", term.Shown(arg))
		case path != "":
			return nil, nil, term.Usage("the configuration is named twice: %s and --config %s", term.Shown(arg),
				term.Shown(path))
		default:
			path = arg
		}
	}
	slices.Sort(shards)
	shards = slices.Compact(shards)
	if files.State != "" {
		return nil, nil, term.Usage("a shard is moved by its number; " +
			"leave --state out and name the configuration of the terrain")
	}
	path = cmp.Or(path, statefile.DefaultConfig)
	if cfg, _, err = config.Load(path); err == nil && cfg.Cluster.Hub == "" {
		err = term.Usage("%s is for one machine: it names no [cluster] hub", term.Shown(path))
	}
	return shards, cfg, err
}

func runRelease(ctx context.Context, a *app, args []string) error {
	shards, cfg, err := shardArgs(&a.named, args)
	if err != nil {
		return err
	}
	if len(shards) > 1 {
		return term.Usage("shards are released one by one")
	}
	n, timing := shards[0], a.Timing(cfg.Cluster.Lease)
	return session.AtHub(ctx, a.Voice.Logger(), cfg, func(conn *hub.Conn) error {
		r, err := node.Release(ctx, conn, n, timing)
		if err != nil {
			return shardError(err)
		}
		name := term.Clean(r.Node, 200)
		if name == "" {
			name = "the machine that has it"
		}
		var text string
		switch {
		case r.Path != "":
			text = fmt.Sprintf("shard %d is released by %s: move %s into the [cluster] folder of another machine, or "+
				"restart that one to take it back", n, name, term.Shown(r.Path))
		case r.Silent:
			text = fmt.Sprintf("shard %d: %s has been silent for %s; if it is off, its file %s may be moved as it is",
				n, name, timing.Patience(), node.FilePath("", n))
		default:
			text = fmt.Sprintf("shard %d: nobody has it; its file %s on %s may be moved as it is",
				n, node.FilePath("", n), name)
		}
		a.Voice.Tell(term.Event("shard released", text, "shard", n, "node", r.Node, "path", r.Path, "silent", r.Silent))
		return nil
	})
}

func runMove(ctx context.Context, a *app, to string, args []string) error {
	shards, cfg, err := shardArgs(&a.named, args)
	switch {
	case err != nil:
		return err
	case len(shards) > 1:
		return term.Usage("shards are moved one by one")
	case to == "":
		return term.Usage("--to must name the machine that is to have the shard; \"ripple stats\" lists them")
	}
	n := shards[0]
	return session.AtHub(ctx, a.Voice.Logger(), cfg, func(conn *hub.Conn) error {
		stopped := false
		m, err := node.Move(ctx, conn, n, to, a.Timing(cfg.Cluster.Lease), func(p node.Progress) {
			if p.Stop && !stopped {
				stopped = true
				a.Voice.Tell(term.Event("shard stopped", fmt.Sprintf("shard %d is copied, and stopped for the rest", n),
					"shard", n, "bytes", p.Size))
			}
		})
		if err != nil {
			return shardError(err)
		}
		text := fmt.Sprintf("shard %d is moved to %s", n, term.Clean(m.To, 200))
		if cfg.Pages.Keep {
			text += "; pages that were kept stay where they are"
		}
		a.Voice.Tell(term.Event("shard moved", text, "shard", n, "from", m.From, "to", m.To))
		return nil
	})
}

func runRecreate(ctx context.Context, a *app, args []string) error {
	shards, cfg, err := shardArgs(&a.named, args)
	if err != nil {
		return err
	}
	for _, n := range shards {
		path := node.FilePath(cfg.Cluster.Folder, n)
		if _, err := os.Lstat(path); err == nil {
			return term.Hint(fmt.Errorf("the file of shard %d is here: %s", n, term.Shown(path)),
				"\"ripple crawl\" takes it; move it away if it is damaged, or an older copy")
		}
	}
	id, name, err := session.NodeOf(cfg)
	if err != nil {
		return err
	}
	return session.AtHub(ctx, a.Voice.Logger(), cfg, func(conn *hub.Conn) error {
		next, err := node.Recreate(ctx, conn, node.Recreation{
			ID: id, Node: name, Shards: shards, Config: cfg, Timing: a.Timing(cfg.Cluster.Lease), Clock: lease.MachineClock(),
		})
		if err != nil {
			return shardError(err)
		}
		from := "its sites are visited again, after max-suspension"
		if next {
			from = "it takes part from the next run on, for this one is over on another shard"
		}
		for _, n := range shards {
			text := fmt.Sprintf("shard %d is recreated on this machine, "+
				"by the crawl that runs here or the next one; %s", n, from)
			a.Voice.Tell(term.Event("shard recreated", text, "shard", n, "node", name, "next", next))
		}
		return nil
	})
}

// shardError adds advice about a shard that cannot be moved or recreated.
func shardError(err error) error {
	var held *lease.HeldError
	switch {
	case errors.Is(err, node.ErrSilent) && errors.As(err, &held):
		return term.Hint(err, "try again when it is less busy, or stop it")
	case errors.As(err, &held):
		return term.Hint(err, "a shard that somebody has is moved with \"ripple shard move\"")
	case errors.Is(err, node.ErrNode):
		return term.Usage("%s", strings.TrimSpace(err.Error()))
	case errors.Is(err, node.ErrSilent):
		return term.Hint(err, "first start the machines that have them; name all shards that are lost in one command")
	case errors.Is(err, node.ErrLease):
		return term.Hint(err, "use the configuration of the terrain's machines")
	case errors.Is(err, node.ErrShard):
		return term.Usage("%s", strings.TrimSpace(err.Error()))
	}
	return err
}
