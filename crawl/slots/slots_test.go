package slots

import (
	"testing"
	"time"
)

func at(s float64) time.Time {
	return time.Unix(0, 0).Add(time.Duration(s * float64(time.Second)))
}

// Hosts use the slots that are not reserved for due hosts of a better standing.
func TestLeftToBetter(t *testing.T) {
	tests := []struct {
		name  string
		slots int
		due   Tally
		want  Tally // available slots, the worst standing first
	}{
		{"nobody is due", 10, Tally{}, Tally{0, 0, 10}},
		{"one is due", 10, Tally{1, 0, 0}, Tally{1, 0, 9}},
		{"half are due", 10, Tally{5, 0, 0}, Tally{5, 0, 5}},
		{"many are due", 10, Tally{500, 500, 500}, Tally{5, 0, 5}},
		{"an odd number", 7, Tally{500, 0, 0}, Tally{3, 0, 4}},
		{"a single slot", 1, Tally{500, 0, 0}, Tally{0, 0, 1}},
		{"two slots", 2, Tally{1, 0, 0}, Tally{1, 0, 1}},
		{"some answer", 10, Tally{0, 3, 500}, Tally{0, 3, 7}},
		{"some answer, others are proven", 10, Tally{2, 2, 500}, Tally{2, 2, 6}},
		{"many answer, one is proven", 10, Tally{1, 500, 500}, Tally{1, 4, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sh, got := New(0).Share(tt.slots), Tally{}
			for _, s := range []Standing{Unknown, Answering, Proven} {
				for sh.Take(at(0), s, tt.due) {
					got[s]++
				}
			}
			if got != tt.want || sh.Used() != got {
				t.Errorf("%v, want %v; used %v", got, tt.want, sh.Used())
			}
		})
	}
}

// Once the mean use by better hosts is known, not many more slots are reserved for them.
func TestLeftByUse(t *testing.T) {
	due := Tally{500, 0, 500}
	sh := New(0).Share(100)
	unknown := func(now time.Time) (n int) {
		for sh.Take(now, Unknown, due) {
			n++
		}
		for range n {
			sh.Give(Unknown)
		}
		return n
	}
	for tick := range 900 { // eight are used half of the time
		now := at(float64(tick) / 10)
		switch tick % 10 {
		case 0:
			for range 8 {
				if !sh.Take(now, Proven, due) {
					t.Fatal("refused")
				}
			}
		case 5:
			for range 8 {
				sh.Give(Proven)
			}
		}
		got := unknown(now)
		if tick < 300 && got != 50 || tick > 400 && (got < 91 || got > 95) {
			t.Fatalf("after %v s: %d unproven of 100", float64(tick)/10, got)
		}
	}
	if got := unknown(at(150)); got != 50 {
		t.Errorf("%d unproven after a time in which nobody asked, want 50", got)
	}
}

// Of a thousand slots, of which better hosts always use 350, the others may have nearly all the rest.
func TestLeftToMany(t *testing.T) {
	due := Tally{5000, 0, 5000}
	sh := New(0).Share(1000)
	for range 350 {
		if !sh.Take(at(0), Proven, due) {
			t.Fatal("refused")
		}
	}
	for second := range 100 {
		sh.Take(at(float64(second)), Unknown, due)
		sh.Give(Unknown)
	}
	n := 0
	for sh.Take(at(100), Unknown, due) {
		n++
	}
	if n < 600 || n > 635 {
		t.Errorf("%d unproven of 1,000, want 600 to 635", n)
	}
}

// Better hosts that want more than their reserve get more and more of the returned slots, up to half of all.
func TestLeftAfterMoreUse(t *testing.T) {
	due := Tally{500, 0, 500}
	sh := New(0).Share(100)
	take := func(now time.Time, s Standing) (n int) {
		for sh.Take(now, s, due) {
			n++
		}
		return n
	}
	for second := range 60 {
		if sh.Take(at(float64(second)), Proven, due); sh.Used()[Proven] != 1 {
			t.Fatal("refused")
		}
		sh.Give(Proven)
	}
	if got := take(at(60), Unknown); got != 98 {
		t.Fatalf("%d unproven, want 98", got)
	}
	for second := 61; sh.Used()[Proven] < 50; second++ {
		if second > 180 {
			t.Fatalf("used %v after two minutes", sh.Used())
		}
		now := at(float64(second))
		take(now, Proven)
		for range 5 {
			sh.Give(Unknown)
		}
		take(now, Unknown)
		take(now, Proven)
	}
	sh.Give(Proven)
	if take(at(200), Unknown) != 0 {
		t.Error("an unproven host has more than half of the slots")
	}
}

// The other shares leave slots free for a share's due hosts.
func TestSharesTogether(t *testing.T) {
	s := New(10)
	a, b := s.Share(10), s.Share(10)
	if !a.Take(at(0), Proven, Tally{4}) {
		t.Fatal("refused")
	}
	n := 0
	for b.Take(at(0), Unknown, Tally{}) {
		n++
	}
	if n != 6 {
		t.Errorf("%d unproven, want 6", n)
	}
	for range 3 {
		if !a.Take(at(0), Proven, Tally{4}) {
			t.Error("a proven host is refused")
		}
	}
	if a.Take(at(0), Proven, Tally{4}) {
		t.Error("more than all slots are taken")
	}
	b.Withdraw(Tally{})
	b.Give(Unknown)
	if used := b.Used(); used[Unknown] != 5 || !a.Take(at(0), Proven, Tally{4}) {
		t.Error("a slot that was given back cannot be had")
	}
}

