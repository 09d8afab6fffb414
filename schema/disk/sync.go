package disk

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// SyncDir makes the names in a folder outlive a loss of power: what was created, renamed
// or removed there before the call. The contents of files are theirs to sync. Where
// folders cannot be synced, on Windows and on some file systems, it does nothing.
func SyncDir(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}
