package statefile

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/cluster/node"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/feed"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/merge"
	"github.com/sumi-ripple/ripple/kv/split"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/disk"
)

// A Split makes the shards of a new terrain from the file of one machine, or from the shards of another terrain. Its
// steps are in this order:
//
//  1. The files are locked until the end.
//  2. The new files are made in a folder next to the target, checked and synced. A kill leaves the old files as they
//     were; the next Split removes the folder.
//  3. Every old file is marked. From then on it is refused wherever it would be crawled. A kill leaves this and the
//     next step to the next Split.
//  4. The folder gets its name: only now the new files can be crawled.
//
// If a file was not marked yet and has changed since, the next Split removes the marks and begins again.
type Split struct {
	From   string // a state file, or a folder with all shards of a terrain
	Folder string // of the new files, which must not exist
	Shards int

	at func(step string) error // for tests: an error is a kill at a step
}

// A SplitResult says what was made.
type SplitResult struct {
	Terrain      string // its ID, in hexadecimal digits
	Folder       string
	Shards       int
	URLs, Visits int  // of all shards; a URL counts in each that knows it
	Finished     bool // an earlier Split was finished
}

// Run splits the files, or finishes what a killed Split has left.
func (s *Split) Run(ctx context.Context, p export.Progress) (*SplitResult, error) {
	var err error
	if s.Folder, err = filepath.Abs(s.Folder); err != nil {
		return nil, err
	}
	old, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer old.Close()
	mark, err := s.marked(old)
	if err != nil {
		return nil, err
	}
	if mark != nil {
		if _, err := os.Stat(s.growing(mark.Folder)); err != nil {
			return nil, split.Refuse(old.All[0].Store)
		}
		if unchanged, err := s.mark(old, mark); err != nil || unchanged {
			return s.publish(mark, true, err)
		}
		if err := errors.Join(os.RemoveAll(s.growing(mark.Folder)), unmark(old)); err != nil {
			return nil, err
		}
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	mark = &split.Mark{Terrain: hex.EncodeToString(id), Folder: s.Folder}
	if err := s.make(ctx, old, [16]byte(id), p); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.growing(s.Folder)))
	}
	for _, one := range old.All {
		mark.Commits = append(mark.Commits, one.Store.LastCommit())
	}
	_, err = s.mark(old, mark)
	return s.publish(mark, false, err)
}

// Undo makes files crawlable again whose shards do not exist.
func (s *Split) Undo(ctx context.Context) error {
	old, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer old.Close()
	mark, err := s.marked(old)
	switch {
	case err != nil:
		return err
	case mark == nil:
		return term.Usage("%s was not split", term.Shown(s.From))
	}
	if _, err := os.Stat(mark.Folder); err == nil {
		return term.Hint(term.Usage("the shards are in %s", term.Shown(mark.Folder)),
			"remove them first, on all machines: a site must not be crawled twice")
	}
	if err := os.RemoveAll(s.growing(mark.Folder)); err != nil {
		return err
	}
	return unmark(old)
}

// lock opens the old files for writing, by shard.
func (s *Split) lock(ctx context.Context) (*Shards, error) {
	old := &Shards{}
	if err := s.open(ctx, old); err != nil {
		old.Close()
		return nil, err
	}
	return old, nil
}

// open adds the old files to those that are open.
func (s *Split) open(ctx context.Context, old *Shards) error {
	info, err := os.Stat(s.From)
	if errors.Is(err, fs.ErrNotExist) {
		return term.Usage("there is no %s", term.Shown(s.From))
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		store, err := OpenLocked(s.From, kv.Options{})
		if err != nil {
			return err
		}
		old.All = append(old.All, merge.Shard{Name: term.Shown(s.From), Store: store})
		if part := store.Part(); isShard(part) {
			return term.Usage("%s is shard %d of %d; name the folder that has all of them", term.Shown(s.From),
				part.Shard, part.Shards)
		}
		return nil
	}
	entries, err := os.ReadDir(s.From)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(s.From, e.Name())
		if isBeside(e.Name()) || !IsBolt(path) {
			continue
		}
		store, err := OpenLocked(path, kv.Options{})
		if errors.Is(err, kv.ErrForeign) {
			continue
		}
		if err != nil {
			return err
		}
		one := merge.Shard{Name: term.Shown(path), Store: store}
		if !isShard(store.Part()) {
			one.Store.Close()
			continue
		}
		old.All = append(old.All, one)
	}
	if len(old.All) == 0 {
		return NoShards(s.From)
	}
	slices.SortFunc(old.All, func(a, b merge.Shard) int { return cmp.Compare(a.Store.Part().Shard, b.Store.Part().Shard) })
	return context.Cause(ctx)
}

// growing returns the name of the folder until it gets its own: it is the same for every Split of these files.
func (s *Split) growing(folder string) string {
	from, err := filepath.EvalSymlinks(s.From)
	if err == nil {
		from, err = filepath.Abs(from)
	}
	if err != nil {
		from = s.From
	}
	return fmt.Sprintf("%s.split-%08x", folder, uint32(xxh3.HashString(from)))
}

