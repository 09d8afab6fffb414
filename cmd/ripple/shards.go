package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/unite"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// shards are the open files of shards.
type shards struct {
	all          []unite.Shard
	without      []string // folders that hold no shard
	missing      schema.Shards
	urls, visits int // of the whole
}

func (s *shards) close() {
	for _, one := range s.all {
		one.Store.Close()
	}
}

// open opens what is named.
func (s *shards) open(ctx context.Context, from states, args []string) error {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return term.Usage("there is no %s", term.Shown(arg))
		case err != nil:
			return err
		case info.IsDir():
			err = s.openFolder(ctx, from, arg)
		default:
			err = s.openFile(ctx, from, arg)
		}
		if err != nil {
			return err
		}
	}
	if len(s.all) == 0 {
		return term.Usage("no file there holds a shard of a terrain: %s", strings.Join(s.without, ", "))
	}
	return nil
}

// openFolder opens the files of a folder that hold a shard. A machine that came late has
// none.
func (s *shards) openFolder(ctx context.Context, from states, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := len(s.all)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || isBeside(e.Name()) || !isBolt(path) {
			continue
		}
		switch err := s.openFile(ctx, from, path); {
		case errors.Is(err, kv.ErrForeign):
		case err != nil:
			return err
		case !isShard(s.all[len(s.all)-1].Store.Part()):
			s.all[len(s.all)-1].Store.Close()
			s.all = s.all[:len(s.all)-1]
		}
	}
	if len(s.all) == found {
		s.without = append(s.without, term.Shown(dir))
	}
	return nil
}

// isShard reports whether a file holds one shard.
func isShard(part schema.Part) bool { return part.Shards != 0 && !part.United() }

// openFile opens a state file, or a copy of one that is being crawled.
func (s *shards) openFile(ctx context.Context, from states, path string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	store, live, err := from.open(ctx, path)
	var h *term.Hinted
	if errors.As(err, &h) && !errors.Is(err, kv.ErrLocked) {
		return h.Unwrap() // what helps is for a state that is crawled alone
	}
	if err != nil {
		return err
	}
	s.all = append(s.all, unite.Shard{Name: term.Shown(path), Store: store, Live: live != nil})
	return nil
}

// write makes a new file of the shards and gives it a name, unless that is refused in the end.
func (s *shards) write(ctx context.Context, out string, refuse func() error, p export.Progress) error {
	release, err := s.reserve(out)
	if err != nil {
		return err
	}
	defer release()
	dir, remove, err := whole.Scratch(filepath.Dir(out))
	if err != nil {
		return err
	}
	defer remove()
	united, compacted := filepath.Join(dir, "united.bolt"), filepath.Join(dir, "compacted.bolt")
	err = s.unite(ctx, united, p)
	var missing *unite.MissingError
	if errors.As(err, &missing) {
		return term.Hint(err, "a map of the others is made with --without %s", unspaced(missing.Shards))
	}
	if err == nil {
		p.At("compacting", 0, 0)
		err = kv.Compact(united, compacted) // it was written in many commits
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = refuse() // it may have come meanwhile
	}
	if err == nil {
		err = kv.Rename(compacted, out)
	}
	switch {
	case errors.Is(err, kv.ErrDamaged):
		return term.Hint(err, "\"ripple verify --state FILE\" tells of each shard whether it is whole")
	case err != nil && !term.IsUserError(err):
		return fmt.Errorf("write %s: %w", term.Shown(out), err)
	}
	return err
}

// uniteFolder opens a temporary file that holds what the shards in a folder do. It has no name
// any more when it is returned, where the system allows that.
func uniteFolder(ctx context.Context, from states, dir string) (store *kv.Store, err error) {
	var parts shards
	defer parts.close()
	scratch, remove, err := whole.Scratch(os.TempDir())
	if err != nil {
		return nil, err
	}
	defer remove()
	united := filepath.Join(scratch, "united.bolt")
	err = from.voice.During("reading the shards in "+term.Shown(dir), func(p export.Progress) error {
		p.At("opening shards", 0, 0)
		if err := parts.openFolder(ctx, from, dir); err != nil {
			return err
		}
		if len(parts.all) == 0 {
			return noShards(dir)
		}
		if err := fits(scratch, parts.size()); err != nil {
			return err
		}
		return parts.unite(ctx, united, p)
	})
	var missing *unite.MissingError
	if errors.As(err, &missing) {
		return nil, term.Hint(err, "\"ripple unite %s -o FILE --without %s\" makes a map of the others, which says so",
			term.Shown(dir), unspaced(missing.Shards))
	}
	if err != nil {
		return nil, err
	}
	return kv.Open(united, kv.Options{ReadOnly: true})
}

func noShards(dir string) error {
	return term.Usage("no file in %s holds a shard of a terrain; name a state file", term.Shown(dir))
}

// unspaced are shards as a flag names them.
func unspaced(s schema.Shards) string { return strings.ReplaceAll(s.String(), " ", "") }

// size is what the files hold, in bytes.
func (s *shards) size() (sum int64) {
	for _, one := range s.all {
		sum += one.Store.Size()
	}
	return sum
}

// reserve locks a file that is to be replaced, which nobody may be using and which must
// not be one of the shards.
func (s *shards) reserve(path string) (release func(), err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	release = func() { _ = f.Close() }
	mine, err := f.Stat()
	for _, one := range s.all {
		if its, gone := os.Stat(one.Store.Path()); err == nil && gone == nil && os.SameFile(mine, its) {
			err = term.Usage("%s is one of the shards; name another file", term.Shown(path))
		}
	}
	if err == nil {
		var held bool
		if held, err = disk.TryLock(f, true); err == nil && !held {
			err = term.Hint(fmt.Errorf("replace %s: %w", term.Shown(path), kv.ErrLocked), "name another file")
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// unite writes a new state file.
func (s *shards) unite(ctx context.Context, path string, p export.Progress) error {
	dst, err := kv.Open(path, kv.Options{})
	if err != nil {
		return err
	}
	defer dst.Close()
	if err := unite.Stores(ctx, s.all, s.missing, dst, p); err != nil {
		return err
	}
	if err := errors.Join(crawl.LeavePages(dst), s.interrupt(dst)); err != nil {
		return err
	}
	s.urls, s.visits = dst.URLs(), int(dst.LastSeq())
	return dst.Close()
}

// interrupt has the map say that its run was interrupted, if no shard is being crawled.
func (s *shards) interrupt(dst *kv.Store) error {
	if slices.ContainsFunc(s.all, func(one unite.Shard) bool { return one.Live }) {
		return nil
	}
	return dst.Update(func(tx *kv.Tx) error {
		runs, err := tx.Runs.All()
		if err != nil || len(runs) == 0 {
			return err
		}
		last := runs[len(runs)-1]
		if last.Status != schema.RunRunning || last.Walked { // then only outputs are missing
			return nil
		}
		last.Status = schema.RunInterrupted
		return tx.Runs.Put(last)
	})
}
