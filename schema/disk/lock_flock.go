//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
)

// Locks reports whether a file lock tells a living process from a dead one.
const Locks = true

// TryLock tries to lock an open file, and reports whether it succeeded: another process may hold the
// lock. [Unlock] releases it, as does closing the last descriptor. The lock is that of flock(2), which
// bbolt uses as well.
func TryLock(f *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH | syscall.LOCK_NB
	if exclusive {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	err := syscall.Flock(int(f.Fd()), how)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}

// Unlock releases a lock that a leftover mapping of the file would otherwise keep. It does nothing for
// a closed file.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// Unlocking closes a file with shut and releases its lock. A child process that is being started also
// has the file open until its exec, and would hold the lock until then.
func Unlocking(f *os.File, shut func() error) error {
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err == nil { // otherwise the child keeps the lock until its exec
		defer func() { _, _ = syscall.Flock(fd, syscall.LOCK_UN), syscall.Close(fd) }()
	}
	return shut()
}
