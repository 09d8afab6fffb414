package kv

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
)

// SetDepth lowers the smallest depth of a URL, its smallest number of hops, or
// both, where the given one is smaller; [NoDepth] leaves it as it is.
func (tx *Tx) SetDepth(id schema.ID, depth, hops uint8) {
	if err := tx.change(); err != nil {
		tx.fail(err)
		return
	}
	if err := tx.known(id); err != nil {
		tx.fail(err)
		return
	}
	d, h := tx.s.Depth(id)
	if depth >= d && hops >= h {
		return
	}
	tx.s.setDepth(id, min(d, depth), min(h, hops))
	tx.depths = append(tx.depths, id)
}

func (s *Store) setDepth(id schema.ID, depth, hops uint8) {
	k := s.known.of(id)
	k.depth, k.hops = depth+1, hops+1
}

// NewGeneration takes all depths away and makes all queues void, and returns
// the number of the new generation. What the old one left in the file is
// deleted little by little.
func (tx *Tx) NewGeneration() (uint32, error) {
	if err := tx.change(); err != nil {
		return 0, err
	}
	if tx.s.state.generation == 1<<32-1 {
		return 0, fmt.Errorf("%w: no more generations", ErrFull)
	}
	tx.s.state.generation++
	tx.s.state.depths = 0
	for _, block := range tx.s.known.blocks {
		for i := range block {
			block[i].depth, block[i].hops = 0, 0
		}
	}
	tx.depths = tx.depths[:0]
	return tx.s.state.generation, nil
}

// flushDepths writes the depths that have become smaller.
func (tx *Tx) flushDepths() error {
	slices.Sort(tx.depths)
	p := packing{tx: tx, bucket: bDepths, prefix: key32(tx.s.state.generation)}
	before := uint64(0)
	for _, id := range slices.Compact(tx.depths) {
		item, err := p.add(uint64(id))
		if err != nil {
			return err
		}
		if p.fresh() {
			before = uint64(id)
		}
		depth, hops := tx.s.Depth(id)
		item.uint(uint64(id) - before)
		item.byte(depth)
		item.byte(hops)
		before = uint64(id)
	}
	err := p.end()
	tx.s.state.depths += uint64(p.part)
	return err
}

// sweepDepths deletes a few depths of older generations, which come first in
// their bucket.
func (tx *Tx) sweepDepths() error {
	var old [][]byte
	c := tx.bucket(bDepths).Cursor()
	for key, _ := c.First(); key != nil && len(old) < sweepCount; key, _ = c.Next() {
		if len(key) < 4 || binary.BigEndian.Uint32(key) >= tx.s.state.generation {
			break
		}
		old = append(old, slices.Clone(key))
	}
	for _, key := range old {
		if err := tx.delete(bDepths, key); err != nil {
			return err
		}
	}
	return nil
}

// sweepCount is the number of void values that a commit deletes at most of each
// kind, so that none is slowed down by what a generation left behind.
const sweepCount = 32
