package whole

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
	scratchMark = ".ripple-new-" // then digits
	lockName    = ".ripple-lock"
	staleAge    = time.Hour // of what has no lock, or where locks tell nothing
)

// Scratch makes a folder in dir that only this user can look into, for what is
// not finished. Remove it when it is not needed any more; if a kill comes before,
// the next Scratch or [Sweep] of dir does.
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

// Sweep removes the scratch folders of this user in dir whose processes were
// killed. A process that lives holds the lock of its own.
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

// abandoned reports whether nobody holds the lock of a scratch folder. One that has
// none goes at once if it is empty, else when it is old.
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
