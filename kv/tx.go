package kv

import (
	"cmp"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// A Tx is a transaction, valid only inside the function it was passed to. The results of its methods belong
// to the caller, except hosts.
//
// Its fields own the buckets of the file, see the package comment, and the changes collected until the
// commit. They must be neither copied nor assigned to.
//
// A Tx of [Store.View] is read-only: methods that change something fail.
type Tx struct {
	base
	URLs     URLs
	Hosts    Hosts
	Visits   Visits
	Frontier Frontier
	Depths   Depths
	Runs     Runs
	Meta     Meta
	Vouchers Vouchers
	Inlinks  Inlinks
	Messages Messages
	Openings Openings
	Part     Part
	Outbox   Outbox
	Inbound  Inbound
	Peers    Peers
}

func newTx(s *Store, b *bbolt.Tx, writable bool) *Tx {
	tx := &Tx{base: base{s: s, b: b, writable: writable, commit: s.state.commit, arena: &s.arena}}
	tx.URLs.tx, tx.URLs.hosts = &tx.base, &tx.Hosts
	tx.Hosts.tx = &tx.base
	tx.Visits.tx, tx.Visits.urls = &tx.base, &tx.URLs
	tx.Frontier.tx, tx.Frontier.hosts = &tx.base, &tx.Hosts
	tx.Depths.tx = &tx.base
	tx.Runs.tx = &tx.base
	tx.Meta.tx = &tx.base
	tx.Vouchers.tx = &tx.base
	tx.Inlinks.tx = &tx.base
	tx.Messages.tx = &tx.base
	tx.Openings.tx = &tx.base
	tx.Part.tx = &tx.base
	tx.Outbox.tx = &tx.base
	tx.Inbound.tx = &tx.base
	tx.Peers.tx = &tx.base
	return tx
}

// Update runs f in a transaction and commits it, synced to disk. If f or the commit fails, the store is
// closed, and nothing has been written; after [ErrCommit] or [ErrLost] everything may have been.
func (s *Store) Update(f func(*Tx) error) error {
	if s.cause == nil && s.readOnly {
		return ErrReadOnly
	}
	return s.transact(true, f)
}

// View runs f in a transaction that reads the last commit. The next Update waits for its end, so it should be
// short during a crawl. Errors of f are returned unchanged; damage closes the store.
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
		if err := s.uncut(); s.readOnly && err != nil { // a writer checks before it commits
			return err
		}
		s.abandon = true // if Begin panics, it holds locks
		b, err = s.db.Begin(writable)
		s.abandon = false
		if err != nil {
			return err
		}
		if err := s.advance(b.ID(), writable); err != nil {
			return err
		}
		return newTx(s, b, writable).perform(f)
	})
	ended = true
	err = s.explained(err)
	if err != nil && (writable || errors.Is(err, ErrDamaged) || errors.Is(err, ErrLost)) {
		s.shut(b, err)
	} else if b != nil && !writable {
		err = errors.Join(err, guard(b.Rollback))
	}
	return err
}

func (tx *Tx) perform(f func(*Tx) error) error {
	s := tx.s
	if !tx.writable {
		return errors.Join(f(tx), tx.err)
	}
	tx.commit++
	tx.arena.reset()
	s.spare.lend(tx)
	if !s.entered {
		if err := tx.Openings.enter(); err != nil {
			return err
		}
		s.entered = true
	}
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.flush(); err != nil {
		return err
	}
	if err := s.Present(); err != nil {
		return err
	}
	if err := tx.b.Commit(); err != nil {
		return fmt.Errorf("%w: %w", ErrCommit, withoutRoom(err))
	}
	if err := cmp.Or(s.measure(), s.Present()); err != nil {
		return err
	}
	s.spare.takeBack(tx)
	s.hosts.turn()
	s.names.turn()
	s.ids.turn()
	return nil
}

// flush writes the changes collected for the end of the commit: the counters last, because the other steps
// update them.
func (tx *Tx) flush() error {
	if tx.err != nil {
		return tx.err
	}
	tx.s.state.commit = tx.commit
	for _, step := range []func() error{tx.URLs.flush, tx.URLs.flushShapes, tx.Hosts.flush, tx.Depths.flush,
		tx.Visits.flush, tx.Visits.flushAnchors, tx.Depths.sweep, tx.Outbox.flush, tx.putState} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
