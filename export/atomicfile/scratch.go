package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema/disk"
)

const (
	scratchMark = ".ripple-new-" // followed by digits
	lockName    = ".ripple-lock"
	staleAge    = time.Hour // for a folder without a lock, or where locks are not supported
)

// Scratch creates a folder in dir that only this user can read, for unfinished output. The caller must
// call remove when it is no longer needed. If a kill prevents that, the next Scratch or [Sweep] of dir
// removes it.
func Scratch(dir string) (path string, remove func(), err error) {
	Sweep(dir)
	for {
		if path, err = os.MkdirTemp(dir, scratchMark); err != nil {
			return "", nil, err
		}
		f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept before it had a lock
		}
		if err != nil {
			return "", nil, errors.Join(err, os.Remove(path))
		}
		_, _ = disk.TryLock(f, true)
		if named, err := os.Stat(f.Name()); err == nil {
			if mine, err := f.Stat(); err == nil && os.SameFile(mine, named) {
				return path, func() { _ = f.Close(); _ = os.RemoveAll(path) }, nil
			}
		}
		_ = f.Close() // swept before it was locked
	}
}

// Sweep removes the scratch folders of this user in dir whose processes were killed. A living process
// holds the lock of its folder.
func Sweep(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := e.Info(); isScratch(e.Name()) && err == nil && owned(info) && abandoned(path, info) {
			_ = os.RemoveAll(path)
		}
	}
}

func isScratch(name string) bool {
	digits, marked := strings.CutPrefix(name, scratchMark)
	return marked && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// abandoned reports whether nobody holds the lock of a scratch folder. An empty folder without a lock
// is removed at once; a non-empty one counts as abandoned when it is old.
func abandoned(path string, info fs.FileInfo) bool {
	if !info.IsDir() {
		return false
	}
	old := time.Since(info.ModTime()) > staleAge
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return os.Remove(path) != nil && old
	}
	if err != nil {
		return false
	}
	defer f.Close()
	held, _ := disk.TryLock(f, true)
	return held && (disk.Locks || old)
}
