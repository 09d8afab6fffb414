package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// in runs a test in a world without random trouble.
func in(t *testing.T, f func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t, newWorld(1))
		time.Sleep(time.Minute) // let pending messages end
	})
}

// took returns the lease of a node that needs it, and how long it took.
func took(t *testing.T, c Claim) (*Lease, time.Duration) {
	t.Helper()
	began := time.Now()
	l, err := Take(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if !l.Held() {
		t.Fatal("a lease begins that is not held")
	}
	return l, time.Since(began)
}

// keep renews a lease until stop is called, which returns why it ended.
func keep(t *testing.T, l *Lease) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Keep(ctx) }()
	return func() error { cancel(); return <-ended }
}

// wait returns when the lease is lost, or after a long time.
func wait(l *Lease) {
	select {
	case <-l.Lost():
	case <-time.After(5 * time.Minute):
	}
}

// within reports whether a duration is approximately another one, allowing for messages and looks.
func within(got, want time.Duration) bool { return got >= want && got < want+3*time.Second }

// A free shard is taken after the watch, held while it is renewed, and meanwhile unavailable to others.
func TestTake(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		a, b := w.node("a"), w.node("b")
		file := &paperFile{}
		began := time.Now()
		l, after := took(t, a.claim(file, ""))
		if !within(after, 30*time.Second) || len(file.openings) != 1 {
			t.Errorf("it took %s, with %d openings", after, len(file.openings))
		}
		stop := keep(t, l)
		other := file.twin()
		other.any = true
		_, err := Take(t.Context(), b.claim(other, ""))
		var held *HeldError
		if !errors.As(err, &held) || held.Node != "a" || held.Since.Before(began) || held.Since.After(time.Now()) {
			t.Errorf("another one is told %v", err)
		}
		if text := err.Error(); !strings.Contains(text, `shard.0 is held by node "a" since 2000-01-01T`) {
			t.Errorf("it reads %s", text)
		}
		time.Sleep(time.Hour)
		if !l.Held() || len(other.openings) != 1 {
			t.Errorf("after an hour it is held: %t; the other one has %d openings", l.Held(), len(other.openings))
		}
		if err := stop(); !errors.Is(err, context.Canceled) || !l.Held() {
			t.Errorf("it ends with %v, held: %t", err, l.Held())
		}
		if _, after := took(t, b.claim(other, "")); !within(after, 30*time.Second) || l.Held() {
			t.Errorf("the other one took it after %s", after)
		}
	})
}

// A shard that was never held is claimed at once where its terrain was founded, by one of those who want it. If the
// server or the bucket is another one, or the file a later one, there may be a holder, so it is waited for.
func TestTakeNeverHeld(t *testing.T) {
	for _, tt := range []struct {
		name    string
		founded string
		epoch   uint64
		wiped   bool
		watches bool
	}{
		{name: "at once", founded: "1"},
		{name: "unknown", watches: true},
		{name: "another bucket", founded: "0", watches: true},
		{name: "wiped since", founded: "1", wiped: true, watches: true},
		{name: "recreated", founded: "1", epoch: 1, watches: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				a, b := w.node("a"), w.node("b")
				if tt.wiped {
					w.wipe()
				}
				claim := a.claim(&paperFile{}, "")
				claim.Founded, claim.Epoch = tt.founded, tt.epoch
				l, after := took(t, claim)
				if tt.watches && !within(after, 30*time.Second) || !tt.watches && after > time.Second {
					t.Errorf("it took %s", after)
				}
				defer keep(t, l)()
				late := b.claim(&paperFile{any: true}, "")
				late.Founded, late.Epoch = tt.founded, tt.epoch
				if _, err := Take(t.Context(), late); !errors.As(err, new(*HeldError)) {
					t.Errorf("another one is told %v", err)
				}
			})
		})
	}
}

