//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
)

// Locks says that the lock of a file tells a living process from a dead one.
const Locks = true

// TryLock takes the lock of an open file and reports whether it could: another process
// may hold it. It is given up by [Unlock], or when the file is closed for good. The lock
// is that of flock(2), which bbolt takes as well.
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

// Unlock gives a lock up, which a mapping of the file that is left behind would
// otherwise keep. A file that is closed already has none.
func Unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// Unlocking has a file closed, and gives its lock up when it is: a child that is just being started
// has the file open as well, until it is another program, and would keep the lock for so long.
func Unlocking(f *os.File, shut func() error) error {
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(f.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err == nil { // else the child has the last word
		defer func() { _, _ = syscall.Flock(fd, syscall.LOCK_UN), syscall.Close(fd) }()
	}
	return shut()
}
