package kv

import (
	"fmt"

	"go.etcd.io/bbolt"
)

// FastForTests stops syncing, for tests that do not crash.
func (s *Store) FastForTests() { s.db.NoSync, s.db.NoGrowSync = true, true }

// Abandon closes a store as if damage had prevented the end of a transaction.
func (s *Store) Abandon() error {
	s.abandon = true
	return s.Close()
}

// WriteRaw replaces a value without a checksum, like damage or another version.
func WriteRaw(path, bucket string, key, value []byte) error {
	return WriteAllRaw(path, bucket, func(put func(key, value []byte) error) error { return put(key, value) })
}

// WriteAllRaw replaces the values of a bucket that write puts.
func WriteAllRaw(path, bucket string, write func(put func(key, value []byte) error) error) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(func(b *bbolt.Tx) error { return write(b.Bucket([]byte(bucket)).Put) })
}

// DeleteRaw deletes a value.
func DeleteRaw(path, bucket string, key []byte) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Update(func(b *bbolt.Tx) error { return b.Bucket([]byte(bucket)).Delete(key) })
}

// EachRaw calls f with a copy of every value of a file.
func EachRaw(path string, f func(bucket string, key, value []byte)) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	return db.View(func(b *bbolt.Tx) error {
		return b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			return bucket.ForEach(func(k, v []byte) error {
				f(string(name), append([]byte{}, k...), append([]byte{}, v...))
				return nil
			})
		})
	})
}

// Seal makes a value from fields.
func Seal(bucketName string, key, fields []byte) []byte {
	for b := range bucketCount {
		if b.String() == bucketName {
			s := newSealer()
			body := append([]byte{valueFormat}, fields...)
			sum := s.sum(b, key, body)
			return append(body, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
		}
	}
	panic(fmt.Sprintf("no bucket %q", bucketName))
}

// ReCode decodes a value of a kind and encodes it again; ok is false if it cannot be decoded.
func ReCode(kind byte, in []byte) (out []byte, ok bool) {
	if len(in) == 0 {
		return nil, false
	}
	r, w := reader{b: in}, writer{}
	switch kind % 6 {
	case 0:
		v, shape := decodeVisit(&r, 1)
		encodeVisit(&w, v, shape, in[0]&1 != 0)
	case 1:
		encodeHost(&w, decodeHost(&r, 1))
	case 2:
		run := decodeRun(&r, 1)
		encodeRun(&w, &run)
	case 3:
		b := openURLs(&r, 1)
		w.number(b.n)
		for before := b.u; b.next(); before = b.u {
			b.u.PathQuery = string(b.path)
			encodeURL(&w, &before, &b.u)
		}
	case 4:
		w.ids(r.ids(nil))
	case 5:
		var s state
		s.decode(&r)
		s.encode(&w)
	}
	return w.b, !r.bad
}
