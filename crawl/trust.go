package crawl

import (
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// A trust records what hosts have shown in this process. The first page proves a host. After each failure, a proven
// host must deliver twice as many pages as after the previous one to count as proven again. So a host that sends a few
// pages and then keeps others waiting soon stops being proven. The zero value trusts no host.
type trust struct {
	answering hostSet
	proven    hostSet
	broken    map[schema.HostID]breach // hosts that failed after they were proven
}

// A breach is how often a proven host has failed, and how many pages it owes until it is proven
// again.
type breach struct {
	times uint8
	owed  uint16
}

// maxBreaches is the number of failures up to which the debt of a host grows.
const maxBreaches = 10

func (t *trust) standing(id schema.HostID) slots.Standing {
	switch {
	case t.proven.has(id):
		return slots.Proven
	case t.answering.has(id):
		return slots.Answering
	}
	return slots.Unknown
}

// failed records that a host gave no complete answer in time.
func (t *trust) failed(id schema.HostID) {
	t.answering.remove(id)
	b := t.broken[id]
	if t.proven.has(id) {
		t.proven.remove(id)
		b.times = min(b.times+1, maxBreaches)
	} else if b.times == 0 {
		return
	}
	if t.broken == nil {
		t.broken = map[schema.HostID]breach{}
	}
	b.owed = 1 << (b.times - 1)
	t.broken[id] = b
}

// answered records that a host answered in time, without a page.
func (t *trust) answered(id schema.HostID) { t.answering.add(id) }

// proved records that a host sent a complete page in time.
func (t *trust) proved(id schema.HostID) {
	t.answered(id)
	if b := t.broken[id]; b.owed > 1 {
		b.owed--
		t.broken[id] = b
		return
	}
	t.proven.add(id)
}

// A hostSet is a set of hosts with one bit each. The zero value is empty.
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
