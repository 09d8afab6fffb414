package statefile

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
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// Shards are open shard files.
type Shards struct {
	All          []merge.Shard
	Without      []string // folders that hold no shard
	Missing      schema.Shards
	Urls, Visits int // in all files
}

func (s *Shards) Close() {
	for _, one := range s.All {
		one.Store.Close()
	}
}

// Open opens the named files, and in named folders the files that hold a shard.
func (s *Shards) Open(ctx context.Context, from Files, args []string) error {
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
	if len(s.All) == 0 {
		return term.Usage("no file there holds a shard of a terrain: %s", strings.Join(s.Without, ", "))
	}
	return nil
}

// openFolder opens the files of a folder that hold a shard. A machine that joined late has none.
func (s *Shards) openFolder(ctx context.Context, from Files, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := len(s.All)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || isBeside(e.Name()) || !IsBolt(path) {
			continue
		}
		switch err := s.openFile(ctx, from, path); {
		case errors.Is(err, kv.ErrForeign):
		case err != nil:
			return err
		case !isShard(s.All[len(s.All)-1].Store.Part()):
			s.All[len(s.All)-1].Store.Close()
			s.All = s.All[:len(s.All)-1]
		}
	}
	if len(s.All) == found {
		s.Without = append(s.Without, term.Shown(dir))
	}
	return nil
}

// isShard reports whether a file holds exactly one shard.
func isShard(part schema.Part) bool { return part.Shards != 0 && !part.Merged() }

// openFile opens a state file, or a copy of one that is being crawled.
func (s *Shards) openFile(ctx context.Context, from Files, path string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	store, live, err := from.Open(ctx, path)
	var h *term.Hinted
	if errors.As(err, &h) && !errors.Is(err, kv.ErrLocked) {
		return h.Unwrap() // the advice is for a state file of a single machine
	}
	if err != nil {
		return err
	}
	s.All = append(s.All, merge.Shard{Name: term.Shown(path), Store: store, Live: live != nil})
	return nil
}

// Write merges the shards into a new file. It gives the file its name only if refuse still allows that.
func (s *Shards) Write(ctx context.Context, out string, refuse func() error, p export.Progress) error {
	release, err := s.reserve(out)
	if err != nil {
		return err
	}
	defer release()
	dir, remove, err := atomicfile.Scratch(filepath.Dir(out))
	if err != nil {
		return err
	}
	defer remove()
	merged, compacted := filepath.Join(dir, "merged.bolt"), filepath.Join(dir, "compacted.bolt")
	err = s.merge(ctx, merged, p)
	var missing *merge.MissingError
	if errors.As(err, &missing) {
		return term.Hint(err, "a map of the others is made with --without %s", unspaced(missing.Shards))
	}
	if err == nil {
		p.At("compacting", 0, 0)
		err = kv.Compact(merged, compacted) // it was written in many commits
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
	case errors.As(err, new(*merge.OlderError)):
		return term.Hint(err, "merge the newest file of each shard")
	case errors.Is(err, kv.ErrDamaged):
		return term.Hint(err, "\"ripple verify --state FILE\" says which shards are intact")
	case err != nil && !term.IsUserError(err):
		return fmt.Errorf("write %s: %w", term.Shown(out), err)
	}
	return err
}

// mergeFolder opens the merged shards of a folder.
func mergeFolder(ctx context.Context, from Files, dir string) (store *kv.Store, err error) {
	open := func(_ string, parts *Shards, p export.Progress) error {
		p.At("opening shards", 0, 0)
		if err := parts.openFolder(ctx, from, dir); err != nil {
			return err
		}
		if len(parts.All) == 0 {
			return NoShards(dir)
		}
		return nil
	}
	store, err = from.merged(ctx, "reading the shards in "+term.Shown(dir), open)
	var missing *merge.MissingError
	if errors.As(err, &missing) {
		return nil, term.Hint(err, "\"ripple merge %s -o FILE --without %s\" makes a map of the others, which says so",
			term.Shown(dir), unspaced(missing.Shards))
	}
	return store, err
}

