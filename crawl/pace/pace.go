// Package pace decides which host is requested next: it enforces the politeness delay.
//
// A host is ready when its own clock and the clock of its address have passed. Many hosts may share an
// address; at least the address gap passes between two hosts taken from one address. A host without an
// address has only its own clock. What a host's own clock consists of (delays, suspensions, retries) is up to
// its owner; in this package it is a single time.
//
// Among the ready hosts, the order is by lowest priority number, then by longest wait since the host could first have
// been requested, then by lowest id. A host that returns queues behind all hosts that are ready in its priority. Within
// one priority no host starves, however slow or large another is. Hosts wait as long as hosts with lower priority
// numbers occupy every slot; that is intended. Hosts of all classes share one order; the caller gives the worst class
// to choose from, and learns how many hosts of each class will be ready soon.
//
// Every operation is logarithmic in the number of hosts, even if all share one address. A waiting host costs
// an arena entry of 32 bytes and two references to it, plus one reference for each id up to the highest. An
// address exists only while its clock runs or one of its hosts is ready.
//
// A [Pacer] belongs to one goroutine and has no locks. It reads no clock: callers pass the time, which never
// goes back.
package pace

import (
	"hash/maphash"
	"math"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// An Entry says when a host may be requested, and how urgently.
type Entry struct {
	Address  string // whose clock the host shares; "": none
	Ready    time.Time
	Priority uint8 // lower is first
	Class    uint8 // less than [Classes]; chosen only if the caller allows it
}

// A Pacer holds the hosts that wait to be requested.
type Pacer struct {
	gap  time.Duration
	soon time.Duration
	base time.Time
	now  int64 // nanoseconds since base; never goes back
	seed maphash.Seed

	index     places // of hosts
	hosts     []host
	freeHosts []int32

	active        map[uint64]int32 // position in addresses, by the hash of the name
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

// Classes is the number of classes of hosts. Each class has its own lines, so that a caller who excludes a
// class need not skip thousands of its hosts.
const Classes = 3

// A host is an entry of the arena. Two addresses with the same hash would share a clock, which is harmless.
type host struct {
	since    int64  // when it may be requested; once ready, since when it has been waiting
	key      uint64 // hash of its address; 0: none
	id       schema.HostID
	at       int32 // position in its heap
	address  int32 // where it is ready; none: not ready
	priority uint8
	class    uint8
	far      bool
}

type address struct {
	key     uint64 // 0: for the hosts without an address
	until   int64  // when its clock passes
	blocked bool
	lines   [Classes]heap  // ready hosts
	at      [Classes]int32 // position in ready; none: not there
}

const none = -1

// New returns a Pacer without hosts. If gap is 0, addresses have no clocks. A host counts as due if it is
// ready within soon.
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

// Set adds a host or changes how it waits. A host that may already be requested counts as waiting from now
// on, or since it first became ready: time spent elsewhere gives it no precedence.
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

// Next returns the first ready host at the given time without removing it. It skips hosts of classes above
// worst.
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

// Take removes a ready host that is requested now, and starts the clock of its address. It reports whether
// the host was ready; if not, nothing changes.
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

// Remove forgets a host, if present. The clock of its address keeps running.
func (p *Pacer) Remove(id schema.HostID) {
	slot, ok := p.index.of(id)
	if !ok {
		return
	}
	p.detach(slot)
	p.index.remove(id)
	p.freeHosts = append(p.freeHosts, slot)
}

// NextTime returns the earliest time, after the last call of Next or Take, at which another host may be
// ready. It may be early by an address gap, but never late. It is false if the passing of time makes no more
// hosts ready.
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

// Due returns, for each class, the number of hosts that were ready or nearly ready at the last call of
// Advance, Next or Take.
func (p *Pacer) Due() [Classes]int { return p.due }

// Hold blocks the whole address of a ready host until the given time, because another pacer is requesting it.
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

// before reports whether ready host a comes before b.
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

// first returns the first ready host of an address and class.
func (p *Pacer) first(a int32, class int) int32 { return p.addresses[a].lines[class][0] }

// Advance moves the hosts and addresses whose clocks have passed.
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
