package statefile

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// Pruned says what pruning a state file has kept and dropped.
type Pruned struct {
	FirstRun int   `json:"first_run_kept"`
	URLs     int   `json:"urls"`
	Visits   int   `json:"visits"`
	Dropped  int   `json:"urls_dropped"`
	Visited  int   `json:"visits_dropped"`
	Before   int64 `json:"bytes_before"`
	After    int64 `json:"bytes_after"`
}

// Prune gives a file without old runs the name of the state file, which stays
// locked until then. It fails with the cause when ctx is done, and leaves the file as it was.
func Prune(ctx context.Context, path string, keep int) (*Pruned, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	named, _ := os.Stat(path)
	store, err := OpenLocked(path, kv.Options{})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	from, err := firstKept(store, keep)
	if err != nil {
		return nil, err
	}
	if err := roomBeside(path, store.Size()); err != nil {
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
		err = takePlace(store, named, compacted)
	}
	if err != nil {
		return nil, err
	}
	return &Pruned{
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
			keep++ // an unfinished run needs the run before it
		}
		from = runs[max(0, n-keep)].ID
		return nil
	})
	return from, err
}

// keepCursors lets readers of the feed continue from their cursors.
func keepCursors(old *kv.Store, path string, numbers []uint32) error {
	next, err := kv.Open(path, kv.Options{})
	if err != nil {
		return err
	}
	err = old.View(func(was *kv.Tx) error {
		return next.Update(func(is *kv.Tx) error { return feed.Keep(was, is, numbers, old.Imports()) })
	})
	return errors.Join(err, next.Close())
}
