// Package pace decides which host is asked next.
//
// A host is ready when its own clock has passed and the clock of its address,
// which many hosts may share: between two hosts taken from one address passes at
// least the address gap. A host without an address has only its own clock. What
// a host's own clock is made of (delays, suspensions, retries) is its owner's
// matter; here it is one time.
//
// Among the ready hosts the lowest priority number is first, then the host that
// has waited longest since it could have been asked, then the oldest. A host that
// comes back stands behind all that are ready in its priority, so within one
// priority nobody starves, however slow or large another host is; worse
// priorities wait as long as better ones fill every slot, which is the order that
// is asked for. Hosts of all classes stand in the same order; the caller says what the
// worst class is that one may be chosen from, and is told how many hosts of each will be
// ready soon.
//
// Every operation costs the logarithm of the number of hosts, also where all of
// them share one address. A waiting host is an entry of 32 bytes in an arena and
// two references to it, and each id up to the highest has a third; an address
// exists only while its clock runs or one of its hosts is ready.
//
// A [Pacer] belongs to one goroutine and has no locks. It reads no clock: time is
// what the caller says, and never goes back.
package pace

import (
	"hash/maphash"
	"math"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// An Entry says when a host may be asked, and how urgently.
type Entry struct {
	Address  string // whose clock it shares; "": none
	Ready    time.Time
	Priority uint8 // lower is first
	Class    uint8 // below [Classes]; chosen only where the caller allows it
}

// A Pacer holds the hosts that wait to be asked.
type Pacer struct {
	gap  time.Duration
	soon time.Duration
	base time.Time
	now  int64 // nanoseconds since base; never goes back
	seed maphash.Seed

	index     places // in hosts
	hosts     []host
	freeHosts []int32

	active        map[uint64]int32 // place in addresses, by the hash of the name
	addresses     []address
	freeAddresses []int32

	far     heap          // hosts whose own clock runs for longer than soon
	waiting heap          // the other hosts whose own clock runs
	blocked heap          // addresses whose clock runs
	ready   [Classes]heap // addresses with ready hosts and no running clock
	due     [Classes]int  // hosts that are not far

	byClock   order
	byTurn    order
	byRelease order
	byFirst   [Classes]order
}

// Classes is how many classes of hosts there are. Each has lines of its own, so that a
// caller who admits none of a class need not pass over thousands of them.
const Classes = 3

// Two addresses of one hash would share a clock, which harms nobody.
type host struct {
	since    int64  // when it may be asked; once ready, since when it waits
	key      uint64 // hash of its address; 0: none
	id       schema.HostID
	at       int32 // position in its heap
	address  int32 // where it is ready; none: it waits
	priority uint8
	class    uint8
	far      bool
}

type address struct {
	key     uint64 // 0: of the hosts without address
	until   int64  // when its clock has passed
	blocked bool
	lines   [Classes]heap  // ready hosts
	at      [Classes]int32 // position in ready; none: not there
}

const none = -1

// New returns a Pacer without hosts. A gap of 0 means that addresses have no
// clocks. Soon is the time within which a ready host is due.
func New(gap, soon time.Duration) *Pacer {
	p := &Pacer{
		gap:    gap,
		soon:   soon,
		base:   time.Now(),
		now:    math.MinInt64,
		seed:   maphash.MakeSeed(),
		active: map[uint64]int32{},
	}
	p.byClock = order{
		before: func(a, b int32) bool { return p.hosts[a].since < p.hosts[b].since },
		moved:  func(h int32, at int) { p.hosts[h].at = int32(at) },
	}
	p.byTurn = order{before: p.before, moved: p.byClock.moved}
	p.byRelease = order{
		before: func(a, b int32) bool { return p.addresses[a].until < p.addresses[b].until },
		moved:  func(int32, int) {},
	}
	for c := range p.byFirst {
		p.byFirst[c] = order{
			before: func(a, b int32) bool { return p.before(p.first(a, c), p.first(b, c)) },
			moved:  func(a int32, at int) { p.addresses[a].at[c] = int32(at) },
		}
	}
	return p
}

// Set makes a host wait, or changes how it waits. One that may be asked already
// counts as waiting from now on, so nobody is first for having been away, or
// since when it was ready before.
func (p *Pacer) Set(id schema.HostID, e Entry) {
	h := host{
		id: id, since: max(p.offset(e.Ready), p.now), key: p.hash(e.Address), address: none, priority: e.Priority,
		class: e.Class,
	}
	slot, ok := p.index.of(id)
	if ok {
		if h.since <= p.now {
			h.since = min(h.since, p.hosts[slot].since)
		}
		p.detach(slot)
	} else {
		slot = p.newHost()
		p.index.set(id, slot)
	}
	h.far = h.since > p.now+int64(p.soon)
	p.hosts[slot] = h
	switch {
	case h.far:
		p.far.push(slot, &p.byClock)
		return
	case h.since <= p.now:
		p.arrive(slot)
	default:
		p.waiting.push(slot, &p.byClock)
	}
	p.due[h.class]++
}

// Next returns the host that is first at a time, and leaves it there. Hosts of classes
// beyond the worst are passed over.
func (p *Pacer) Next(now time.Time, worst uint8) (schema.HostID, bool) {
	p.Advance(now)
	best := int32(none)
	for c := range int(worst) + 1 {
		if len(p.ready[c]) == 0 {
			continue
		}
		if first := p.first(p.ready[c][0], c); best == none || p.before(first, best) {
			best = first
		}
	}
	if best == none {
		return 0, false
	}
	return p.hosts[best].id, true
}

// Take removes a ready host because it is asked now, and starts the clock of its
// address. It reports whether the host was ready; if not, nothing has changed.
func (p *Pacer) Take(id schema.HostID, now time.Time) bool {
	p.Advance(now)
	slot, ok := p.index.of(id)
	if !ok {
		return false
	}
	a := p.hosts[slot].address
	if a == none || p.addresses[a].blocked {
		return false
	}
	if p.gap > 0 && p.addresses[a].key != 0 {
		p.block(a, p.now+int64(p.gap))
	}
	p.Remove(id)
	return true
}

// Remove forgets a host, if it is there. The clock of its address goes on.
func (p *Pacer) Remove(id schema.HostID) {
	slot, ok := p.index.of(id)
	if !ok {
		return
	}
	p.detach(slot)
	p.index.remove(id)
	p.freeHosts = append(p.freeHosts, slot)
}

// NextTime returns the earliest time after that of the last call of Next or Take
// at which another host may be ready. It may be early by an address gap, never
// late. It is false if time alone makes no more hosts ready.
func (p *Pacer) NextTime() (time.Time, bool) {
	at := int64(math.MaxInt64)
	for _, h := range []heap{p.waiting, p.far} {
		if len(h) > 0 {
			at = min(at, p.hosts[h[0]].since)
		}
	}
	if len(p.blocked) > 0 {
		at = min(at, p.addresses[p.blocked[0]].until)
	}
	return p.time(at), at != math.MaxInt64
}

// Due returns the number of hosts of each class that were ready, or would be soon, at
// the last call of Advance, Next or Take.
func (p *Pacer) Due() [Classes]int { return p.due }

// Hold keeps a ready host, and all of its address, until a time, because somebody
// else asks the address.
func (p *Pacer) Hold(id schema.HostID, until time.Time) {
	slot, ok := p.index.of(id)
	if !ok {
		return
	}
	a := p.hosts[slot].address
	if a != none && p.addresses[a].key != 0 && !p.addresses[a].blocked {
		p.block(a, p.offset(until))
	}
}

// Len returns the number of hosts.
func (p *Pacer) Len() int { return p.index.n }

func (p *Pacer) offset(t time.Time) int64 { return int64(t.Sub(p.base)) }

func (p *Pacer) time(offset int64) time.Time { return p.base.Add(time.Duration(offset)) }

func (p *Pacer) hash(name string) uint64 {
	if name == "" {
		return 0
	}
	return max(maphash.String(p.seed, name), 1)
}

// before says whether a ready host has its turn before another.
func (p *Pacer) before(a, b int32) bool {
	x, y := &p.hosts[a], &p.hosts[b]
	if x.priority != y.priority {
		return x.priority < y.priority
	}
	if x.since != y.since {
		return x.since < y.since
	}
	return x.id < y.id
}

// first returns the ready host of an address and class whose turn it is.
func (p *Pacer) first(a int32, class int) int32 { return p.addresses[a].lines[class][0] }

// Advance moves what has become ready.
func (p *Pacer) Advance(now time.Time) {
	p.now = max(p.now, p.offset(now))
	for len(p.far) > 0 && p.hosts[p.far[0]].since <= p.now+int64(p.soon) {
		slot := p.far.remove(0, &p.byClock)
		p.hosts[slot].far = false
		p.waiting.push(slot, &p.byClock)
		p.due[p.hosts[slot].class]++
	}
	for len(p.blocked) > 0 && p.addresses[p.blocked[0]].until <= p.now {
		p.release(p.blocked.remove(0, &p.byRelease))
	}
	for len(p.waiting) > 0 && p.hosts[p.waiting[0]].since <= p.now {
		p.arrive(p.waiting.remove(0, &p.byClock))
	}
}
