package render

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// folderPrefix is the prefix of the names of browsers' folders.
const folderPrefix = "ripple-render-"

// A folder holds the files of one browser. It is locked while its process lives, so that other processes can
// recognize folders left behind by a killed process.
type folder struct {
	path string
	lock *os.File // of the folder itself
}

// newFolder creates a folder in the folder for temporary files.
func newFolder() (*folder, error) {
	for {
		path, err := os.MkdirTemp("", folderPrefix)
		if err != nil {
			return nil, err
		}
		if f, err := hold(path); err != nil {
			return nil, errors.Join(err, os.RemoveAll(path))
		} else if f != nil {
			return f, nil
		} // otherwise it was swept before it was locked
	}
}

// hold locks a folder. It returns nil if another process holds it, or has removed it.
func hold(path string) (*folder, error) {
	lock, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if held, err := disk.TryLock(lock, true); err != nil || !held {
		return nil, errors.Join(err, lock.Close())
	}
	locked, err := lock.Stat()
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(locked, there) {
		return nil, lock.Close()
	}
	return &folder{path, lock}, nil
}

// remove removes a folder and releases its lock.
func (f *folder) remove() error { return errors.Join(os.RemoveAll(f.path), f.lock.Close()) }

// sweep removes the folders of killed processes. Folders that cannot be removed are left to the next sweep.
func sweep() {
	temp := os.TempDir()
	entries, _ := os.ReadDir(temp)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), folderPrefix) || !e.IsDir() {
			continue
		}
		if info, err := e.Info(); err != nil || !own(info) {
			continue
		}
		if f, err := hold(filepath.Join(temp, e.Name())); err == nil && f != nil {
			_ = f.remove()
		}
	}
}
