package kv

import (
	"os"
	"time"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// lock takes the lock that bbolt will take on the same open file, so that the file can be examined before.
func lock(f *os.File, exclusive bool, timeout time.Duration) error {
	for end := time.Now().Add(timeout); ; time.Sleep(10 * time.Millisecond) {
		switch held, err := disk.TryLock(f, exclusive); {
		case err != nil:
			return err
		case held:
			return nil
		case time.Now().After(end):
			return ErrLocked
		}
	}
}
