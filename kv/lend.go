package kv

import (
	"errors"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// Lend gives up the lock of a store that was opened for reading, so that a crawl can
// begin while nothing is read. Until [Store.Reclaim] the store is not used. It reports
// whether that could be done: false where the system has no such lock.
func (s *Store) Lend() bool {
	if !s.readOnly || s.cause != nil || !disk.Locks {
		return false
	}
	disk.Unlock(s.file)
	return true
}

// Reclaim takes the lock that [Store.Lend] has given up. It fails with [ErrLocked] where
// another process writes, and with [ErrLost] where one has: what was read before does
// not hold any more, and the store is closed.
func (s *Store) Reclaim() error {
	err := s.cause
	if err == nil {
		err = lock(s.file, false, 0)
	}
	if err == nil {
		err = s.present()
	}
	if err == nil {
		err = s.View(func(*Tx) error { return nil }) // tells whether commits have come
	}
	if err != nil && !errors.Is(err, ErrLocked) {
		return errors.Join(err, s.Close())
	}
	return err
}
