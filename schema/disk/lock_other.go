//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package disk

import "os"

// Locks is false: file locks are not supported here.
const Locks = false

// TryLock takes no lock and always succeeds.
func TryLock(*os.File, bool) (bool, error) { return true, nil }

// Unlock does nothing here.
func Unlock(*os.File) {}

// Unlocking closes the file with shut.
func Unlocking(_ *os.File, shut func() error) error { return shut() }
