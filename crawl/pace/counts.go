package pace

import (
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// Counts says what the hosts of a [Pacer] are waiting for. Each host is counted once, in Ready, Held or
// Waiting.
type Counts struct {
	Ready   int // for the caller only
	Held    int // for the clock of their address
	Waiting int // for their own clock
}

// Sum is the number of hosts.
func (c Counts) Sum() int { return c.Ready + c.Held + c.Waiting }

// Counts counts the hosts, as of the last call of Next or Take. It visits every address whose clock is
// running.
func (p *Pacer) Counts() Counts {
	c := Counts{Waiting: len(p.waiting) + len(p.far)}
	for _, a := range p.blocked {
		c.Held += p.addresses[a].ready()
	}
	c.Ready = p.Len() - c.Waiting - c.Held
	return c
}

// Upcoming returns the host that is the next to become ready, and when. It is meant for display: with shared
// addresses, another host may be ready earlier by an address gap.
func (p *Pacer) Upcoming() (schema.HostID, time.Time, bool) {
	best, at := int32(none), int64(0)
	for _, a := range p.blocked {
		x := &p.addresses[a]
		for c, line := range x.lines {
			if len(line) > 0 && (best == none || x.until < at) {
				best, at = p.first(a, c), x.until
			}
		}
	}
	for _, waiting := range []heap{p.waiting, p.far} {
		if len(waiting) == 0 {
			continue
		}
		first := &p.hosts[waiting[0]]
		ready := first.since
		if a, ok := p.active[first.key]; ok {
			ready = max(ready, p.addresses[a].until)
		}
		if best == none || ready < at {
			best, at = waiting[0], ready
		}
	}
	if best == none {
		return 0, time.Time{}, false
	}
	return p.hosts[best].id, p.time(at), true
}

// ready returns the number of hosts of an address whose own clock has passed.
func (a *address) ready() int {
	n := 0
	for _, line := range a.lines {
		n += len(line)
	}
	return n
}
