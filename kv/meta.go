package kv

import (
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/schema"
)

// A state is the counters of the file, written with every commit.
type state struct {
	commit     uint64
	urls       uint32
	hosts      uint32
	visits     uint32
	generation uint32
	runs       uint32
	shapes     uint64 // values in that bucket
	depths     uint64 // values of this generation
	pending    bool   // there is a list of pending URLs
	reapply    bool
}

func (s *state) encode(w *writer) {
	w.uint(s.commit)
	w.uint(uint64(s.urls))
	w.uint(uint64(s.hosts))
	w.uint(uint64(s.visits))
	w.uint(uint64(s.generation))
	w.uint(uint64(s.runs))
	w.uint(s.shapes)
	w.uint(s.depths)
	w.bool(s.pending)
	w.bool(s.reapply)
}

func (s *state) decode(r *reader) {
	s.commit = r.uint()
	s.urls = uint32(r.id())
	s.hosts = uint32(r.id())
	s.visits = uint32(r.id())
	s.generation = uint32(r.id())
	s.runs = uint32(r.id())
	s.shapes = r.uint()
	s.depths = r.uint()
	s.pending = r.bool()
	s.reapply = r.bool()
}

func (tx *Tx) putState() error {
	w := tx.fields()
	tx.s.state.encode(w)
	return tx.put(bMeta, []byte("state"), w)
}

func (tx *Tx) putFormat() error {
	w := tx.fields()
	w.uint(formatVersion)
	w.string(formatRelease)
	w.fixed(tx.s.seed)
	return tx.put(bMeta, []byte("format"), w)
}

// readMeta reads the format, which must be known, and the counters.
func (tx *Tx) readMeta() error {
	if tx.b.Bucket([]byte(bMeta.String())) == nil {
		return ErrForeign
	}
	r, err := tx.get(bMeta, []byte("format"))
	if errors.Is(err, ErrNotFound) {
		return ErrForeign
	}
	if err != nil {
		return err
	}
	version, release := r.uint(), r.string()
	if version > formatVersion {
		return fmt.Errorf("%w: format %d, which Ripple %s and later can read", ErrFormat, version, release)
	}
	tx.s.seed = r.fixed()
	if version > 0 && version < formatVersion {
		return fmt.Errorf("%w: format %d, which only a Ripple before its first release wrote", ErrFormat, version)
	}
	if r.bad || version == 0 {
		return damaged(bMeta, []byte("format"), "cannot be decoded")
	}
	if r, err = tx.get(bMeta, []byte("state")); err != nil {
		return err
	}
	if tx.s.state.decode(&r); r.bad {
		return damaged(bMeta, []byte("state"), "cannot be decoded")
	}
	tx.commit = tx.s.state.commit
	return nil
}

// Meta returns a named value that [Tx.PutMeta] stored; nil if there is none.
func (tx *Tx) Meta(name string) ([]byte, error) {
	r, err := tx.get(bMeta, metaKey(name))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	return append([]byte{}, r.b...), err
}

// PutMeta stores a small named value; nil removes it.
func (tx *Tx) PutMeta(name string, value []byte) error {
	if err := tx.change(); err != nil {
		return err
	}
	if value == nil {
		return tx.delete(bMeta, metaKey(name))
	}
	w := tx.fields()
	w.raw(value)
	return tx.put(bMeta, metaKey(name), w)
}

func metaKey(name string) []byte { return []byte("value/" + name) }

// Pending returns the URLs whose relaxation was left undone.
func (tx *Tx) Pending() ([]schema.ID, error) {
	if !tx.s.state.pending {
		return nil, nil
	}
	r, err := tx.get(bMeta, []byte("pending"))
	if err != nil {
		return nil, missing(err, bMeta, []byte("pending"))
	}
	ids := r.ids(nil)
	if r.bad {
		return nil, damaged(bMeta, []byte("pending"), "cannot be decoded")
	}
	return ids, nil
}

// SetPending replaces the URLs whose relaxation is left undone. It does not keep ids.
func (tx *Tx) SetPending(ids []schema.ID) error {
	if err := tx.change(); err != nil {
		return err
	}
	if tx.s.state.pending = len(ids) > 0; !tx.s.state.pending {
		return tx.delete(bMeta, []byte("pending"))
	}
	w := tx.fields()
	w.ids(ids)
	return tx.put(bMeta, []byte("pending"), w)
}

// Reapply reports whether a changed configuration is still to be applied.
func (tx *Tx) Reapply() (bool, error) { return tx.s.state.reapply, nil }

// SetReapply says whether a changed configuration is still to be applied.
func (tx *Tx) SetReapply(on bool) error {
	if err := tx.change(); err != nil {
		return err
	}
	tx.s.state.reapply = on
	return nil
}
