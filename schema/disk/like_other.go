//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package disk

import "os"

// Like gives an open file the permissions of another one.
func Like(f, other *os.File) error {
	info, err := other.Stat()
	if err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm())
}

func ofRoot(os.FileInfo) bool { return false }
