package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sumi-ripple/ripple/export/whole"
	"github.com/sumi-ripple/ripple/kv"
)

// compact gives a new file without free space the name of the state file. The
// old one stays locked against writers until then.
func compact(path string) (before, after int64, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return 0, 0, err
	}
	old, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return 0, 0, stateError(path, err)
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	if err := roomBeside(path, old.Size()); err != nil {
		return 0, 0, err
	}
	dir, remove, err := whole.Scratch(filepath.Dir(path)) // another process may be compacting it, too
	if err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	defer remove()
	next := filepath.Join(dir, "compacted.bolt")
	if err := kv.Compact(path, next); err != nil {
		return 0, 0, err
	}
	was, err1 := os.Stat(path)
	is, err2 := os.Stat(next)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	if err := takePlace(old, next); err != nil {
		return 0, 0, fmt.Errorf("compact: %w", err)
	}
	return was.Size(), is.Size(), nil
}

// takePlace gives a new file the name of a state file that is locked, unless
// something else has it by now.
func takePlace(old *kv.Store, next string) error {
	if err := old.Present(); err != nil {
		return stateError(old.Path(), err)
	}
	return kv.Rename(next, old.Path())
}