// The trust runs from the sending of a renewal, however late the answer is.
func TestTrustFromSending(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		n.back = func(writes bool) bool {
			if writes {
				time.Sleep(4 * time.Second)
			}
			return false
		}
		sent := time.Time{}
		file := &paperFile{begins: func() { sent = time.Now() }}
		l, _ := took(t, n.claim(file, ""))
		if time.Since(sent) < 4*time.Second {
			t.Fatal("the answer was not late")
		}
		time.Sleep(time.Until(sent.Add(25*time.Second - time.Millisecond)))
		if !l.Held() {
			t.Error("a claim is not trusted for so long")
		}
		time.Sleep(time.Millisecond)
		if l.Held() {
			t.Error("a claim is trusted for too long")
		}
	})
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		l, _ := took(t, n.claim(&paperFile{}, ""))
		n.back = func(writes bool) bool {
			if writes {
				time.Sleep(4 * time.Second)
				n.leave(time.Hour)
			}
			return false
		}
		renewed := time.Now()
		stop := keep(t, l)
		wait(l)
		if after := time.Since(renewed); after < 25*time.Second || after > 25*time.Second+50*time.Millisecond {
			t.Errorf("it is lost after %s", after)
		}
		if err := stop(); !errors.Is(err, ErrLost) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// A renewal without an answer is found in the record, and is worth as much as an answered one.
func TestRenewalWithoutAnswer(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		l, _ := took(t, n.claim(&paperFile{}, ""))
		n.back = func(writes bool) bool { return writes }
		stop := keep(t, l)
		time.Sleep(10 * time.Minute)
		if !l.Held() {
			t.Error("it is lost")
		}
		n.leave(time.Hour)
		before := *l.trust.Load()
		wait(l)
		if last := *l.trust.Load(); last != before || n.reading().Run-last.Run > 25*time.Second+time.Millisecond {
			t.Errorf("it was renewed at %v and then at %v, and is lost at %v", before, last, n.reading())
		}
		if err := stop(); !errors.Is(err, ErrLost) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// A lease that ends is over for good, and its holder is notified.
func TestLost(t *testing.T) {
	tests := []struct {
		name   string
		do     func(*world, *node)
		at     time.Duration // at most
		detail string
	}{
		{"frozen for long", func(_ *world, n *node) { n.freeze(time.Minute) }, time.Minute, "renewed in time"},
		{"halted for long", func(_ *world, n *node) { n.halt(time.Minute) }, time.Minute, "renewed in time"},
		{"clock ahead", func(_ *world, n *node) { n.set(1100 * time.Millisecond) }, 2 * time.Second, "jumped"},
		{"clock behind", func(_ *world, n *node) { n.set(-time.Hour) }, 2 * time.Second, "jumped"},
		{"cut off", func(_ *world, n *node) { n.leave(time.Hour) }, 25 * time.Second, "renewed in time"},
		{"somebody else's", func(w *world, _ *node) {
			r := record{State: held, Node: "x", Opening: make([]byte, 16), Random: "other"}
			w.place(r.encode())
		}, 11 * time.Second, `held by node "x"`},
		{"damaged", func(w *world, _ *node) { w.place([]byte("{}")) }, 11 * time.Second, "state"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				n := w.node("a")
				l, _ := took(t, n.claim(&paperFile{}, ""))
				stop := keep(t, l)
				time.Sleep(time.Minute)
				began := time.Now()
				tt.do(w, n)
				wait(l)
				if after := time.Since(began); after > tt.at+100*time.Millisecond || l.Held() {
					t.Errorf("it is lost after %s, held: %t", after, l.Held())
				}
				n.set(-n.ahead)
				if err := stop(); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), tt.detail) || l.Held() {
					t.Errorf("it ends with %v, held: %t", err, l.Held())
				}
			})
		})
	}
}

