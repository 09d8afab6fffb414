package crawl

import "github.com/sumi-ripple/ripple/schema"

// A hostSet is a set of hosts, a bit for each. The zero value is empty.
type hostSet struct{ words []uint64 }

func (s *hostSet) has(id schema.HostID) bool {
	word := int(id / 64)
	return word < len(s.words) && s.words[word]&(1<<(id%64)) != 0
}

func (s *hostSet) add(id schema.HostID) {
	for int(id/64) >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[id/64] |= 1 << (id % 64)
}

func (s *hostSet) remove(id schema.HostID) {
	if s.has(id) {
		s.words[id/64] &^= 1 << (id % 64)
	}
}
