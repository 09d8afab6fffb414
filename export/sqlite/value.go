package sqlite

import (
	"hash/maphash"
	"math"
	"strconv"

	"github.com/sumi-ripple/ripple/export"
)

// equalTo converts an argument to the value of a column of a kind that SQLite considers equal
// (https://www.sqlite.org/datatype3.html#comparison_expressions). none means that no value is equal;
// unknown means that all rows must be read.
func equalTo(v any, k export.Kind) (value any, none, unknown bool) {
	switch v := v.(type) {
	case nil:
		return nil, true, false
	case int64:
		if k == export.Real {
			return float64(v), false, false
		}
		return v, false, k == export.Text
	case float64:
		if k != export.Integer {
			return v, false, k == export.Text
		}
		n := int64(v)
		return n, v != math.Trunc(v) || v < -1<<62 || v > 1<<62, false
	case string:
		if k == export.Text {
			return v, false, false
		}
		n, err := strconv.ParseInt(v, 10, 64)
		return n, false, err != nil || k != export.Integer || strconv.FormatInt(n, 10) != v
	}
	return nil, false, true
}

// An index finds row numbers by the hash of a value in a column.
type index struct {
	seed    maphash.Seed
	start   []uint32 // by hash: first index in numbers
	numbers []int64
}

// newIndex sorts numbers by the parallel hashes, keeping their order.
func newIndex(seed maphash.Seed, hashes []uint32, numbers []int64) *index {
	size := 1
	for size < len(hashes) {
		size *= 2
	}
	x := &index{seed: seed, start: make([]uint32, size+1), numbers: make([]int64, len(numbers))}
	mask := uint32(size - 1)
	for _, h := range hashes {
		x.start[h&mask+1]++
	}
	for i := range size {
		x.start[i+1] += x.start[i]
	}
	at := append([]uint32(nil), x.start...)
	for i, h := range hashes {
		x.numbers[at[h&mask]] = numbers[i]
		at[h&mask]++
	}
	return x
}

// of returns the numbers of the rows with a value, and of others with the same hash.
func (x *index) of(value any) []int64 {
	at := hash(x.seed, value) & uint32(len(x.start)-2)
	return x.numbers[x.start[at]:x.start[at+1]]
}

func hash(seed maphash.Seed, value any) uint32 {
	switch v := value.(type) {
	case string:
		return uint32(maphash.String(seed, v))
	case int64:
		return uint32(maphash.Comparable(seed, v))
	case float64:
		return uint32(maphash.Comparable(seed, v))
	}
	return 0
}
