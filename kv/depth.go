package kv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// Depths owns the bucket depths, and in meta the URLs left to relax. A new generation of depths is also one
// of queues.
type Depths struct {
	tx      *base
	lowered []schema.ID
}

// Lower lowers the smallest depth of a URL, its smallest number of hops, or both, if the given values are
// smaller; [NoDepth] leaves a value unchanged.
func (ds *Depths) Lower(id schema.ID, depth, hops uint8) {
	if err := ds.tx.change(); err != nil {
		ds.tx.fail(err)
		return
	}
	if err := ds.tx.known(id); err != nil {
		ds.tx.fail(err)
		return
	}
	d, h := ds.tx.s.Depth(id)
	if depth >= d && hops >= h {
		return
	}
	ds.tx.s.setDepth(id, min(d, depth), min(h, hops))
	ds.lowered = append(ds.lowered, id)
}

// SetOwn records that a page is its host's own in this generation. It does nothing if that is known.
func (ds *Depths) SetOwn(id schema.ID) {
	if err := errors.Join(ds.tx.change(), ds.tx.known(id)); err != nil {
		ds.tx.fail(err)
		return
	}
	if !ds.tx.s.Own(id) {
		ds.tx.s.known.of(id).own |= ownPage
		ds.lowered = append(ds.lowered, id)
	}
}

// NewGeneration removes all depths and invalidates all queues, and returns the number of the new generation.
// The remains of the old one in the file are deleted gradually.
func (ds *Depths) NewGeneration() (uint32, error) {
	if err := ds.tx.change(); err != nil {
		return 0, err
	}
	if ds.tx.s.state.generation == 1<<32-1 {
		return 0, fmt.Errorf("%w: no more generations", ErrFull)
	}
	ds.tx.s.state.generation++
	ds.tx.s.state.depths = 0
	for _, block := range ds.tx.s.known.blocks {
		for i := range block {
			block[i].depth, block[i].hops = 0, 0
			block[i].own &^= ownPage
		}
	}
	ds.lowered = ds.lowered[:0]
	return ds.tx.s.state.generation, nil
}

// Pending returns the URLs that remain to be relaxed.
func (ds *Depths) Pending() ([]schema.ID, error) {
	if !ds.tx.s.state.pending {
		return nil, nil
	}
	r, err := ds.tx.get(bMeta, []byte("pending"))
	if err != nil {
		return nil, missing(err, bMeta, []byte("pending"))
	}
	ids := r.ids(nil)
	if r.bad {
		return nil, damaged(bMeta, []byte("pending"), "cannot be decoded")
	}
	return ids, nil
}

// SetPending replaces the URLs that remain to be relaxed. It does not retain ids.
func (ds *Depths) SetPending(ids []schema.ID) error {
	if err := ds.tx.change(); err != nil {
		return err
	}
	if ds.tx.s.state.pending = len(ids) > 0; !ds.tx.s.state.pending {
		return ds.tx.delete(bMeta, []byte("pending"))
	}
	w := ds.tx.fields()
	w.ids(ids)
	return ds.tx.put(bMeta, []byte("pending"), w)
}

// flush writes the depths that have decreased.
func (ds *Depths) flush() error {
	slices.Sort(ds.lowered)
	p := packing{tx: ds.tx, bucket: bDepths, prefix: key32(ds.tx.s.state.generation)}
	before := uint64(0)
	for _, id := range slices.Compact(ds.lowered) {
		item, err := p.add(uint64(id))
		if err != nil {
			return err
		}
		if p.fresh() {
			before = uint64(id)
		}
		depth, hops := ds.tx.s.Depth(id)
		item.uint(uint64(id) - before)
		item.byte(depth)
		item.byte(hops)
		item.bool(ds.tx.s.known.at(id).own&ownPage != 0)
		before = uint64(id)
	}
	err := p.end()
	ds.tx.s.state.depths += uint64(p.part)
	return err
}

// sweep deletes some depths of older generations, which come first in their bucket.
func (ds *Depths) sweep() error {
	var old [][]byte
	c := ds.tx.bucket(bDepths).Cursor()
	for key, _ := c.First(); key != nil && len(old) < sweepCount; key, _ = c.Next() {
		if len(key) < 4 || binary.BigEndian.Uint32(key) >= ds.tx.s.state.generation {
			break
		}
		old = append(old, slices.Clone(key))
	}
	for _, key := range old {
		if err := ds.tx.delete(bDepths, key); err != nil {
			return err
		}
	}
	return nil
}

// sweepCount is the most obsolete values of each kind that a commit deletes, so that the remains of a
// generation do not slow down any commit.
const sweepCount = 32
