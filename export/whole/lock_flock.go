//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package whole

import (
	"io/fs"
	"os"
	"syscall"
)

// locks says that [lock] tells a living process from a dead one.
const locks = true

// lock takes the lock of a file until it is closed, unless another process has it.
func lock(f *os.File) bool { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil }

// owned reports whether a file belongs to this user.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