// No slots are reserved for a share that has withdrawn, and waiting shares are notified.
func TestWithdrawn(t *testing.T) {
	s := New(4)
	a, b := s.Share(4), s.Share(4)
	if !a.Take(at(0), Proven, Tally{4}) {
		t.Fatal("refused")
	}
	a.Give(Proven)
	n := 0
	for b.Take(at(0), Unknown, Tally{}) {
		n++
	}
	if n != 2 {
		t.Errorf("%d beside hosts that are due, want 2", n)
	}
	a.Withdraw(Tally{4})
	select {
	case <-b.Freed():
		t.Error("told though nothing has changed")
	default:
	}
	a.Withdraw(Tally{})
	select {
	case <-b.Freed():
	default:
		t.Error("not told")
	}
	for range 2 {
		if !b.Take(at(0), Unknown, Tally{}) {
			t.Error("slots are left to nobody")
		}
	}
}

// The share that was refused first gets the next slot, and is notified.
func TestTurns(t *testing.T) {
	s := New(1)
	a, b, c := s.Share(1), s.Share(1), s.Share(1)
	take := func(sh *Share) bool { return sh.Take(at(0), Proven, Tally{}) }
	if !take(a) || take(b) || take(c) {
		t.Fatal("want one slot")
	}
	a.Give(Proven)
	if take(a) || take(c) {
		t.Error("out of turn")
	}
	select {
	case <-b.Freed():
	default:
		t.Error("b is not told")
	}
	if !take(b) {
		t.Error("b is refused in its turn")
	}
	c.Withdraw(Tally{})
	b.Give(Proven)
	if !take(a) {
		t.Error("a waits behind one that wants nothing")
	}
	a.Give(Proven)
	a.Close()
	if !take(c) {
		t.Error("refused after a share was closed")
	}
}

// A share that waits for slots reserved for others does not delay the rest.
func TestRefusedUnproven(t *testing.T) {
	s := New(2)
	a, b := s.Share(2), s.Share(2)
	if !a.Take(at(0), Unknown, Tally{1}) || a.Take(at(0), Unknown, Tally{1}) {
		t.Fatal("want one for an unproven host")
	}
	if !b.Take(at(0), Proven, Tally{}) {
		t.Error("a proven host waits behind an unproven one that is refused")
	}
}

// A lack halves the number of open requests, once for all requests it affects, down to one; then the number
// grows again.
func TestLack(t *testing.T) {
	s := New(100)
	sh := s.Share(100)
	open := func(now float64, n int) {
		t.Helper()
		for range sh.Used()[Proven] {
			sh.Give(Proven)
		}
		got := 0
		for sh.Take(at(now), Proven, Tally{}) {
			got++
		}
		if got != n {
			t.Errorf("%d open after %v s, want %d", got, now, n)
		}
	}
	lack := func(sent, now float64, limit int, news bool) {
		t.Helper()
		if got, told := s.Lack(at(sent), at(now)); got != limit || told != news {
			t.Errorf("lack at %v s: %d, %v; want %d, %v", now, got, told, limit, news)
		}
	}
	open(0, 100)
	lack(0, 1, 50, true)
	lack(0, 1.5, 50, false) // sent before
	open(2, 50)
	lack(2, 3, 25, false)
	open(12.9, 25)
	open(13, 31) // 10 s after the second
	lack(13, 14, 15, false)
	for now, limit := 14.0, 15; limit > 1; {
		open(now, limit)
		limit /= 2
		lack(now, now+1, limit, false)
		now++
	}
	open(18, 1)
	for now := 18.0; ; now += 60 {
		if now > 3600 {
			t.Fatal("all slots are not there again after an hour")
		}
		if sh.Take(at(now), Proven, Tally{}) {
			sh.Give(Proven)
		}
		if s.few == 0 {
			open(now, 100)
			lack(now, now+1, 50, true)
			break
		}
	}
}

// A process that is late opens half as many requests, but keeps a few however often it is late.
func TestLate(t *testing.T) {
	s := New(2000)
	sh := s.Share(2000)
	late := func(now float64, most, open, limit int, news bool) {
		t.Helper()
		for range sh.Used()[Proven] {
			sh.Give(Proven)
		}
		got := 0
		for got < most && sh.Take(at(now), Proven, Tally{}) {
			got++
		}
		if got != open {
			t.Fatalf("%d are open at %v s, want %d", got, now, open)
		}
		if got, told := s.Late(at(now), at(now+1)); got != limit || told != news {
			t.Errorf("with %d open at %v s: %d, %v; want %d, %v", open, now, got, told, limit, news)
		}
	}
	late(0, 0, 0, 2000, false)
	late(1, unhurried, unhurried, 2000, false)
	late(2, 2000, 2000, 1000, true)
	late(4, 2000, 1000, 500, false)
	late(6, 40, 40, unhurried, false)
	for now := 70.0; now < 3600; now += 60 {
		for sh.Take(at(now), Proven, Tally{}) {
		}
		if limit, _ := s.Late(at(now), at(now)); limit < unhurried || limit > 2*unhurried {
			t.Fatalf("%d may be open after %v s", limit, now)
		}
		for range sh.Used()[Proven] {
			sh.Give(Proven)
		}
	}
}
