package decide

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/record"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema/config"
)

// Import imports archives into the state file of a configuration, which it makes if there is none.
func Import(ctx context.Context, cfg *config.Config, from crawl.Archives) (crawl.Imported, error) {
	state := cfg.State.Path
	_, err := os.Lstat(state)
	fresh := errors.Is(err, fs.ErrNotExist)
	store, err := statefile.OpenLocked(state, kv.Options{})
	if err != nil {
		return crawl.Imported{}, err
	}
	done, err := crawl.Import(ctx, store, cfg, from)
	if fresh && err != nil && done.Run.ID == 0 {
		return done, errors.Join(err, store.Close(), os.Remove(state))
	}
	if done.Known {
		whole := func(side *kv.Store) bool {
			_, ok, err := record.FindImport(side, cfg, done.Run.Source)
			return ok && err == nil
		}
		return done, errors.Join(statefile.Joined(state, whole), store.Close())
	}
	other := errors.Is(err, record.ErrRuns)
	if other {
		_, err = record.Foresee(store, cfg)
	}
	if err = errors.Join(err, store.Close()); err == nil && other {
		return join(ctx, cfg, from)
	}
	if errors.Is(err, record.ErrImport) {
		err = term.Hint(err, "import the same archives again to finish it, or name another [state] path")
	}
	return done, err
}

// join imports archives into a file of their own, and makes that a run of the state file.
func join(ctx context.Context, cfg *config.Config, from crawl.Archives) (done crawl.Imported, err error) {
	run, last, err := statefile.Join(ctx, cfg.State.Path, func(side *kv.Store) (err error) {
		done, err = crawl.Import(ctx, side, cfg, from)
		switch path := term.Shown(side.Path()); {
		case errors.Is(err, record.ErrImport):
			err = term.Hint(record.ErrImport, "import the same archives again to finish it, or remove %s", path)
		case errors.Is(err, record.ErrRuns):
			err = term.Hint(fmt.Errorf("%s is finished and not yet added, or is the file of a crawl", path),
				"import the same archives again to add it, or move the file away")
		}
		return err
	})
	done.Run.ID, done.Last, done.Known = run, last, false
	return done, err
}

// ArchiveFiles returns the files to import: those named, and of each folder named those whose names end in one of the
// suffixes, by name. Folders in it are included, and files to which links in it point.
func ArchiveFiles(named []string, suffixes ...string) ([]string, error) {
	var all []string
	for _, path := range named {
		stat, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !stat.IsDir() && !stat.Mode().IsRegular() {
			return nil, term.Usage("%s is no regular file; archives are read more than once", term.Shown(path))
		}
		if !stat.IsDir() {
			all = append(all, path)
			continue
		}
		n := len(all)
		err = filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			ends := func(suffix string) bool { return strings.HasSuffix(file, suffix) }
			if err != nil || !slices.ContainsFunc(suffixes, ends) {
				return err
			}
			stat, err := os.Stat(file)
			if err == nil && stat.Mode().IsRegular() {
				all = append(all, file)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(all) == n {
			return nil, term.Usage("%s holds no file whose name ends in %s", term.Shown(path), strings.Join(suffixes, ", "))
		}
	}
	return all, nil
}
