package kv

import (
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/sumi-ripple/ripple/schema"
)

// A base is used by the owners of buckets to read and write: it combines the values of one transaction with
// the in-memory state of the file.
type base struct {
	s        *Store
	b        *bbolt.Tx
	writable bool
	commit   uint64 // number of this commit; in a View, of the last one
	buckets  [bucketCount]*bbolt.Bucket
	err      error // of a method that cannot return it
	w        writer
	arena    *arena
}

// bucket returns an open bucket of the transaction.
func (tx *base) bucket(b bucket) *bbolt.Bucket {
	if tx.buckets[b] == nil {
		tx.buckets[b] = tx.b.Bucket([]byte(b.String()))
		if tx.buckets[b] == nil {
			panic("bucket " + b.String() + " is missing")
		}
		if b.appended() {
			tx.buckets[b].FillPercent = 0.95
		}
	}
	return tx.buckets[b]
}

// get returns the fields of the value of a key, valid until the transaction or
// the bucket changes, or [ErrNotFound].
func (tx *base) get(b bucket, key []byte) (reader, error) {
	r, ok, err := tx.find(b, key)
	if !ok && err == nil {
		err = fmt.Errorf("%w: %s %x", ErrNotFound, b, key)
	}
	return r, err
}

// find is get for a key that may be missing; ok reports whether it exists.
func (tx *base) find(b bucket, key []byte) (r reader, ok bool, err error) {
	value := tx.bucket(b).Get(key)
	if value == nil {
		return r, false, nil
	}
	r.b, err = tx.s.seal.open(b, key, value)
	return r, err == nil, err
}

// fields returns an empty writer for the fields of one value. The next call reuses its memory.
func (tx *base) fields() *writer {
	tx.w.b = append(tx.w.b[:0], valueFormat)
	return &tx.w
}

// put stores the contents of the writer returned by [base.fields].
func (tx *base) put(b bucket, key []byte, w *writer) error {
	value := tx.arena.alloc(len(w.b) + 4)
	value = append(value, w.b...)
	value = binary.LittleEndian.AppendUint32(value, tx.s.seal.sum(b, key, w.b))
	if err := tx.bucket(b).Put(key, value); err != nil {
		return fmt.Errorf("%s %x: %w", b, key, err)
	}
	return nil
}

func (tx *base) delete(b bucket, key []byte) error {
	if err := tx.bucket(b).Delete(key); err != nil {
		return fmt.Errorf("%s %x: %w", b, key, err)
	}
	return nil
}

// each calls f for every value of a bucket starting at a key, in order, until f returns false. f must not
// change the bucket.
func (tx *base) each(b bucket, from []byte, f func(key []byte, r *reader) (bool, error)) error {
	r := new(reader)
	tell := func(one record) (more bool, err error) {
		*r = reader{b: one.value}
		more, err = f(one.key, r)
		if err == nil && more && r.bad {
			err = damaged(b, one.key, "cannot be decoded")
		}
		return more, err
	}
	if b.appended() && !tx.writable {
		return eachPiece(tx, b, from, func() *opened { return new(opened) }, func(values *opened, _ int) (bool, error) {
			for _, one := range values.all {
				if more, err := tell(one); err != nil || !more {
					return false, err
				}
			}
			return true, nil
		})
	}
	c := tx.bucket(b).Cursor()
	for key, value := c.Seek(from); key != nil; key, value = c.Next() {
		body, err := tx.s.seal.open(b, key, value)
		if err != nil {
			return err
		}
		if more, err := tell(record{key, body}); err != nil || !more {
			return err
		}
	}
	return nil
}

// opened are the fields of values with verified checksums.
type opened struct{ all []record }

func (o *opened) reset() { o.all = o.all[:0] }

func (o *opened) add(_ int, key []byte, r *reader) error {
	o.all = append(o.all, record{key, r.b})
	return nil
}

// fail remembers the first error of a method that cannot return it.
func (tx *base) fail(err error) {
	if tx.err == nil {
		tx.err = err
	}
}

// change returns an error if the transaction is read-only.
func (tx *base) change() error {
	if !tx.writable {
		return ErrReadOnly
	}
	return nil
}

// knowsAll reports whether all of the given URLs exist.
func (tx *base) knowsAll(ids []schema.ID) bool {
	return !slices.ContainsFunc(ids, func(id schema.ID) bool { return id == 0 || uint32(id) > tx.s.state.urls })
}

func (tx *base) known(id schema.ID) error {
	if id == 0 || uint32(id) > tx.s.state.urls {
		return fmt.Errorf("%w: URL %d", ErrNotFound, id)
	}
	return nil
}
