package kv

import (
	"errors"

	"github.com/sumi-ripple/ripple/schema/disk"
)

// Lend releases the lock of a store opened for reading, so that a crawl can begin while nothing is read. The
// store must not be used until [Store.Reclaim]. Lend reports whether it succeeded: false on systems without
// such locks.
func (s *Store) Lend() bool {
	if !s.readOnly || s.cause != nil || !disk.Locks {
		return false
	}
	disk.Unlock(s.file)
	return true
}

// Reclaim takes back the lock released by [Store.Lend]. It fails with [ErrLocked] while another process is
// writing, and with [ErrLost] if one has written: data read before is then no longer valid, and the store is
// closed.
func (s *Store) Reclaim() error {
	err := s.cause
	if err == nil {
		err = lock(s.file, false, 0)
	}
	if err == nil {
		err = s.present()
	}
	if err == nil {
		err = s.View(func(*Tx) error { return nil }) // fails if there were commits
	}
	if err != nil && !errors.Is(err, ErrLocked) {
		return errors.Join(err, s.Close())
	}
	return err
}
