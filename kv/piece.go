package kv

import (
	"errors"
	"runtime"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"
)

// A record is a value of a bucket with its key, in the memory of the mapped file.
type record struct{ key, value []byte }

// A maker processes consecutive values during a walk over a bucket. Only one goroutine uses it at a time.
type maker interface {
	// reset discards the results.
	reset()
	// add processes value number at of the walk, counted from 0. Results from before an error remain.
	add(at int, key []byte, r *reader) error
}

// A piece is a number of consecutive values, with the maker that processes them.
type piece[M maker] struct {
	at      int // number of the first value
	records []record
	made    M
	err     error         // of the value after those processed
	ready   chan struct{} // one token, when the piece is processed
}

// Sizes of a piece: few values at first, because many walks end soon, and then as many bytes as stay in the
// cache of a core.
const (
	firstValues = 16
	fullValues  = 256
	fullBytes   = 1 << 15
)

// mostMakers is the limit on goroutines that process pieces: more would outrun the one that finds the values.
const mostMakers = 4

// A walk reads the values of a bucket ahead of its consumer. One goroutine finds them and makes the system
// read them ahead, several verify checksums and process one piece each, and the consumer takes the pieces in
// order.
type walk[M maker] struct {
	store   *Store
	bucket  bucket
	found   chan *piece[M] // in order
	unmade  chan *piece[M]
	taken   chan *piece[M] // to be reused
	stop    chan struct{}
	fresh   func() M
	skip    func(key []byte) []byte
	pending window
}

// eachPiece calls take with the results of makers for the values of a bucket starting at a key, piece by
// piece and in order, with the number of values, until take returns false. The results are valid while take
// runs. Damage is reported after everything before it was taken.
//
// In a read-only transaction, several makers process pieces ahead; in an update, values are read one by one.
// take must not change the bucket.
func eachPiece[M maker](
	tx *base, b bucket, from []byte, fresh func() M, take func(made M, values int) (bool, error),
) error {
	if tx.writable {
		return eachAlone(tx, b, from, fresh(), take)
	}
	return eachPieceBut(tx, b, from, func([]byte) []byte { return nil }, fresh, take)
}

// eachPieceBut is eachPiece in a read-only transaction, skipping values: if skip returns a later key for a
// key, the walk continues there. skip is called from one goroutine, with ascending keys.
func eachPieceBut[M maker](
	tx *base, b bucket, from []byte, skip func(key []byte) []byte, fresh func() M,
	take func(made M, values int) (bool, error),
) (err error) {
	makers := min(runtime.GOMAXPROCS(0), mostMakers)
	ahead := 2*makers + 2
	w := &walk[M]{store: tx.s, bucket: b, fresh: fresh, skip: skip, stop: make(chan struct{}),
		found: make(chan *piece[M], ahead), unmade: make(chan *piece[M], ahead),
		taken: make(chan *piece[M], ahead+2)} // and one is at either end
	var walking errgroup.Group
	walking.Go(func() error {
		defer close(w.unmade)
		defer close(w.found)
		return guard(func() error { return w.find(tx.b.ID(), from) })
	})
	for range makers {
		walking.Go(w.make)
	}
	ended := false // by take, which ignores anything after it
	defer func() {
		close(w.stop)
		if failed := walking.Wait(); err == nil && !ended {
			err = failed
		}
	}()
	for p := range w.found {
		<-p.ready
		more, err := take(p.made, len(p.records))
		if err != nil || !more {
			ended = true
			return err
		}
		if p.err != nil {
			return p.err
		}
		w.taken <- p
	}
	return nil
}

// eachAlone is eachPiece in an update.
func eachAlone[M maker](tx *base, b bucket, from []byte, made M, take func(made M, values int) (bool, error)) error {
	c := tx.bucket(b).Cursor()
	p := piece[M]{made: made, records: make([]record, 1)}
	for p.records[0].key, p.records[0].value = c.Seek(from); p.records[0].key != nil; p.at++ {
		err := p.make(&tx.s.seal, b)
		if more, failed := take(made, 1); failed != nil || !more {
			return failed
		}
		if err != nil {
			return err
		}
		p.records[0].key, p.records[0].value = c.Next()
	}
	return nil
}

// make processes the values of a piece.
func (p *piece[M]) make(seal *sealer, b bucket) error {
	p.made.reset()
	var r reader
	for i, one := range p.records {
		body, err := seal.open(b, one.key, one.value)
		if err != nil {
			return err
		}
		r = reader{b: body}
		if err := p.made.add(p.at+i, one.key, &r); err != nil {
			return err
		}
		if r.bad {
			return damaged(b, one.key, "cannot be decoded")
		}
	}
	return nil
}

// make processes pieces until there are no more.
func (w *walk[M]) make() error {
	for p := range w.unmade {
		select {
		case <-w.stop:
		default:
			p.err = guard(func() error { return p.make(&w.store.seal, w.bucket) })
		}
		p.ready <- struct{}{}
	}
	return nil
}

// find finds values until the end of the bucket, or until the consumer stops. It has a transaction of its
// own, at the same state.
func (w *walk[M]) find(state int, from []byte) error {
	b, err := w.store.db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = b.Rollback() }()
	if b.ID() != state {
		return errors.New("kv: the file has changed within a transaction")
	}
	w.pending.start = w.store.db.Info().Data
	w.cut(b.Bucket([]byte(w.bucket.String())).Cursor(), from)
	return nil
}

// cut splits the values of a cursor, starting at a key, into pieces, the last of which may be empty, until
// the consumer stops.
func (w *walk[M]) cut(c *bbolt.Cursor, from []byte) {
	p, size, most := w.next(), 0, firstValues
	for key, value := c.Seek(from); key != nil; key, value = c.Next() {
		if to := w.skip(key); to != nil {
			if key, value = c.Seek(to); key == nil {
				break
			}
		}
		w.pending.reach(w.store, value)
		p.records = append(p.records, record{key, value})
		if size += len(value); size < fullBytes && len(p.records) < most {
			continue
		}
		at := p.at + len(p.records)
		if !w.send(p) {
			return
		}
		p, size, most = w.next(), 0, fullValues
		p.at = at
	}
	w.send(p)
}

// send hands a piece over, and reports whether the consumer is still there.
func (w *walk[M]) send(p *piece[M]) bool {
	select {
	case w.found <- p:
		w.unmade <- p // which has the same capacity
		return true
	case <-w.stop:
		return false
	}
}

// next returns an empty piece.
func (w *walk[M]) next() *piece[M] {
	select {
	case p := <-w.taken:
		p.records = p.records[:0]
		return p
	default:
		return &piece[M]{made: w.fresh(), ready: make(chan struct{}, 1)}
	}
}
