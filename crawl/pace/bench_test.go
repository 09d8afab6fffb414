package pace

import (
	"fmt"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

const manyHosts = 100_000

// filled returns a Pacer whose hosts become ready one after the other within a
// second.
func filled(gap time.Duration, address func(i int) string) *Pacer {
	p := New(gap, time.Second)
	p.Next(at(0), Classes-1)
	for i := range manyHosts {
		ready := at(0).Add(time.Duration(i) * time.Second / manyHosts)
		p.Set(schema.HostID(i+1), Entry{Address: address(i), Ready: ready, Priority: uint8(i % 5)})
	}
	return p
}

// BenchmarkSchedule takes the next host and puts it back for a second later.
func BenchmarkSchedule(b *testing.B) {
	for _, bm := range []struct {
		name    string
		gap     time.Duration
		address func(i int) string
	}{
		{"no address", time.Millisecond, func(int) string { return "" }},
		{"ten hosts an address", time.Microsecond, func(i int) string { return fmt.Sprint(i / 10) }},
		{"one address", time.Microsecond, func(int) string { return "a" }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			p := filled(bm.gap, bm.address)
			names := make([]string, manyHosts)
			for i := range names {
				names[i] = bm.address(i)
			}
			now := at(0)
			b.ReportAllocs()
			for b.Loop() {
				id, ok := p.Next(now, Classes-1)
				for !ok {
					now, _ = p.NextTime()
					id, ok = p.Next(now, Classes-1)
				}
				p.Take(id, now)
				p.Set(id, Entry{Address: names[id-1], Ready: now.Add(time.Second), Priority: uint8(id % 5)})
			}
		})
	}
}

// A waiting host costs at most 64 bytes, everything included.
func TestWaitingHostIsSmall(t *testing.T) {
	before := process.LiveHeap()
	p := filled(time.Millisecond, func(i int) string { return fmt.Sprint(i) })
	each := float64(process.LiveHeap()-before) / float64(p.Len())
	t.Logf("%.1f bytes a waiting host", each)
	if each > 64 {
		t.Errorf("%.1f bytes a waiting host, want at most 64", each)
	}
}
