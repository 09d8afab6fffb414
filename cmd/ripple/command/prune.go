package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

type pruneOptions struct {
	keep int
	json bool
}

func (o *pruneOptions) addFlags(f *pflag.FlagSet) {
	f.IntVar(&o.keep, "keep-runs", 2, "keep what the newest `N` completed runs recorded, and a run that is not over")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

func newPruneCommand(a *app) *cobra.Command {
	var opts pruneOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Drop old runs and compact the file",
		Long: `Write what the newest runs recorded to a new file, which then replaces the old one,
whole or not at all. Pages that only older runs knew are forgotten, and those runs
can no longer be compared. What hosts asked for is kept.`,
		Example: "  ripple prune --keep-runs 2\n  ripple prune --state valley.bolt --keep-runs 1 --json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runPrune(cmd.Context(), a, opts) },
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

// A pruned is what pruning comes to.
type pruned struct {
	FirstRun int   `json:"first_run_kept"`
	URLs     int   `json:"urls"`
	Visits   int   `json:"visits"`
	Dropped  int   `json:"urls_dropped"`
	Visited  int   `json:"visits_dropped"`
	Before   int64 `json:"bytes_before"`
	After    int64 `json:"bytes_after"`
}

func runPrune(ctx context.Context, a *app, opts pruneOptions) error {
	if opts.keep < 1 {
		return term.Usage("--keep-runs is %d; it must be 1 or more", opts.keep)
	}
	path, err := a.named.StateFile()
	if err != nil {
		return err
	}
	if err := statefile.MustExist(path); err != nil {
		return err
	}
	done, err := term.Finding(a.Voice, "pruning "+term.Shown(path),
		func() (*pruned, error) { return Prune(ctx, path, opts.keep) })
	if err != nil {
		return err
	}
	if opts.json {
		return term.PrintJSON(a.stdout, done)
	}
	fmt.Fprintf(a.stdout, "%s: kept from run #%d on; dropped %s and %s; the file has %s, had %s\n", term.Shown(path),
		done.FirstRun,
		term.Count(done.Dropped, "URL", "URLs"), term.Count(done.Visited, "visit", "visits"),
		humanize.Bytes(uint64(done.After)), humanize.Bytes(uint64(done.Before)))
	return nil
}

// Prune gives a file without old runs the name of the state file, which stays
// locked until then. It fails with the cause when ctx is done, and leaves the file as it was.
func Prune(ctx context.Context, path string, keep int) (*pruned, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	named, _ := os.Stat(path)
	store, err := statefile.OpenLocked(path, kv.Options{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	from, err := firstKept(store, keep)
	if err != nil {
		return nil, err
	}
	if err := statefile.RoomBeside(path, store.Size()); err != nil {
		return nil, err
	}
	compacted := path + ".compact"
	_ = os.Remove(compacted)
	defer os.Remove(compacted)
	p, err := pruneInto(ctx, store, from, path+".prune", compacted)
	if err != nil {
		return nil, err
	}
	was, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	is, err := os.Stat(compacted)
	if err = cmp.Or(err, context.Cause(ctx)); err == nil {
		err = TakePlace(store, named, compacted)
	}
	if err != nil {
		return nil, err
	}
	return &pruned{
		FirstRun: int(p.From), URLs: p.URLs, Visits: p.Visits, Dropped: p.DroppedURLs, Visited: p.DroppedVisits,
		Before: was.Size(), After: is.Size(),
	}, nil
}

// pruneInto makes a compacted file of the runs that are kept. It is made of another file,
// for that is written in many commits.
func pruneInto(ctx context.Context, store *kv.Store, from schema.RunID,
	next, compacted string) (p kv.Pruned, err error) {
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return p, err
	}
	defer os.Remove(next)
	if p, err = store.Prune(ctx, next, from); err != nil {
		return p, err
	}
	if err := keepCursors(store, next, p.Numbers); err != nil {
		return p, err
	}
	if err := context.Cause(ctx); err != nil {
		return p, err
	}
	return p, kv.Compact(next, compacted)
}

// firstKept is the first run that is kept.
func firstKept(store *kv.Store, keep int) (from schema.RunID, err error) {
	err = store.View(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err == nil && len(runs) == 0 {
			err = survey.ErrNoRun
		}
		if err != nil {
			return err
		}
		n := len(runs)
		if runs[n-1].Status != schema.RunCompleted {
			keep++ // the one that is not over stands on the one before
		}
		from = runs[max(0, n-keep)].ID
		return nil
	})
	return from, err
}

// keepCursors lets readers of the feed go on where they were.
func keepCursors(old *kv.Store, path string, numbers []uint32) error {
	next, err := kv.Open(path, kv.Options{})
	if err != nil {
		return err
	}
	err = old.View(func(was *kv.Tx) error {
		return next.Update(func(is *kv.Tx) error { return feed.Keep(was, is, numbers) })
	})
	return errors.Join(err, next.Close())
}
