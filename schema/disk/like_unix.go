//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"os"
	"syscall"
)

// Like gives an open file the permissions of another one. It also copies the owner and group where this
// user is allowed to.
func Like(f, other *os.File) error {
	info, err := other.Stat()
	if err != nil {
		return err
	}
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(of.Uid), int(of.Gid))
	}
	return f.Chmod(info.Mode().Perm())
}

// ofRoot reports whether a file belongs to root.
func ofRoot(info os.FileInfo) bool {
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && of.Uid == 0
}