// marked returns the mark of the first old file that has one; nil: none has.
func (s *Split) marked(old *Shards) (mark *split.Mark, err error) {
	for _, one := range old.All {
		if mark, err = split.MarkOf(one.Store); err != nil || mark != nil {
			break
		}
	}
	if err == nil && mark != nil && len(mark.Commits) != len(old.All) {
		err = term.Usage("%s has %d of the %d files that were split together", term.Shown(s.From), len(old.All),
			len(mark.Commits))
	}
	return mark, err
}

// make makes the new files.
func (s *Split) make(ctx context.Context, old *Shards, terrain [16]byte, p export.Progress) error {
	dir := s.growing(s.Folder)
	if _, err := os.Lstat(s.Folder); !errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(err, error(term.Usage("%s exists; name another folder with -o", term.Shown(s.Folder))))
	}
	if err := roomBeside(s.Folder, 2*old.size()); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	from, done, err := s.whole(ctx, old, filepath.Join(dir, "whole.bolt"), p)
	if err != nil {
		return err
	}
	path := func(n int) string { return node.FilePath(dir, n) }
	err = crawl.Split(ctx, from, split.Options{
		Terrain: terrain, Shards: s.Shards, Drop: []string{feed.MetaBase, feed.MetaEarly, metaConfig}, See: p,
	}, path)
	if err = errors.Join(err, done()); err != nil {
		return err
	}
	for n := range s.Shards {
		p.At("checking", n, s.Shards)
		v, err := CheckApart(ctx, path(n), false)
		if err != nil {
			return err
		}
		if !v.Whole {
			return fmt.Errorf("the new file of shard %d is wrong, and nothing was changed: %s", n, v.Problems[0])
		}
	}
	return errors.Join(disk.SyncDir(dir), disk.SyncDir(filepath.Dir(dir)))
}

// whole returns the store of the whole terrain: the old file, or one that is merged from the old shards. done removes
// that again.
func (s *Split) whole(ctx context.Context, old *Shards, path string, p export.Progress) (
	from *kv.Store, done func() error, err error) {
	if first := old.All[0].Store; !isShard(first.Part()) {
		return first, func() error { return nil }, crawl.Whole(first)
	}
	if err := old.merge(ctx, path, p); err != nil {
		return nil, nil, err
	}
	if from, err = kv.Open(path, kv.Options{}); err != nil {
		return nil, nil, err
	}
	err = from.Update(func(tx *kv.Tx) error {
		for _, one := range old.All {
			err := one.Store.View(func(shard *kv.Tx) error {
				return shard.Messages.Each(func(m *schema.Message) (bool, error) {
					m.Seq = 0
					return true, tx.Messages.Put(m)
				})
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return from, func() error { return errors.Join(from.Close(), os.Remove(path)) }, err
}

// mark marks the old files that are not marked yet. It returns false if one of those has changed since the new files
// were made.
func (s *Split) mark(old *Shards, mark *split.Mark) (unchanged bool, err error) {
	var left []*kv.Store
	for i, one := range old.All {
		its, err := split.MarkOf(one.Store)
		switch {
		case err != nil:
			return false, err
		case its != nil && its.Terrain == mark.Terrain:
		case its != nil || one.Store.LastCommit() != mark.Commits[i]:
			return false, nil
		default:
			left = append(left, one.Store)
		}
	}
	for _, store := range left {
		if err := s.reach("mark"); err != nil {
			return true, err
		}
		if err := mark.Put(store); err != nil {
			return true, err
		}
	}
	return true, s.reach("publish")
}

// reach calls the function of a test before a step.
func (s *Split) reach(step string) error {
	if s.at == nil {
		return nil
	}
	return s.at(step)
}

func unmark(old *Shards) error {
	for _, one := range old.All {
		if mark, err := split.MarkOf(one.Store); err != nil {
			return err
		} else if mark == nil {
			continue
		}
		if err := (*split.Mark)(nil).Put(one.Store); err != nil {
			return err
		}
	}
	return nil
}

// publish gives the folder of the new files its name, unless there is an error.
func (s *Split) publish(mark *split.Mark, finished bool, err error) (*SplitResult, error) {
	if err == nil {
		err = kv.Rename(s.growing(mark.Folder), mark.Folder)
	}
	if err != nil {
		return nil, err
	}
	done := &SplitResult{Terrain: mark.Terrain, Folder: mark.Folder, Finished: finished}
	for {
		store, err := kv.Open(node.FilePath(mark.Folder, done.Shards), kv.Options{ReadOnly: true})
		if errors.Is(err, fs.ErrNotExist) {
			return done, nil
		}
		if err != nil {
			return nil, err
		}
		done.Shards, done.URLs, done.Visits = done.Shards+1, done.URLs+store.URLs(), done.Visits+int(store.LastSeq())
		if err := store.Close(); err != nil {
			return nil, err
		}
	}
}
