package kv

import (
	"errors"
	"unsafe"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"
)

// A record is the key of a value and its fields, in the memory of the mapped file.
type record struct{ key, body []byte }

// The records of a batch: few at first, because many walks end soon.
const (
	firstBatch = 16
	fullBatch  = 256
)

// A walker reads the values of a bucket ahead of who takes them: finds them, has them read
// from the disk and compares their checksums, which is half the work of most walks, on a
// core of its own.
type walker struct {
	store   *Store
	bucket  bucket
	full    chan []record
	empty   chan []record // to be filled again
	stop    chan struct{}
	pending window
}

// eachAhead is [base.each] of a transaction that only reads.
func (tx *base) eachAhead(b bucket, from []byte, f func(key []byte, r *reader) (bool, error)) (err error) {
	w := &walker{store: tx.s, bucket: b, full: make(chan []record, 4), empty: make(chan []record, 8),
		stop: make(chan struct{})}
	var walking errgroup.Group
	walking.Go(func() error {
		defer close(w.full)
		return guard(func() error { return w.walk(tx.b.ID(), from) })
	})
	r, ended := new(reader), false // by f, which need not hear of what comes behind
	defer func() {
		close(w.stop)
		if failed := walking.Wait(); err == nil && !ended {
			err = failed
		}
	}()
	for batch := range w.full {
		for i := range batch {
			if more, err := r.tell(b, batch[i], f); err != nil || !more {
				ended = true
				return err
			}
		}
		w.empty <- batch
	}
	return nil
}

// walk reads until the end of the bucket, or until nobody takes it any more. It has a
// transaction of its own, of the same state.
func (w *walker) walk(state int, from []byte) error {
	b, err := w.store.db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = b.Rollback() }()
	if b.ID() != state {
		return errors.New("kv: the file has changed within a transaction")
	}
	w.pending.start = w.store.db.Info().Data
	return w.fill(b.Bucket([]byte(w.bucket.String())).Cursor(), from)
}

func (w *walker) fill(c *bbolt.Cursor, from []byte) error {
	batch := make([]record, 0, firstBatch)
	for key, value := c.Seek(from); key != nil; key, value = c.Next() {
		w.pending.reach(w.store, value)
		body, err := w.store.seal.open(w.bucket, key, value)
		if err != nil {
			w.send(batch)
			return err
		}
		if batch = append(batch, record{key, body}); len(batch) == cap(batch) {
			if !w.send(batch) {
				return nil
			}
			batch = w.next()
		}
	}
	w.send(batch)
	return nil
}

// send hands a batch over, and reports whether somebody takes it.
func (w *walker) send(batch []record) bool {
	select {
	case w.full <- batch:
		return true
	case <-w.stop:
		return false
	}
}

func (w *walker) next() []record {
	select {
	case used := <-w.empty:
		if cap(used) == fullBatch {
			return used[:0]
		}
	default:
	}
	return make([]record, 0, fullBatch)
}

// The bytes of the file that are asked for at once: few at first, too.
const (
	firstWindow = 64 << 10
	fullWindow  = 8 << 20
)

// A window is the part of a file that was asked for beforehand. bbolt has the system read
// single pages only, which is many times as slow where they are not in memory.
type window struct {
	start    uintptr // of the mapping
	from, to int64   // in the file
	size     int64
}

// reach asks for what follows a value, unless that was done.
func (w *window) reach(s *Store, value []byte) {
	at := int64(uintptr(unsafe.Pointer(unsafe.SliceData(value))) - w.start)
	if at >= w.from && at < w.to-w.size/2 {
		return
	}
	if at < w.from || at > w.to {
		w.from, w.to, w.size = at, at, firstWindow
	}
	w.size = min(2*w.size, fullWindow)
	w.from = at
	willNeed(s.file, w.to, at+w.size-w.to)
	w.to = at + w.size
}
