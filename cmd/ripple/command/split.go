package command

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/shard"
)

type splitOptions struct {
	shards int
	out    string
	undo   bool
}

func (o *splitOptions) addFlags(f *pflag.FlagSet) {
	f.IntVar(&o.shards, "shards", 0, "make `N` shards: a few for each machine that may join")
	f.StringVarP(&o.out, "out", "o", "", "write the shards to the new folder `DIR` (default \"terrain\" next to FILE)")
	f.BoolVar(&o.undo, "undo", false, "have FILE crawled again, because its shards are lost")
}

func newSplitCommand(a *app) *cobra.Command {
	var opts splitOptions
	cmd := &cobra.Command{
		Use:   "split FILE|DIR --shards N [-o DIR]",
		Short: "Split a state file into the shards of a new terrain",
		Long: `Split the state file of one machine into N shards, so that several machines crawl the
terrain from now on. Visits, delays, suspensions, budgets and unsent webhook messages
stay with their hosts, a run that is not over continues, and the map is the same. Stored
pages stay where they are; in-links from web graphs are imported again.

The folder of a stopped terrain with all its shards can be split, too. N is their new
number, and may be any, since the shards are merged before.

FILE must not be in use. The new files are checked before they appear, all at once. FILE
is then only read, and "ripple crawl" refuses it. After a kill, run the same command
again. See "ripple help machines".`,
		Example: "  ripple split ripple.bolt --shards 8\n" +
			"  ripple split terrain --shards 32 -o larger\n" +
			"  ripple split ripple.bolt --undo",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runSplit(cmd.Context(), a, opts, args[0]) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func runSplit(ctx context.Context, a *app, opts splitOptions, from string) error {
	switch {
	case a.named.State != "" || a.named.Config != "":
		return term.Usage("split reads the file that it is given; leave --state and --config out")
	case opts.undo && (opts.shards != 0 || opts.out != ""):
		return term.Usage("--undo makes no shards; leave --shards and -o out")
	case !opts.undo && (opts.shards < 1 || opts.shards > shard.MaxShards):
		return term.Usage("--shards is %d; it must be 1 to %d", opts.shards, shard.MaxShards)
	}
	if opts.out == "" {
		opts.out = filepath.Join(filepath.Dir(filepath.Clean(from)), "terrain")
	}
	s := statefile.Split{From: from, Folder: opts.out, Shards: opts.shards}
	if opts.undo {
		if err := s.Undo(ctx); err != nil {
			return err
		}
		fmt.Fprintf(a.stdout, "%s: can be crawled again\n", term.Shown(from))
		return nil
	}
	var done *statefile.SplitResult
	err := a.Voice.During("splitting "+term.Shown(from), func(p export.Progress) (err error) {
		done, err = s.Run(ctx, p)
		return err
	})
	if err != nil {
		return err
	}
	if done.Finished {
		opts.out = done.Folder
		a.Voice.Say("an earlier split was finished")
	}
	fmt.Fprintf(a.stdout, "%s: %s, %s, %s\n", term.Shown(opts.out), term.Count(done.Shards, "shard", "shards"),
		term.Count(done.URLs, "URL", "URLs"), term.Count(done.Visits, "visit", "visits"))
	a.Voice.Say("crawl them with [cluster] folder and shards; " + term.Shown(from) + " is only read from now on")
	return nil
}