// merged opens a temporary file that holds the merged shards that open opens, perhaps from the temporary folder
// scratch. Where the system allows it, no file there has a name any more when this returns.
func (s Files) merged(ctx context.Context, what string,
	open func(scratch string, parts *Shards, p export.Progress) error) (store *kv.Store, err error) {
	var parts Shards
	defer parts.Close()
	scratch, remove, err := atomicfile.Scratch(os.TempDir())
	if err != nil {
		return nil, err
	}
	defer remove()
	merged := filepath.Join(scratch, "merged.bolt")
	err = s.Voice.During(what, func(p export.Progress) error {
		if err := open(scratch, &parts, p); err != nil {
			return err
		}
		if err := Fits(scratch, parts.size()); err != nil {
			return err
		}
		return parts.merge(ctx, merged, p)
	})
	if err != nil {
		return nil, err
	}
	return kv.Open(merged, kv.Options{ReadOnly: true})
}

// ReadShards opens the merged map of shards for reading, as if they were in a folder. open opens their files, perhaps
// from the temporary folder scratch, in which it may write.
func (s Files) ReadShards(ctx context.Context, folder, what string,
	open func(scratch string, parts *Shards, p export.Progress) error) (*State, error) {
	store, err := s.merged(ctx, what, open)
	if err != nil {
		return nil, err
	}
	return s.state(ctx, folder, store, nil)
}

// A ShardFile is the file that a shard of a terrain should be in.
type ShardFile struct {
	Path    string
	Terrain [16]byte
	Shard   int
	Live    bool           // it is a copy of one that was being crawled
	Opening schema.Opening // the newest file contains this opening and its commit; zero: unknown
	Commit  uint64
}

// OpenShard opens the file of a shard, or a copy if it is being crawled.
func (s *Shards) OpenShard(ctx context.Context, from Files, f ShardFile) error {
	if err := s.openFile(ctx, from, f.Path); err != nil {
		return err
	}
	last := &s.All[len(s.All)-1]
	last.Live = last.Live || f.Live
	err := f.check(last.Store)
	if err != nil {
		last.Store.Close()
		s.All = s.All[:len(s.All)-1]
	}
	return err
}

// check returns an error if a store is not the newest one of the shard.
func (f ShardFile) check(store *kv.Store) error {
	if part := store.Part(); part.Terrain != f.Terrain || part.Shard != f.Shard || part.Merged() {
		return fmt.Errorf("%s is of another terrain or shard", term.Shown(f.Path))
	}
	if f.Opening == (schema.Opening{}) {
		return nil
	}
	has := false
	err := store.View(func(tx *kv.Tx) (err error) { has, err = tx.Openings.Contains(f.Opening, f.Commit); return err })
	if err == nil && !has {
		err = fmt.Errorf("%s is an older copy of it", term.Shown(f.Path))
	}
	return err
}

func NoShards(dir string) error {
	return term.Usage("no file in %s holds a shard of a terrain; name a state file", term.Shown(dir))
}

// unspaced returns numbers of shards as a flag takes them.
func unspaced(s schema.Shards) string { return strings.ReplaceAll(s.String(), " ", "") }

// size returns the size of all files in bytes.
func (s *Shards) size() (sum int64) {
	for _, one := range s.All {
		sum += one.Store.Size()
	}
	return sum
}

// reserve locks a file that is to be replaced. The file must not be in use, and must not be one of the shards.
func (s *Shards) reserve(path string) (release func(), err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	release = func() { _ = f.Close() }
	mine, err := f.Stat()
	for _, one := range s.All {
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

// merge merges the shards into a new state file.
func (s *Shards) merge(ctx context.Context, path string, p export.Progress) error {
	dst, err := kv.Open(path, kv.Options{})
	if err != nil {
		return err
	}
	defer dst.Close()
	if err := merge.Stores(ctx, s.All, s.Missing, dst, p); err != nil {
		return err
	}
	if err := crawl.LeavePages(dst); err != nil {
		return err
	}
	if err := s.interrupt(dst); err != nil {
		return err
	}
	s.Urls, s.Visits = dst.URLs(), int(dst.LastSeq())
	return dst.Close()
}

// interrupt marks the newest run of the map as interrupted, if no shard is being crawled.
func (s *Shards) interrupt(dst *kv.Store) error {
	if slices.ContainsFunc(s.All, func(one merge.Shard) bool { return one.Live }) {
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
