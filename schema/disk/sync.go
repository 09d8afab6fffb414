package disk

import (
	"errors"
	"os"
	"runtime"
	"syscall"
)

// SyncDir makes names created, renamed or removed in a folder before the call survive a power loss. It
// does not sync the contents of files. It does nothing where folders cannot be synced: on Windows and
// on some file systems.
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
