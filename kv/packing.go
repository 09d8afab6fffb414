package kv

import (
	"fmt"
	"slices"
)

// A packing builds consecutive packed values for a bucket. None is longer than partSize, unless a single item
// is.
type packing struct {
	tx     *base
	bucket bucket
	prefix []byte // of the keys
	part   int
	first  uint64 // number of the first item
	count  uint64
	items  writer
}

// add begins an item with number or id n.
func (p *packing) add(n uint64) (*writer, error) {
	if len(p.items.b) >= partSize {
		if err := p.end(); err != nil {
			return nil, err
		}
	}
	if p.count == 0 {
		p.first = n
	}
	p.count++
	return &p.items, nil
}

// fresh reports whether the current item is the first of its value.
func (p *packing) fresh() bool { return p.count == 1 }

// end writes the value with the items so far.
func (p *packing) end() error {
	if p.count == 0 {
		return nil
	}
	if p.part > 1<<16-1 {
		return fmt.Errorf("%w: %s: one commit is too large", ErrFull, p.bucket)
	}
	w := p.tx.fields()
	w.uint(p.first)
	w.uint(p.count)
	w.raw(p.items.b)
	key := partKeyAfter(p.prefix, p.tx.commit, p.part)
	p.part, p.count, p.items.b = p.part+1, 0, p.items.b[:0]
	return p.tx.put(p.bucket, key, w)
}

func partKeyAfter(prefix []byte, commit uint64, part int) []byte {
	return append(slices.Clone(prefix), partKey(commit, part)...)
}
