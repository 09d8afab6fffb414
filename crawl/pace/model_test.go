package pace

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/schema"
)

// model is a Pacer that scans everything every time.
type model struct {
	gap    time.Duration
	soon   time.Duration
	now    time.Time
	hosts  map[schema.HostID]Entry // Ready is the start of the wait, once that has passed
	clocks map[string]time.Time
}

func (m *model) set(id schema.HostID, e Entry) {
	if old, ok := m.hosts[id]; !e.Ready.After(m.now) {
		e.Ready = m.now
		if ok && old.Ready.Before(m.now) {
			e.Ready = old.Ready
		}
	}
	m.hosts[id] = e
}

// time returns when a host is ready.
func (m *model) time(e Entry) time.Time {
	if clock := m.clocks[e.Address]; clock.After(e.Ready) {
		return clock
	}
	return e.Ready
}

func (m *model) next(worst uint8) (best schema.HostID, ok bool) {
	for id, e := range m.hosts {
		if m.time(e).After(m.now) || e.Class > worst {
			continue
		}
		b := m.hosts[best]
		if !ok || e.Priority < b.Priority || e.Priority == b.Priority &&
			(e.Ready.Before(b.Ready) || e.Ready.Equal(b.Ready) && id < best) {
			best, ok = id, true
		}
	}
	return best, ok
}

func (m *model) take(id schema.HostID) bool {
	e, ok := m.hosts[id]
	if !ok || m.time(e).After(m.now) {
		return false
	}
	delete(m.hosts, id)
	if m.gap > 0 && e.Address != "" {
		m.clocks[e.Address] = m.now.Add(m.gap)
	}
	return true
}

func (m *model) counts() Counts {
	var c Counts
	for _, e := range m.hosts {
		switch {
		case e.Ready.After(m.now):
			c.Waiting++
		case m.time(e).After(m.now):
			c.Held++
		default:
			c.Ready++
		}
	}
	return c
}

// due counts the hosts that are ready soon.
func (m *model) due() (n [Classes]int) {
	for _, e := range m.hosts {
		if !e.Ready.After(m.now.Add(m.soon)) {
			n[e.Class]++
		}
	}
	return n
}

// upcoming returns the first future time at which a host is ready.
func (m *model) upcoming() (at time.Time, ok bool) {
	for _, e := range m.hosts {
		if t := m.time(e); t.After(m.now) && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	return at, ok
}

func (m *model) check(t *rapid.T, p *Pacer) {
	for worst := range uint8(Classes) {
		got, ok := p.Next(m.now, worst)
		if want, has := m.next(worst); got != want || ok != has {
			t.Fatalf("Next(%d) = %d, %v; want %d, %v", worst, got, ok, want, has)
		}
	}
	if got, want := p.Due(), m.due(); got != want {
		t.Fatalf("Due() = %v, want %v", got, want)
	}
	if got, want := p.Counts(), m.counts(); got != want {
		t.Fatalf("Counts() = %+v, want %+v", got, want)
	}
	next, ok := p.NextTime()
	if ok && !next.After(m.now) {
		t.Fatalf("NextTime() = %v is not after now, %v", next, m.now)
	}
	if at, has := m.upcoming(); has && (!ok || next.After(at)) {
		t.Fatalf("NextTime() = %v, %v; a host is ready at %v", next, ok, at)
	}
	if _, at, ok := p.Upcoming(); ok {
		if first, has := m.upcoming(); !has || at.Before(first) || at.Sub(first) > 8*time.Millisecond {
			t.Fatalf("Upcoming() at %v, want within 8 ms after %v, %v", at, first, has)
		}
	} else if _, has := m.upcoming(); has {
		t.Fatal("Upcoming() found none")
	}
	checkShape(t, p)
}

// checkShape verifies the invariants of the structure.
func checkShape(t *rapid.T, p *Pacer) {
	seen := len(p.waiting) + len(p.far)
	for _, waiting := range []heap{p.waiting, p.far} {
		for i, slot := range waiting {
			if p.hosts[slot].at != int32(i) || p.hosts[slot].address != none {
				t.Fatalf("waiting[%d] does not know where it is", i)
			}
		}
	}
	for c, ready := range p.ready {
		for i, a := range ready {
			x := &p.addresses[a]
			if x.at[c] != int32(i) || x.blocked || len(x.lines[c]) == 0 {
				t.Fatalf("ready[%d][%d] does not belong there: %+v", c, i, *x)
			}
		}
	}
	for a := range p.addresses {
		for c, line := range p.addresses[a].lines {
			seen += len(line)
			for i, slot := range line {
				if h := &p.hosts[slot]; h.at != int32(i) || h.address != int32(a) || int(h.class) != c {
					t.Fatalf("line %d of address %d, %d: %+v", c, a, i, *h)
				}
			}
		}
	}
	if seen != p.Len() {
		t.Fatalf("%d hosts are in heaps, %d in the index", seen, p.Len())
	}
	if n := len(p.addresses) - len(p.freeAddresses); n < len(p.active) || n > len(p.active)+p.Len() {
		t.Fatalf("%d addresses in use, %d active", n, len(p.active))
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, lawOfModel)
}

func FuzzModel(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(lawOfModel))
}

func lawOfModel(t *rapid.T) {
	gap := time.Duration(rapid.IntRange(0, 5).Draw(t, "gap")) * time.Millisecond
	soon := time.Duration(rapid.IntRange(0, 8).Draw(t, "soon")) * time.Millisecond
	p := New(gap, soon)
	m := &model{gap: gap, soon: soon, now: at(0), hosts: map[schema.HostID]Entry{}, clocks: map[string]time.Time{}}
	p.Next(m.now, 0)
	id := rapid.Uint32Range(1, 12)
	t.Repeat(map[string]func(*rapid.T){
		"": func(t *rapid.T) { m.check(t, p) },
		"set": func(t *rapid.T) {
			host := schema.HostID(id.Draw(t, "host"))
			e := Entry{
				Address:  rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "address"),
				Ready:    m.now.Add(time.Duration(rapid.IntRange(-3, 12).Draw(t, "ready")) * time.Millisecond),
				Priority: rapid.Uint8Range(0, 2).Draw(t, "priority"),
				Class:    rapid.Uint8Range(0, Classes-1).Draw(t, "class"),
			}
			p.Set(host, e)
			m.set(host, e)
		},
		"take": func(t *rapid.T) {
			host, _ := m.next(rapid.Uint8Range(0, Classes-1).Draw(t, "worst"))
			if rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				host = schema.HostID(id.Draw(t, "host"))
			}
			if got, want := p.Take(host, m.now), m.take(host); got != want {
				t.Fatalf("Take(%d) = %v, want %v", host, got, want)
			}
		},
		"hold": func(t *rapid.T) {
			host, ok := m.next(Classes - 1)
			until := m.now.Add(time.Duration(rapid.IntRange(1, 8).Draw(t, "until")) * time.Millisecond)
			if p.Hold(host, until); ok && m.hosts[host].Address != "" {
				m.clocks[m.hosts[host].Address] = until
			}
		},
		"remove": func(t *rapid.T) {
			host := schema.HostID(id.Draw(t, "host"))
			p.Remove(host)
			delete(m.hosts, host)
		},
		"pass": func(t *rapid.T) {
			m.now = m.now.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "ms")) * time.Millisecond)
		},
		"pass to the next": func(t *rapid.T) {
			if next, ok := p.NextTime(); ok {
				m.now = next
			}
		},
	})
}