// A lease ends even if its holder never checks.
func TestOverWithoutKeep(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		l, _ := took(t, n.claim(&paperFile{}, ""))
		n.freeze(26 * time.Second)
		if n.thaw(); l.Held() {
			t.Error("it is held after a pause that is longer")
		}
	})
}

// A lease that is over when Keep is cancelled was lost, even if that has not been noticed.
func TestOverWhenKeepIsEnded(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		l, _ := took(t, n.claim(&paperFile{}, ""))
		stop := keep(t, l)
		synctest.Wait()
		n.set(time.Hour)
		if err := stop(); !errors.Is(err, ErrLost) || l.Held() {
			t.Errorf("it ends with %v, held: %t", err, l.Held())
		}
	})
}

// A brief loss of the connection has no cost.
func TestReconnected(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		l, _ := took(t, n.claim(&paperFile{}, ""))
		stop := keep(t, l)
		for range 100 {
			time.Sleep(3700 * time.Millisecond)
			n.reconnect()
		}
		if err := stop(); !errors.Is(err, context.Canceled) || !l.Held() {
			t.Errorf("it ends with %v", err)
		}
	})
}

// A holder writes its record again that the bucket has lost, and others do not get the shard meanwhile.
func TestWiped(t *testing.T) {
	for name, waits := range map[string]time.Duration{"others come late": time.Minute, "others come first": 0} {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				a, b := w.node("a"), w.node("b")
				l, _ := took(t, a.claim(&paperFile{}, ""))
				stop := keep(t, l)
				for range 10 {
					time.Sleep(time.Minute)
					w.wipe()
					time.Sleep(waits)
					var by *HeldError
					if _, err := Take(t.Context(), b.claim(&paperFile{any: true}, "")); !errors.As(err, &by) || by.Node != "a" {
						t.Errorf("another node is told %v", err)
					}
				}
				if err := stop(); !errors.Is(err, context.Canceled) || !l.Held() {
					t.Errorf("it ends with %v", err)
				}
			})
		})
	}
}

// After a reconnection no request is prepared before the record has been read.
func TestReady(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		l, _ := took(t, n.claim(&paperFile{}, ""))
		var reads atomic.Int64
		n.back = func(writes bool) bool {
			if !writes {
				reads.Add(1)
			}
			return false
		}
		stop := keep(t, l)
		for range 20 {
			time.Sleep(3700 * time.Millisecond)
			n.reconnect()
			before, began := reads.Load(), time.Now()
			if !l.Ready(t.Context()) || reads.Load() == before || time.Since(began) > time.Second {
				t.Errorf("after %s and %d reads", time.Since(began), reads.Load()-before)
			}
		}
		n.reconnect()
		n.leave(5 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if l.Ready(ctx) || !l.Held() {
			t.Error("ready without a connection")
		}
		time.Sleep(time.Minute)
		n.reconnect()
		w.place(record{State: held, Node: "x", Opening: make([]byte, 16), Random: "other"}.encode())
		if l.Ready(t.Context()) {
			t.Error("ready although the shard is another node's")
		}
		if err := stop(); !errors.Is(err, ErrLost) {
			t.Errorf("it ends with %v", err)
		}
	})
}

// A reconnection to the same bucket does not prolong a watch.
func TestReconnectedWhileWatching(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.place(record{State: held, Node: "x", Opening: make([]byte, 16), Random: "other"}.encode())
		n := w.node("a")
		for wait := range 5 {
			time.AfterFunc(time.Duration(wait+1)*5*time.Second, n.reconnect)
		}
		var waits []Wait
		c := n.claim(&paperFile{any: true}, "")
		c.Waits = func(w Wait) { waits = append(waits, w) }
		if _, after := took(t, c); !within(after, 30*time.Second) {
			t.Errorf("it took %s", after)
		}
		if len(waits) != 1 || waits[0] != (Wait{"x", 30 * time.Second}) {
			t.Errorf("it waits for %v", waits)
		}
	})
}

