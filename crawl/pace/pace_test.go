package pace

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema"
)

func at(ms int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

// served takes hosts until none is ready.
func served(p *Pacer, now time.Time, worst uint8) []schema.HostID {
	var ids []schema.HostID
	for {
		id, ok := p.Next(now, worst)
		if !ok || !p.Take(id, now) {
			return ids
		}
		ids = append(ids, id)
	}
}

// An orderRow is a set of hosts and the order in which they are served.
type orderRow struct {
	name    string
	gap     time.Duration
	entries []Entry // of hosts 1, 2, 3...
	worst   uint8
	want    map[int][]schema.HostID // by time
}

func orderRows() []orderRow {
	return []orderRow{
		{
			name:    "clock",
			entries: []Entry{{Ready: at(10)}, {Ready: at(5)}},
			want:    map[int][]schema.HostID{4: nil, 5: {2}, 9: nil, 10: {1}},
		},
		{
			name:    "priority, then longest wait, then age",
			entries: []Entry{{Ready: at(3), Priority: 1}, {Ready: at(2)}, {Ready: at(1)}, {Ready: at(2)}},
			want:    map[int][]schema.HostID{5: {3, 2, 4, 1}},
		},
		{
			name: "one address",
			gap:  10 * time.Millisecond,
			entries: []Entry{{Address: "a", Ready: at(0)}, {Address: "a", Ready: at(1), Priority: 2},
				{Address: "a", Ready: at(2), Priority: 1}},
			want: map[int][]schema.HostID{0: {1}, 9: nil, 10: {3}, 19: nil, 20: {2}},
		},
		{
			name: "a better host arrives while the address is ready",
			gap:  10 * time.Millisecond,
			entries: []Entry{{Address: "a", Ready: at(0), Priority: 3}, {Address: "b", Ready: at(0), Priority: 2},
				{Address: "a", Ready: at(1), Priority: 1}},
			want: map[int][]schema.HostID{1: {3, 2}, 11: {1}},
		},
		{
			name:    "no address, no gap",
			gap:     10 * time.Millisecond,
			entries: []Entry{{Ready: at(0)}, {Ready: at(0)}},
			want:    map[int][]schema.HostID{0: {1, 2}},
		},
		{
			name:    "no gap, no address clock",
			entries: []Entry{{Address: "a", Ready: at(0)}, {Address: "a", Ready: at(0)}},
			want:    map[int][]schema.HostID{0: {1, 2}},
		},
		{
			name:    "hosts of a worse class are passed over",
			entries: []Entry{{Ready: at(0), Class: 1}, {Ready: at(1)}},
			want:    map[int][]schema.HostID{2: {2}},
		},
		{
			name:    "hosts of a worse class in their turn",
			worst:   1,
			entries: []Entry{{Ready: at(0), Class: 1}, {Ready: at(1)}, {Ready: at(2), Class: 1}},
			want:    map[int][]schema.HostID{2: {1, 2, 3}},
		},
	}
}

func TestOrder(t *testing.T) {
	for _, tt := range orderRows() {
		t.Run(tt.name, func(t *testing.T) {
			p := New(tt.gap, time.Second)
			for i, e := range tt.entries {
				p.Set(schema.HostID(i+1), e)
			}
			for ms := range 100 {
				want, ok := tt.want[ms]
				if !ok {
					continue
				}
				if diff := cmp.Diff(want, served(p, at(ms), tt.worst)); diff != "" {
					t.Errorf("at %d ms (-want +got):\n%s", ms, diff)
				}
			}
		})
	}
}

func TestReturnStandsBehind(t *testing.T) {
	p := New(0, time.Second)
	p.Set(1, Entry{Ready: at(0)})
	p.Set(2, Entry{Ready: at(1)})
	p.Next(at(5), Classes-1)
	p.Take(1, at(5))
	p.Set(1, Entry{Ready: at(0)})
	p.Next(at(6), Classes-1)
	p.Set(2, Entry{Ready: at(2)}) // was ready before and keeps its place
	if diff := cmp.Diff([]schema.HostID{2, 1}, served(p, at(7), Classes-1)); diff != "" {
		t.Error(diff)
	}
}

func TestTakeOfOthers(t *testing.T) {
	p := New(time.Second, time.Second)
	p.Set(1, Entry{Address: "a", Ready: at(0)})
	p.Set(2, Entry{Address: "a", Ready: at(0)})
	p.Set(3, Entry{Ready: at(50)})
	p.Next(at(1), Classes-1)
	for _, tt := range []struct {
		id   schema.HostID
		want bool
	}{{1, true}, {1, false}, {2, false}, {3, false}, {4, false}} {
		if got := p.Take(tt.id, at(1)); got != tt.want {
			t.Errorf("Take(%d) = %v, want %v", tt.id, got, tt.want)
		}
	}
	if p.Len() != 2 {
		t.Errorf("%d hosts, want 2", p.Len())
	}
}

func TestCounts(t *testing.T) {
	p := New(10*time.Millisecond, time.Second)
	for i, e := range []Entry{
		{Address: "a", Ready: at(0)}, {Address: "a", Ready: at(0), Class: 1}, {Address: "b", Ready: at(0)},
		{Address: "a", Ready: at(5)}, {Ready: at(20), Class: 1},
	} {
		p.Set(schema.HostID(i+1), e)
	}
	p.Next(at(0), Classes-1)
	p.Take(1, at(0))
	if diff := cmp.Diff(Counts{Ready: 1, Held: 1, Waiting: 2}, p.Counts()); diff != "" {
		t.Error(diff)
	}
	p.Take(3, at(0))
	if id, when, ok := p.Upcoming(); id != 2 || !when.Equal(at(10)) || !ok {
		t.Errorf("Upcoming() = %d, %v, %v; want host 2 in 10 ms", id, when, ok)
	}
	p.Remove(2)
	p.Remove(4)
	if id, when, ok := p.Upcoming(); id != 5 || !when.Equal(at(20)) || !ok {
		t.Errorf("Upcoming() = %d, %v, %v; want host 5 in 20 ms", id, when, ok)
	}
	p.Remove(5)
	if _, _, ok := p.Upcoming(); ok || p.Len() != 0 {
		t.Error("hosts are left")
	}
}

// Addresses and slots are reused, and a clock outlives its last host.
func TestForgets(t *testing.T) {
	p := New(10*time.Millisecond, time.Second)
	for round := range 100 {
		now := at(20 * round)
		for i := range schema.HostID(50) {
			p.Set(i+1, Entry{Address: fmt.Sprintf("%d/%d", round, i%7), Ready: now})
		}
		if n := len(served(p, now, Classes-1)); n != 7 {
			t.Fatalf("round %d: %d hosts served, want one an address", round, n)
		}
		for i := range schema.HostID(50) {
			p.Remove(i + 1)
		}
		p.Set(1, Entry{Address: fmt.Sprintf("%d/0", round), Ready: now})
		if got := served(p, now.Add(9*time.Millisecond), Classes-1); got != nil {
			t.Fatalf("round %d: the clock of an address was forgotten: %v", round, got)
		}
		p.Remove(1)
	}
	if len(p.hosts) > 50 || len(p.addresses) > 14 || len(p.active) > 7 {
		t.Errorf("%d hosts, %d addresses, %d active are kept", len(p.hosts), len(p.addresses), len(p.active))
	}
}
