package kv

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"
)

// valueFormat is the first byte of every value.
const valueFormat = 1

// partSize is the size at which a packed value is split.
const partSize = 256 << 10

// A bucket is one of the named buckets of the file.
type bucket uint8

const (
	bMeta bucket = iota
	bConfigs
	bRuns
	bHosts
	bHostNames
	bRobots
	bURLs
	bForms
	bShapes
	bSeen
	bVisits
	bAnchors
	bDone
	bDepths
	bFrontier
	bCaps
	bucketCount
)

func (b bucket) String() string {
	return [bucketCount]string{"meta", "configs", "runs", "hosts", "hostnames", "robots", "urls", "forms",
		"shapes", "seen", "visits", "anchors", "done", "depths", "frontier", "caps"}[b]
}

// appended reports whether keys are only ever added at the bucket's end.
func (b bucket) appended() bool {
	switch b {
	case bURLs, bShapes, bSeen, bVisits, bAnchors, bDone, bDepths:
		return true
	}
	return false
}

// A sealer computes the checksums of values.
type sealer struct {
	table *crc32.Table
	start [bucketCount]uint32
}

func newSealer() sealer {
	s := sealer{table: crc32.MakeTable(crc32.Castagnoli)}
	for b := range bucketCount {
		s.start[b] = crc32.Checksum([]byte(b.String()), s.table)
	}
	return s
}

func (s *sealer) sum(b bucket, key, body []byte) uint32 {
	return crc32.Update(crc32.Update(s.start[b], s.table, key), s.table, body)
}

// open returns the fields of a value, which share its memory.
func (s *sealer) open(b bucket, key, value []byte) ([]byte, error) {
	n := len(value) - 4
	if n < 1 {
		return nil, damaged(b, key, "too short")
	}
	if s.sum(b, key, value[:n]) != binary.LittleEndian.Uint32(value[n:]) {
		return nil, damaged(b, key, "wrong checksum")
	}
	if value[0] != valueFormat {
		return nil, damaged(b, key, "unknown value format")
	}
	return value[1:n], nil
}

func damaged(b bucket, key []byte, problem string) error {
	return fmt.Errorf("%w: %s %x: %s", ErrDamaged, b, key, problem)
}

// bucket returns an open bucket of the transaction.
func (tx *Tx) bucket(b bucket) *bbolt.Bucket {
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
func (tx *Tx) get(b bucket, key []byte) (reader, error) {
	value := tx.bucket(b).Get(key)
	if value == nil {
		return reader{}, fmt.Errorf("%w: %s %x", ErrNotFound, b, key)
	}
	body, err := tx.s.seal.open(b, key, value)
	return reader{b: body}, err
}

// fields returns an empty writer for the fields of one value; the next call
// takes its memory back.
func (tx *Tx) fields() *writer {
	tx.w.b = append(tx.w.b[:0], valueFormat)
	return &tx.w
}

// put stores what was written to the writer that [Tx.fields] gave.
func (tx *Tx) put(b bucket, key []byte, w *writer) error {
	value := tx.arena.take(len(w.b) + 4)
	value = append(value, w.b...)
	value = binary.LittleEndian.AppendUint32(value, tx.s.seal.sum(b, key, w.b))
	if err := tx.bucket(b).Put(key, value); err != nil {
		return fmt.Errorf("%s %x: %w", b, key, err)
	}
	return nil
}

func (tx *Tx) delete(b bucket, key []byte) error {
	if err := tx.bucket(b).Delete(key); err != nil {
		return fmt.Errorf("%s %x: %w", b, key, err)
	}
	return nil
}

// each calls f for every value of a bucket from a key on, in order, until f
// returns false. f must not change the bucket.
func (tx *Tx) each(b bucket, from []byte, f func(key []byte, r *reader) (bool, error)) error {
	c := tx.bucket(b).Cursor()
	for key, value := c.Seek(from); key != nil; key, value = c.Next() {
		body, err := tx.s.seal.open(b, key, value)
		if err != nil {
			return err
		}
		r := reader{b: body}
		more, err := f(key, &r)
		if err != nil || !more {
			return err
		}
		if r.bad {
			return damaged(b, key, "cannot be decoded")
		}
	}
	return nil
}

func key32(v uint32) []byte { return binary.BigEndian.AppendUint32(nil, v) }
func key64(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// partKey is the key of one part of a packed value.
func partKey(commit uint64, part int) []byte {
	return binary.BigEndian.AppendUint16(key64(commit), uint16(part))
}
