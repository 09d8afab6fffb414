//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package kv

import (
	"os"
	"time"
)

// lock leaves the lock to bbolt.
func lock(*os.File, bool, time.Duration) error { return nil }
