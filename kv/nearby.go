package kv

import (
	"fmt"

	"go.etcd.io/bbolt"
)

// nearSteps is the distance up to which it is faster to step to a value than to look it up.
const nearSteps = 16

// A nearby finds the values of a bucket whose keys are dense numbers. In a read-only transaction, reads in
// order, or nearly so, continue from one of the last positions, which is several times as fast as looking
// each value up. A few such sequences may be interleaved.
type nearby struct {
	found [4]foundAt
	turn  int // the position to be replaced next
}

// A foundAt is the position of a value.
type foundAt struct {
	cursor *bbolt.Cursor
	number uint64
	key    []byte
	value  []byte // nil: not found
}

// get is [base.get] for the key of a number.
func (n *nearby) get(tx *base, b bucket, number uint64) (reader, error) {
	if tx.writable {
		return tx.get(b, key64(number))
	}
	at := n.from(tx, b, number)
	for at.value != nil && at.number < number {
		key, value := at.cursor.Next()
		at.take(at.number+1, key, value)
	}
	if at.number < number { // a number in between is missing
		at.seek(number)
	}
	if at.value == nil {
		return reader{}, fmt.Errorf("%w: %s %x", ErrNotFound, b, key64(number))
	}
	body, err := tx.s.seal.open(b, at.key, at.value)
	return reader{b: body}, err
}

// from returns a position at a number or shortly before it.
func (n *nearby) from(tx *base, b bucket, number uint64) *foundAt {
	for i := range n.found {
		at := &n.found[i]
		if at.value != nil && at.number <= number && number-at.number <= nearSteps {
			return at
		}
	}
	at := &n.found[n.turn]
	n.turn = (n.turn + 1) % len(n.found)
	if at.cursor == nil {
		at.cursor = tx.bucket(b).Cursor()
	}
	at.seek(number)
	return at
}

func (at *foundAt) seek(number uint64) {
	key, value := at.cursor.Seek(key64(number))
	at.take(number, key, value)
}

// take records what was found for a number.
func (at *foundAt) take(number uint64, key, value []byte) {
	if at.number, at.key, at.value = number, key, value; !isKey(key, number) {
		at.value = nil
	}
}