// A claim that was not acknowledged begins no lease, because the bucket may lose it.
func TestClaimWithoutAnswer(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.place(record{State: free, Opening: make([]byte, 16), Random: "other"}.encode())
		n := w.node("a")
		var writes atomic.Int64
		n.back = func(wrote bool) bool { return wrote && writes.Add(1) < 3 }
		file := &paperFile{any: true}
		if took(t, n.claim(file, "")); writes.Load() != 3 || len(file.openings) != 1 {
			t.Errorf("%d writes, %d openings", writes.Load(), len(file.openings))
		}
	})
}

// A bucket that returns to an old state between the watch and the claim grants nothing.
func TestSessionOfClaim(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		r := record{State: held, Node: "x", Opening: make([]byte, 16), Random: "other"}
		w.place(r.encode())
		n := w.node("a")
		w.copy()
		_, after := took(t, n.claim(&paperFile{any: true, begins: func() { w.putBack(); n.reconnect() }}, "id"))
		if !within(after, 60*time.Second) {
			t.Errorf("it took %s, want two watches", after)
		}
	})
}

// A late renewal of a node's own claim delays the next one. After a second one another process runs with its ID.
func TestRenewedLate(t *testing.T) {
	for _, times := range []int{1, 2} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				r := record{State: held, ID: "a", Instance: "a", Opening: make([]byte, 16), Random: "before"}
				w.place(r.encode())
				go func() {
					for n := range times {
						time.Sleep(5 * time.Second)
						r.Random = fmt.Sprint("late", n)
						w.place(r.encode())
					}
				}()
				began := time.Now()
				_, err := Take(t.Context(), w.node("a").claim(&paperFile{any: true}, ""))
				var by *HeldError
				switch took := time.Since(began); {
				case times > 1 && (!errors.As(err, &by) || by.ID != "a"):
					t.Errorf("it ends with %v", err)
				case times == 1 && (err != nil || !within(took, 35*time.Second)):
					t.Errorf("taken after %s, %v", took, err)
				}
			})
		})
	}
}

// A bucket that does not answer, or answers incorrectly, is an error.
func TestTakeFails(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		n := w.node("a")
		n.leave(24 * time.Hour)
		began := time.Now()
		_, err := Take(t.Context(), n.claim(&paperFile{}, ""))
		if after := time.Since(began); err == nil || after < 30*time.Second || after > 40*time.Second {
			t.Errorf("after %s: %v", after, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Take(ctx, n.claim(&paperFile{}, "")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("it ends with %v", err)
		}
	})
	for _, text := range []string{"", "{}", `{"state":"held"}`, `{"state":"free","opening":"AAAA"}`, `{"state":"empty"} {}`,
		`{"state":"empty","more":1}`, `{"state":"empty","node":"` + strings.Repeat("x", maxRecord) + `"}`} {
		in(t, func(t *testing.T, w *world) {
			w.place([]byte(text))
			file := &paperFile{any: true}
			if _, err := Take(t.Context(), w.node("a").claim(file, "")); err == nil || len(file.openings) > 0 {
				t.Errorf("%.40s: %v, %d openings", text, err, len(file.openings))
			}
		})
	}
}

// FuzzRecord: decoding and encoding a record is lossless.
func FuzzRecord(f *testing.F) {
	since := time.Unix(1e9, 0).UTC()
	f.Add(record{State: held, Node: "a", Opening: make([]byte, 16), Since: since, Random: "x"}.encode())
	f.Add([]byte(`{"state":"empty","since":"9999-12-31T23:59:59-23:00"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decode(text)
		if err != nil {
			return
		}
		if again, err := decode(r.encode()); err == nil && (again.Random != r.Random || !again.Since.Equal(r.Since) ||
			again.Node != r.Node || again.File != r.File || again.Commit != r.Commit) {
			t.Errorf("%+v is read as %+v", r, again)
		}
	})
}
