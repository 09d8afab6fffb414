//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package kv

import (
	"os"
	"time"
)

// lock leaves the lock to bbolt.
func lock(*os.File, bool, time.Duration) error { return nil }

// unlock leaves the lock to the end of the file's handle.
func unlock(*os.File) {}
