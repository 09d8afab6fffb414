package pace

import "math"

// arrive queues a host whose own clock has passed at its address.
func (p *Pacer) arrive(slot int32) {
	h := &p.hosts[slot]
	h.address = p.addressOf(h.key)
	p.addresses[h.address].lines[h.class].push(slot, &p.byTurn)
	p.place(h.address, int(h.class))
}

// detach removes a host from the heap that holds it.
func (p *Pacer) detach(slot int32) {
	h := &p.hosts[slot]
	if h.far {
		p.far.remove(int(h.at), &p.byClock)
		return
	}
	p.due[h.class]--
	if h.address == none {
		p.waiting.remove(int(h.at), &p.byClock)
		return
	}
	a, class := h.address, int(h.class)
	first := p.first(a, class) == slot
	if at := p.addresses[a].at[class]; at != none && first {
		p.ready[class].remove(int(at), &p.byFirst[class]) // while its order still holds
		p.addresses[a].at[class] = none
	}
	p.addresses[a].lines[class].remove(int(h.at), &p.byTurn)
	h.address = none
	p.place(a, class)
	p.retire(a)
}

// place moves an address to where the first host of a line belongs. The heap order may be broken at this
// address only, and only towards the root.
func (p *Pacer) place(a int32, class int) {
	x := &p.addresses[a]
	switch {
	case x.blocked || len(x.lines[class]) == 0:
	case x.at[class] == none:
		p.ready[class].push(a, &p.byFirst[class])
	default:
		p.ready[class].up(int(x.at[class]), &p.byFirst[class])
	}
}

// block starts the clock of an address: none of its hosts is ready before until.
func (p *Pacer) block(a int32, until int64) {
	x := &p.addresses[a]
	for c, at := range x.at {
		if at != none {
			p.ready[c].remove(int(at), &p.byFirst[c])
			x.at[c] = none
		}
	}
	x.blocked, x.until = true, until
	p.blocked.push(a, &p.byRelease)
}

// release ends the clock of an address.
func (p *Pacer) release(a int32) {
	p.addresses[a].blocked = false
	for c := range Classes {
		p.place(a, c)
	}
	p.retire(a)
}

// addressOf finds the address with a hash, and creates it if necessary. Hosts without an address share one,
// whose clock never runs.
func (p *Pacer) addressOf(key uint64) int32 {
	if a, ok := p.active[key]; ok {
		return a
	}
	var a int32
	if n := len(p.freeAddresses); n > 0 {
		a, p.freeAddresses = p.freeAddresses[n-1], p.freeAddresses[:n-1]
	} else {
		a = int32(len(p.addresses))
		p.addresses = append(p.addresses, address{})
	}
	x := &p.addresses[a]
	x.key, x.blocked, x.until = key, false, math.MinInt64
	x.at = [Classes]int32{none, none, none}
	p.active[key] = a
	return a
}

// retire removes an address that has no ready hosts and no running clock. Its lines keep a little capacity
// for the next address.
func (p *Pacer) retire(a int32) {
	x := &p.addresses[a]
	if x.blocked || x.ready() > 0 {
		return
	}
	for c := range x.lines {
		if cap(x.lines[c]) > 8 {
			x.lines[c] = nil
		}
	}
	delete(p.active, x.key)
	p.freeAddresses = append(p.freeAddresses, a)
}

func (p *Pacer) newHost() int32 {
	if n := len(p.freeHosts); n > 0 {
		slot := p.freeHosts[n-1]
		p.freeHosts = p.freeHosts[:n-1]
		return slot
	}
	p.hosts = append(p.hosts, host{})
	return int32(len(p.hosts) - 1)
}
