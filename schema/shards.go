package schema

import (
	"fmt"
	"iter"
	"math/bits"
	"strings"
)

// Shards are numbers of shards of a terrain, each of them below 256. The zero value are none.
type Shards [4]uint64

// ShardsOf are those numbers; what is none is left out.
func ShardsOf(numbers ...int) (s Shards) {
	for _, n := range numbers {
		if n >= 0 && n < 64*len(s) {
			s[n/64] |= 1 << (n % 64)
		}
	}
	return s
}

// Has reports whether a shard is one of them.
func (s Shards) Has(n int) bool { return n >= 0 && n < 64*len(s) && s[n/64]&(1<<(n%64)) != 0 }

// Set has a shard be one of them, or not.
func (s *Shards) Set(n int, to bool) {
	one := ShardsOf(n)
	for i := range s {
		if s[i] &^= one[i]; to {
			s[i] |= one[i]
		}
	}
}

// Len is how many there are.
func (s Shards) Len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// All iterates over them in order.
func (s Shards) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := range 64 * len(s) {
			if s.Has(n) && !yield(n) {
				return
			}
		}
	}
}

// String lists them: "2, 5-7".
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

// Named is String with the word before it: "shard 2", "shards 2, 5-7".
func (s Shards) Named() string {
	if s.Len() == 1 {
		return "shard " + s.String()
	}
	return "shards " + s.String()
}
