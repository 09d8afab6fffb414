package disk

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// errShared reports a secret that others can read.
var errShared = errors.New("must be a file that only its owner can read: chmod 600")

// Secret returns an error unless the file is regular and readable only by its owner. A file owned by root may also be
// readable by its group if this process does not run as root, because Kubernetes and systemd provide secrets that way.
// On Windows only the type of the file is checked.
func Secret(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	others := fs.FileMode(0o077)
	if ofRoot(info) && os.Getuid() != 0 {
		others = 0o037
	}
	if !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm()&others != 0 {
		return errShared
	}
	return nil
}
