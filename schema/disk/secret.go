package disk

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

// errShared reports a secret that others can read.
var errShared = errors.New("must be a file that only its owner can read: chmod 600")

// Secret returns an error for a file that is not regular, or that others than its owner can read. The group may read
// a file of root, unless the process is root's: so do Kubernetes and systemd hand out secrets. On Windows only the
// type of the file is checked.
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
