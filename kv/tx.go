package kv

import (
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/schema"
)

// A Tx is a transaction, valid only inside the function that it was given to.
// What its methods return belongs to the caller, except hosts.
//
// A Tx of [Store.View] only reads: its methods that change something fail.
type Tx struct {
	s        *Store
	b        *bbolt.Tx
	writable bool
	commit   uint64 // the number of this commit; of the last one in a View
	buckets  [bucketCount]*bbolt.Bucket
	err      error // of a method that cannot return it
	w        writer
	arena    *arena

	urls    []newURL   // added, beginning with id firstURL
	read    schema.URL // the last one that was read from the file, which never changes
	shapes  []schema.ID
	dirty   map[schema.HostID]*schema.Host
	depths  []schema.ID
	visited []schema.ID
	anchors []anchorPart

	anchorText writer // empty, for the first of the anchors
	chunkRead  chunk
	warm       []schema.ID
	loaded     uint32 // keeps loads from being optimised away
	order      []uint64
	unsorted   []schema.Link
}

// Update runs f in a transaction and commits what it did, synced to disk. If f
// or the commit fails, nothing, or after [ErrCommit] perhaps everything, has
// been written, and the store is closed.
func (s *Store) Update(f func(*Tx) error) error {
	if s.cause == nil && s.readOnly {
		return ErrReadOnly
	}
	return s.transact(true, f)
}

// View runs f in a transaction that reads the last commit. An open one makes
// the file grow while others commit, so it should last at most 100 ms. Errors
// of f are returned as they are; damage closes the store.
func (s *Store) View(f func(*Tx) error) error { return s.transact(false, f) }

func (s *Store) transact(writable bool, f func(*Tx) error) error {
	if s.cause != nil {
		return s.cause
	}
	if s.busy {
		return errors.New("kv: transaction within a transaction")
	}
	var b *bbolt.Tx
	ended := false
	s.busy = true
	defer func() {
		s.busy = false
		if !ended { // a panic of f
			s.shut(b, errors.New("panic in a transaction"))
		}
	}()
	err := guard(func() (err error) {
		s.abandon = true // if Begin panics it holds locks
		b, err = s.db.Begin(writable)
		s.abandon = false
		if err != nil {
			return err
		}
		return s.perform(&Tx{s: s, b: b, writable: writable, commit: s.state.commit, arena: &s.arena}, f)
	})
	ended = true
	if err != nil && (writable || errors.Is(err, ErrDamaged)) {
		s.shut(b, err)
	} else if b != nil && !writable {
		err = errors.Join(err, guard(b.Rollback))
	}
	return err
}

func (s *Store) perform(tx *Tx, f func(*Tx) error) error {
	if !tx.writable {
		return errors.Join(f(tx), tx.err)
	}
	tx.commit++
	tx.arena.reset()
	tx.s.spare.lend(tx)
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.flush(); err != nil {
		return err
	}
	if err := tx.b.Commit(); err != nil {
		return fmt.Errorf("%w: %w", ErrCommit, err)
	}
	s.spare.takeBack(tx)
	s.hosts.turn()
	s.names.turn()
	s.ids.turn()
	return nil
}

// flush writes what was collected for the end of the commit.
func (tx *Tx) flush() error {
	if tx.err != nil {
		return tx.err
	}
	tx.s.state.commit = tx.commit
	for _, step := range []func() error{tx.flushURLs, tx.flushShapes, tx.flushHosts, tx.flushDepths,
		tx.flushVisits, tx.flushAnchors, tx.sweepDepths, tx.putState} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// fail remembers the first error of a method that cannot return it.
func (tx *Tx) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// change reports an error if the transaction only reads.
func (tx *Tx) change() error {
	if !tx.writable {
		return ErrReadOnly
	}
	return nil
}

func (tx *Tx) known(id schema.ID) error {
	if id == 0 || uint32(id) > tx.s.state.urls {
		return fmt.Errorf("%w: URL %d", ErrNotFound, id)
	}
	return nil
}
