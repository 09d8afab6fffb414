package pace

import (
	"fmt"
	"testing"
	"time"
)

// A reserved address is available to no other pacer until its gap, the longer of two, has passed since the
// request.
func TestClocks(t *testing.T) {
	const gap = 10 * time.Millisecond
	var c Clocks
	want := func(what string, now, again int, gap time.Duration) {
		t.Helper()
		got, ok := c.Reserve("a", gap, at(now))
		if ok != (again == 0) || !ok && !got.Equal(at(again)) {
			t.Errorf("%s: %v, %v; want %d", what, got, ok, again)
		}
	}
	want("first", 1, 0, gap)
	want("reserved", 2, 12, gap)
	c.Cancel("a")
	want("cancelled", 2, 0, gap)
	c.Start("a", gap, at(5))
	want("asked", 6, 15, gap)
	want("by somebody who waits longer", 6, 45, 40*time.Millisecond)
	want("when the gap has passed", 15, 0, gap)
	c.Start("a", 40*time.Millisecond, at(15))
	want("after somebody who waits longer", 30, 55, gap)
	if _, ok := c.Reserve("b", gap, at(30)); !ok {
		t.Error("another address is held")
	}
	c.Share(3)
	want("when others share it", 56, 0, gap)
	c.Start("a", gap, at(56))
	c.Share(2)
	want("when fewer share it than when it was asked", 57, 86, gap)
	c.Share(4)
	want("when more do", 57, 96, gap)
}

// An address that another process may just have requested is left alone for its gap.
func TestClocksSince(t *testing.T) {
	const gap = 10 * time.Millisecond
	var c Clocks
	c.Share(3)
	c.Since(at(100))
	if again, ok := c.Reserve("a", gap, at(101)); ok || !again.Equal(at(130)) {
		t.Errorf("it may be asked %t, else at %v", ok, again)
	}
	for address, now := range map[string]int{"a": 130, "b": 140} {
		if _, ok := c.Ask(address, gap, at(now)); !ok {
			t.Errorf("%s is held for longer than its gap", address)
		}
	}
	c.Since(at(150))
	if again, ok := c.Reserve("b", gap, at(160)); ok || !again.Equal(at(180)) {
		t.Errorf("one that this process has asked may be asked %t, else at %v", ok, again)
	}
}

// A request that was delayed after it was handed over is sent late, unless another pacer has requested its
// address meanwhile or is about to.
func TestClocksRestart(t *testing.T) {
	const gap = 100 * time.Millisecond
	ask := func(c *Clocks, now int) {
		t.Helper()
		if _, ok := c.Ask("a", gap, at(now)); !ok {
			t.Fatalf("it may not be asked at %d", now)
		}
	}
	tests := []struct {
		name         string
		before       func(c *Clocks)
		handed, late int
		may          bool
	}{
		{"at once", func(c *Clocks) { ask(c, 1000) }, 1001, 1001, true},
		{"later than it was taken", func(c *Clocks) { ask(c, 1003) }, 1000, 1500, true},
		{"asked meanwhile", func(c *Clocks) { ask(c, 1000); ask(c, 1100) }, 1000, 1150, false},
		{"asked long ago meanwhile", func(c *Clocks) { ask(c, 1000); ask(c, 1100) }, 1000, 9000, false},
		{"about to be asked", func(c *Clocks) { ask(c, 1000); c.Reserve("a", gap, at(1100)) }, 1000, 1150, false},
		{"not started yet", func(c *Clocks) { ask(c, 900); c.Reserve("a", gap, at(1000)) }, 1000, 1001, true},
		{"the first, not started yet", func(c *Clocks) { c.Reserve("a", gap, at(1000)) }, 1000, 1001, true},
		{"forgotten, about to be asked", func(c *Clocks) { c.Reserve("a", gap, at(1400)) }, 1000, 1450, false},
		{"forgotten", func(c *Clocks) {}, 1000, 9000, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c Clocks
			tt.before(&c)
			if may := c.Restart("a", gap, at(tt.handed), at(tt.late)); may != tt.may {
				t.Errorf("it may be sent: %t, want %t", may, tt.may)
			}
			if len(c.reserved) > 0 || !tt.may {
				return
			}
			if again, ok := c.Reserve("a", gap, at(tt.late)); ok || !again.Equal(at(tt.late).Add(gap)) {
				t.Errorf("the next may be sent at %v: %t", again, ok)
			}
		})
	}
}

// No clock is forgotten while it runs, and none is kept much longer.
func TestClocksForget(t *testing.T) {
	const gap = 500 * time.Millisecond
	var c Clocks
	asked := map[string]time.Time{}
	for ms := range 20_000 {
		address, now := fmt.Sprint(ms*7919%3000), at(ms)
		_, ok := c.Reserve(address, gap, now)
		last, known := asked[address]
		if want := !known || now.Sub(last) >= gap; ok != want {
			t.Fatalf("%s after %v: %v, want %v", address, now.Sub(last), ok, want)
		}
		if ok {
			c.Start(address, gap, now)
			asked[address] = now
		}
		if n := len(c.asked) + len(c.before); n > 2*500+2 || len(c.reserved) > 0 {
			t.Fatalf("%d clocks are kept", n)
		}
	}
}
