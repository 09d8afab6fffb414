package schema

import (
	"fmt"
	"iter"
	"math/bits"
	"strings"
)

// Shards is a set of shard numbers of a terrain, each below 256. The zero value is the empty set.
type Shards [4]uint64

// ShardsOf returns the set of these numbers. Numbers out of range are ignored.
func ShardsOf(numbers ...int) (s Shards) {
	for _, n := range numbers {
		if n >= 0 && n < 64*len(s) {
			s[n/64] |= 1 << (n % 64)
		}
	}
	return s
}

// Has reports whether a shard is in the set.
func (s Shards) Has(n int) bool { return n >= 0 && n < 64*len(s) && s[n/64]&(1<<(n%64)) != 0 }

// Set adds a shard to the set, or removes it.
func (s *Shards) Set(n int, to bool) {
	one := ShardsOf(n)
	for i := range s {
		if s[i] &^= one[i]; to {
			s[i] |= one[i]
		}
	}
}

// Len returns the number of shards in the set.
func (s Shards) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// All iterates over the set in ascending order.
func (s Shards) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := range 64 * len(s) {
			if s.Has(n) && !yield(n) {
				return
			}
		}
	}
}

// String lists the set: "2, 5-7".
func (s Shards) String() string {
	var parts []string
	for n := range s.All() {
		if s.Has(n - 1) {
			continue
		}
		last := n
		for s.Has(last + 1) {
			last++
		}
		switch last {
		case n:
			parts = append(parts, fmt.Sprint(n))
		case n + 1:
			parts = append(parts, fmt.Sprint(n), fmt.Sprint(last))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", n, last))
		}
	}
	return strings.Join(parts, ", ")
}

// Named is like String, with the noun before the numbers: "shard 2", "shards 2, 5-7".
func (s Shards) Named() string {
	if s.Len() == 1 {
		return "shard " + s.String()
	}
	return "shards " + s.String()
}
