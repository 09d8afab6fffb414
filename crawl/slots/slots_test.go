package slots

import (
	"testing"
	"time"
)

func at(s float64) time.Time {
	return time.Unix(0, 0).Add(time.Duration(s * float64(time.Second)))
}

// Unproven hosts use what is not left to proven ones that are due.
func TestLeftToProven(t *testing.T) {
	tests := []struct {
		name             string
		slots, due       int
		unproven, proven int // that can be had, unproven ones first
	}{
		{"nobody is due", 10, 0, 10, 0},
		{"one is due", 10, 1, 9, 1},
		{"half are due", 10, 5, 5, 5},
		{"many are due", 10, 500, 5, 5},
		{"an odd number", 7, 500, 4, 3},
		{"a single slot", 1, 500, 1, 0},
		{"two slots", 2, 1, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sh := New(0).Share(tt.slots)
			for _, want := range []struct {
				unproven bool
				n        int
			}{{true, tt.unproven}, {false, tt.proven}} {
				n := 0
				for sh.Take(at(0), want.unproven, tt.due) {
					n++
				}
				if n != want.n {
					t.Errorf("%d slots, unproven %v: want %d", n, want.unproven, want.n)
				}
			}
		})
	}
}

// What one share's hosts are due is left free by the others.
func TestSharesTogether(t *testing.T) {
	s := New(10)
	a, b := s.Share(10), s.Share(10)
	if !a.Take(at(0), false, 4) {
		t.Fatal("refused")
	}
	n := 0
	for b.Take(at(0), true, 0) {
		n++
	}
	if n != 6 {
		t.Errorf("%d unproven, want 6", n)
	}
	for range 3 {
		if !a.Take(at(0), false, 4) {
			t.Error("a proven host is refused")
		}
	}
	if a.Take(at(0), false, 4) {
		t.Error("more than all slots are taken")
	}
	b.Withdraw()
	b.Give(true)
	if _, unproven := b.Used(); unproven != 5 || !a.Take(at(0), false, 4) {
		t.Error("a slot that was given back cannot be had")
	}
}

// Whoever was refused first has the next slot, and is told.
func TestTurns(t *testing.T) {
	s := New(1)
	a, b, c := s.Share(1), s.Share(1), s.Share(1)
	take := func(sh *Share) bool { return sh.Take(at(0), false, 0) }
	if !take(a) || take(b) || take(c) {
		t.Fatal("want one slot")
	}
	a.Give(false)
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
	c.Withdraw()
	b.Give(false)
	if !take(a) {
		t.Error("a waits behind one that wants nothing")
	}
	a.Give(false)
	a.Close()
	if !take(c) {
		t.Error("refused after a share was closed")
	}
}

// A share that waits for what is left to others keeps nobody else waiting.
func TestRefusedUnproven(t *testing.T) {
	s := New(2)
	a, b := s.Share(2), s.Share(2)
	if !a.Take(at(0), true, 1) || a.Take(at(0), true, 1) {
		t.Fatal("want one for an unproven host")
	}
	if !b.Take(at(0), false, 0) {
		t.Error("a proven host waits behind an unproven one that is refused")
	}
}

// A lack halves what is open down to one, once for all that it meets, and then more
// is opened again.
func TestLack(t *testing.T) {
	s := New(100)
	sh := s.Share(100)
	open := func(now float64, n int) {
		t.Helper()
		for used, _ := sh.Used(); used > 0; used-- {
			sh.Give(false)
		}
		got := 0
		for sh.Take(at(now), false, 0) {
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
		if sh.Take(at(now), false, 0) {
			sh.Give(false)
		}
		if s.few == 0 {
			open(now, 100)
			lack(now, now+1, 50, true)
			break
		}
	}
}
