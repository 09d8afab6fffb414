package kv

import "github.com/sumi-ripple/ripple/schema"

// A column holds one value for every id from 1 on, in blocks that never move.
type column[T any] struct{ blocks [][]T }

const blockSize = 1 << 13

// at returns the value of an id, or the zero value if it has none.
func (c *column[T]) at(id schema.ID) T {
	if b := int(id / blockSize); b < len(c.blocks) {
		return c.blocks[b][id%blockSize]
	}
	var none T
	return none
}

// of returns a pointer to an id's value, which it creates if necessary.
func (c *column[T]) of(id schema.ID) *T {
	for int(id/blockSize) >= len(c.blocks) {
		c.blocks = append(c.blocks, make([]T, blockSize))
	}
	return &c.blocks[id/blockSize][id%blockSize]
}
