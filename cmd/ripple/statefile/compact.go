package statefile

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/kv"
)

// Compact gives a new file without free space the name of the state file. The
// old one stays locked against writers until then.
func Compact(path string) (before, after int64, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return 0, 0, err
	}
	named, _ := os.Stat(path)
	old, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return 0, 0, Advise(path, err)
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if err := roomBeside(path, old.Size()); err != nil {
		return 0, 0, err
	}
	dir, remove, err := atomicfile.Scratch(filepath.Dir(path)) // another process may be compacting it, too
	if err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	defer remove()
	next := filepath.Join(dir, "compacted.bolt")
	if err := kv.Compact(path, next); err != nil {
		return 0, 0, cmp.Or(replaced(old, named), err)
	}
	was, err1 := os.Stat(path)
	is, err2 := os.Stat(next)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	if err := takePlace(old, named, next); err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	return was.Size(), is.Size(), nil
}

// takePlace gives a new file the name of a state file that is locked, unless another file has it by now. named is
// what had the name just before the state file was opened.
func takePlace(old *kv.Store, named os.FileInfo, next string) error {
	if err := old.Present(); err != nil {
		return cmp.Or(replaced(old, named), Advise(old.Path(), err))
	}
	return kv.Rename(next, old.Path())
}

// replaced returns an error if another complete file now has the name of the old one. The lock on the old file keeps
// out writers, but not processes that replace the file.
func replaced(old *kv.Store, named os.FileInfo) error {
	now, err := os.Stat(old.Path())
	if err != nil || named == nil || os.SameFile(named, now) {
		return nil
	}
	store, err := kv.Open(old.Path(), kv.Options{ReadOnly: true, Timeout: time.Second})
	switch {
	case err == nil:
		if err := store.Close(); err != nil {
			return err
		}
	case !errors.Is(err, kv.ErrLocked): // which a crawl that has begun meanwhile does
		return nil
	}
	return fmt.Errorf("%s: another command has just compacted it; nothing was done", term.Shown(old.Path()))
}
