//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package disk

import "os"

// Locks says that the lock of a file tells nothing.
const Locks = false

// TryLock takes no lock here and keeps nobody from anything.
func TryLock(*os.File, bool) (bool, error) { return true, nil }

// Unlock leaves what is locked by others to the end of the file's handle.
func Unlock(*os.File) {}

// Unlocking has a file closed.
func Unlocking(_ *os.File, shut func() error) error { return shut() }
