package statefile

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// sideExt ends the name of the file in which an import is made that joins others.
const sideExt = ".import"

// Joined removes the file in which an import was made that the state file has, if a kill has left it: whole reports
// whether it holds that import.
func Joined(path string, whole func(*kv.Store) bool) error {
	side := path + sideExt
	if _, err := os.Stat(side); err != nil {
		return nil
	}
	from, err := kv.Open(side, kv.Options{})
	if err != nil {
		return nil // it is not that file
	}
	joined := whole(from)
	if err := from.Close(); err != nil || !joined {
		return err
	}
	return os.Remove(side)
}

// Join gives a file with one more run, an import, the name of the state file, which stays locked until then. imports
// makes the run in a file next to it, which stays until the state file has the run, so that after a failure or a kill
// the next call continues. It returns the number of the run, and of the last one then. Join fails with the cause when
// ctx is done, and leaves the state file as it was.
func Join(ctx context.Context, path string, imports func(*kv.Store) error) (run, last schema.RunID, err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return 0, 0, err
	}
	named, _ := os.Stat(path)
	store, err := OpenLocked(path, kv.Options{})
	if err != nil {
		return 0, 0, err
	}
	defer store.Close()
	if err := roomBeside(path, store.Size()); err != nil {
		return 0, 0, err
	}
	side := path + sideExt
	from, err := kv.Open(side, kv.Options{})
	if err != nil && !errors.Is(err, kv.ErrLocked) {
		err = term.Hint(err, "move the file away: the import is made there")
	}
	if err != nil {
		return 0, 0, err
	}
	err = imports(from)
	if err != nil {
		return 0, 0, errors.Join(err, leaveSide(from, side))
	}
	next, compacted := path+".join", path+".compact"
	_, _ = os.Remove(next), os.Remove(compacted)
	defer os.Remove(next)
	defer os.Remove(compacted)
	if run, last, err = store.Join(ctx, next, from); err == nil {
		err = kv.Compact(next, compacted)
	}
	if err = cmp.Or(err, context.Cause(ctx)); err == nil {
		err = takePlace(store, named, compacted)
	}
	if err = cmp.Or(err, from.Close()); err == nil {
		err = os.Remove(side)
	}
	return run, last, err
}

// leaveSide closes the file of an import that is not finished, and removes it if nothing has begun.
func leaveSide(from *kv.Store, side string) error {
	empty := from.URLs() == 0
	err := from.Close()
	if empty {
		err = errors.Join(err, os.Remove(side))
	}
	return err
}
