package kv

import (
	"math/bits"

	"github.com/sumi-ripple/ripple/schema"
)

// A table finds ids by hash. It is an open-addressing table of 12-byte slots, in shards that grow one at a
// time by half, so that growing neither pauses nor doubles the memory. It may contain several entries with
// the same hash.
type table struct{ shards [shardCount]shard }

const shardCount = 256

type slot struct{ lo, hi, id uint32 }

type shard struct {
	slots []slot
	used  int
}

// add adds an id under a hash.
func (t *table) add(hash uint64, id schema.ID) {
	s := &t.shards[hash>>56]
	if (s.used+1)*4 > len(s.slots)*3 {
		s.grow(max(16, len(s.slots)+len(s.slots)/2))
	}
	s.insert(slot{uint32(hash), uint32(hash >> 32), uint32(id)})
}

// reserve makes room for a total of n ids.
func (t *table) reserve(n int) {
	for i := range t.shards {
		if size := n / shardCount * 3 / 2; size > len(t.shards[i].slots) {
			t.shards[i].grow(size)
		}
	}
}

// A probe is a position in the search for a hash.
type probe struct {
	slots  []slot
	lo, hi uint32
	at     int
}

// find begins the search for a hash.
func (t *table) find(hash uint64) probe {
	s := t.shards[hash>>56].slots
	return probe{s, uint32(hash), uint32(hash >> 32), home(hash, len(s))}
}

// first returns the id in the slot where the search for a hash begins.
func (t *table) first(hash uint64) schema.ID {
	s := t.shards[hash>>56].slots
	if len(s) == 0 {
		return 0
	}
	return schema.ID(s[home(hash, len(s))].id)
}

// next returns the next id with the hash; 0: no more.
func (p *probe) next() schema.ID {
	if len(p.slots) == 0 {
		return 0
	}
	for {
		s := p.slots[p.at]
		if s.id == 0 {
			return 0
		}
		if p.at++; p.at == len(p.slots) {
			p.at = 0
		}
		if s.lo == p.lo && s.hi == p.hi {
			return schema.ID(s.id)
		}
	}
}

func (s *shard) insert(v slot) {
	at := home(uint64(v.hi)<<32|uint64(v.lo), len(s.slots))
	for s.slots[at].id != 0 {
		if at++; at == len(s.slots) {
			at = 0
		}
	}
	s.slots[at] = v
	s.used++
}

func (s *shard) grow(size int) {
	old := s.slots
	s.slots, s.used = make([]slot, size), 0
	for _, v := range old {
		if v.id != 0 {
			s.insert(v)
		}
	}
}

// home returns the slot of a hash in a shard, using the bits that did not select the shard.
func home(hash uint64, size int) int {
	at, _ := bits.Mul64(hash<<8, uint64(size))
	return int(at)
}
