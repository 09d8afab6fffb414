package kv

import (
	"errors"
	"runtime"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"
)

// A record is a value of a bucket with its key, in the memory of the mapped file.
type record struct{ key, value []byte }

// A maker makes something of values that follow each other, for whoever walks over a bucket.
// One goroutine at a time uses it.
type maker interface {
	// reset forgets what was made.
	reset()
	// add reads the value that is the at-th of the walk, from 0 on. What was made of those
	// before an error stays.
	add(at int, key []byte, r *reader) error
}

// A piece is some values that follow each other, and what is made of them.
type piece[M maker] struct {
	at      int // of the first
	records []record
	made    M
	err     error         // of the value behind those that something was made of
	ready   chan struct{} // one token, when it is made
}

// The values of a piece: few at first, because many walks end soon, and as many bytes as stay
// in the cache of a core while they are read.
const (
	firstValues = 16
	fullValues  = 256
	fullBytes   = 1 << 15
)

// mostMakers bounds the goroutines that read pieces: who finds the values is busy with so many.
const mostMakers = 4

// A walk reads the values of a bucket ahead of who takes them. One goroutine finds them and
// has them read from the disk, some compare their checksums and make something of them, each
// of a piece, and who walks takes the pieces in order.
type walk[M maker] struct {
	store   *Store
	bucket  bucket
	found   chan *piece[M] // in order
	unmade  chan *piece[M]
	taken   chan *piece[M] // to be used again
	stop    chan struct{}
	fresh   func() M
	skip    func(key []byte) []byte
	pending window
}

// eachPiece calls take with what makers made of the values of a bucket from a key on, piece
// by piece and in order, and with their number, until it returns false. What it is given is
// valid while it runs. Damage is reported when all before it has been taken.
//
// In a transaction that only reads, pieces are made ahead, by several makers at once; in an
// update one value is read after the other. take must not change the bucket.
func eachPiece[M maker](
	tx *base, b bucket, from []byte, fresh func() M, take func(made M, values int) (bool, error),
) error {
	if tx.writable {
		return eachAlone(tx, b, from, fresh(), take)
	}
	return eachPieceBut(tx, b, from, func([]byte) []byte { return nil }, fresh, take)
}

// eachPieceBut is eachPiece in a transaction that only reads, without values whose keys skip knows
// a later key for: the walk goes on there. One goroutine asks skip, of ascending keys.
func eachPieceBut[M maker](
	tx *base, b bucket, from []byte, skip func(key []byte) []byte, fresh func() M,
	take func(made M, values int) (bool, error),
) (err error) {
	makers := min(runtime.GOMAXPROCS(0), mostMakers)
	ahead := 2*makers + 2
	w := &walk[M]{store: tx.s, bucket: b, fresh: fresh, skip: skip, stop: make(chan struct{}),
		found: make(chan *piece[M], ahead), unmade: make(chan *piece[M], ahead),
		taken: make(chan *piece[M], ahead+2)} // and one is with either end
	var walking errgroup.Group
	walking.Go(func() error {
		defer close(w.unmade)
		defer close(w.found)
		return guard(func() error { return w.find(tx.b.ID(), from) })
	})
	for range makers {
		walking.Go(w.make)
	}
	ended := false // by take, which need not hear of what comes behind
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

// make makes something of the values of a piece.
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

// make makes pieces until there are no more.
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

// find finds values until the end of the bucket, or until nobody takes them any more. It has
// a transaction of its own, of the same state.
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

// cut cuts what a cursor finds from a key on into pieces, of which the last may be empty, as
// long as somebody takes them.
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

// send hands a piece over, and reports whether somebody takes it.
func (w *walk[M]) send(p *piece[M]) bool {
	select {
	case w.found <- p:
		w.unmade <- p // which has as much room
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
