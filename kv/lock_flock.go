//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package kv

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// lock takes the lock that bbolt will take of the same open file, so that the
// file can be looked at in between.
func lock(f *os.File, exclusive bool, timeout time.Duration) error {
	how := syscall.LOCK_SH | syscall.LOCK_NB
	if exclusive {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	for end := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return err
		case time.Now().After(end):
			return ErrLocked
		}
	}
}

// unlock gives the lock up, which a mapping of the file that is left behind
// would otherwise keep. A file that is closed already has none.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }
