package webhook

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A receiver gives its answers in turn, repeating the last one, and records what it receives.
type receiver struct {
	answers []Answer
	got     []schema.Message
	at      []time.Time
	takes   time.Duration // to answer
}

func (r *receiver) post(ctx context.Context, _ *target, m *schema.Message) Answer {
	a := r.answers[min(len(r.got), len(r.answers)-1)]
	r.got, r.at = append(r.got, *m), append(r.at, time.Now())
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return Answer{RetryAfter: -1}
	}
	return a
}

// gaps returns the times between the messages received.
func (r *receiver) gaps() (all []time.Duration) {
	for i := 1; i < len(r.at); i++ {
		all = append(all, r.at[i].Sub(r.at[i-1]).Round(lookEvery))
	}
	return all
}

func status(code int) Answer { return Answer{Status: code, RetryAfter: -1} }

func newSender(t testing.TB, cfg *config.Config, r *receiver) *Sender {
	t.Helper()
	s, err := New(cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	s.post = r.post
	return s
}

// runFor runs a sender for a given time.
func runFor(t testing.TB, s *Sender, box Box, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := s.Run(ctx, box); err != nil {
		t.Fatal(err)
	}
}

func addRun(t testing.TB, box Box, cfg *config.Config) {
	t.Helper()
	update(t, box, func(tx *kv.Tx) error { return Add(tx, cfg, RunCompleted, nil) })
}

// A receiver that always fails is tried ten times in three days, always with the same message. Every answer
// except 2xx and 410 is a failure.
func TestTenTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answers: []Answer{{RetryAfter: -1}, status(302), status(404), status(500), status(199),
			status(503)}}
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		addRun(t, store, cfg)
		runFor(t, newSender(t, cfg, r), store, 5*24*time.Hour)
		if diff := cmp.Diff(delays(), r.gaps()); diff != "" {
			t.Error(diff)
		}
		for i, m := range r.got {
			if m.ID != r.got[0].ID || string(m.Body) != string(r.got[0].Body) || m.Tries != i+1 {
				t.Errorf("try %d: %+v", i+1, m)
			}
		}
		if left := waiting(t, store); len(left) != 0 {
			t.Errorf("%d messages are left", len(left))
		}
	})
}

// Looking at messages that are not due reads no bodies, and a due message reads only its own.
func TestLookReadsNoBodies(t *testing.T) {
	cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
	update(t, store, func(tx *kv.Tx) (err error) {
		for range 100 {
			m := schema.Message{ID: "msg_a", Kind: RunCompleted, Tries: 1, Next: time.Now().Add(time.Hour),
				Body: make([]byte, 100_000)}
			err = errors.Join(err, tx.Messages.Put(&m))
		}
		return err
	})
	s := newSender(t, cfg, &receiver{answers: []Answer{status(500)}})
	looks := func() (due *schema.Message, bytes uint64) {
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		due, err := s.claim(store, false, true)
		if err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&is)
		return due, is.TotalAlloc - was.TotalAlloc
	}
	if due, bytes := looks(); due != nil || bytes > 50_000 {
		t.Errorf("message %v is due, and %d bytes were read to know that", due, bytes)
	}
	addRun(t, store, cfg)
	if due, bytes := looks(); due == nil || due.Seq != 101 || bytes > 500_000 {
		t.Errorf("%d bytes were read to find what is due: %+v", bytes, due)
	}
}

// Retry-After postpones a try, by at most a day, but never advances one.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asks := func(d time.Duration) Answer { return Answer{Status: 429, RetryAfter: d} }
		r := &receiver{answers: []Answer{asks(time.Minute), asks(time.Second), asks(1 << 62), status(204)}}
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		addRun(t, store, cfg)
		runFor(t, newSender(t, cfg, r), store, 3*24*time.Hour)
		want := []time.Duration{time.Minute, 5 * time.Minute, 24 * time.Hour}
		if diff := cmp.Diff(want, r.gaps()); diff != "" {
			t.Error(diff)
		}
		if left := waiting(t, store); len(left) != 0 {
			t.Errorf("%d messages are left", len(left))
		}
	})
}

// 410 finishes all messages for that address, permanently; a new address starts over.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &receiver{answers: []Answer{status(410), status(204)}}
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		addRun(t, store, cfg)
		addRun(t, store, cfg)
		s := newSender(t, cfg, r)
		runFor(t, s, store, time.Minute)
		addRun(t, store, cfg)
		if len(r.got) != 1 || len(waiting(t, store)) != 0 {
			t.Errorf("%d sent, %d wait", len(r.got), len(waiting(t, store)))
		}
		other := configured(t, "https://other.test/", "", secret(0))
		if err := s.Follow(other); err != nil {
			t.Fatal(err)
		}
		addRun(t, store, other)
		runFor(t, s, store, time.Minute)
		if len(r.got) != 2 || len(waiting(t, store)) != 0 {
			t.Errorf("another address: %d sent, %d wait", len(r.got), len(waiting(t, store)))
		}
	})
}

// That an address has answered 410 in an earlier crawl is told once, even if the crawl ends before Run can look.
func TestToldOfGone(t *testing.T) {
	cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
	update(t, store, func(tx *kv.Tx) error { return tx.Meta.Put(metaEnded, []byte(cfg.Monitor.Webhook)) })
	for _, tt := range []struct {
		name string
		runs bool
	}{{"run and flush", true}, {"flush alone", false}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var text strings.Builder
				s, err := New(cfg, slog.New(slog.NewTextHandler(&text, nil)))
				if err != nil {
					t.Fatal(err)
				}
				if tt.runs {
					runFor(t, s, store, time.Minute)
				}
				if _, err := s.Flush(t.Context(), store); err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(text.String(), "has answered 410 Gone"); n != 1 {
					t.Errorf("it is told %d times: %s", n, text.String())
				}
			})
		})
	}
}

// cutBox loses its writes from a given transaction on, like a kill.
type cutBox struct {
	*kv.Store
	left int
}

var errKilled = errors.New("killed")

func (b *cutBox) Update(f func(*kv.Tx) error) error {
	if b.left--; b.left < 0 {
		return errKilled
	}
	return b.Store.Update(f)
}

// A kill at any point (before a try is recorded, before it is sent, or before its answer is recorded) loses
// no message, and repeats it with the same id and body.
func TestKilledSender(t *testing.T) {
	for kept := range 4 {
		synctest.Test(t, func(t *testing.T) {
			cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
			for range 3 {
				addRun(t, store, cfg)
			}
			want := waiting(t, store)
			r := &receiver{answers: []Answer{status(204)}}
			if err := newSender(t, cfg, r).Run(t.Context(), &cutBox{store, kept}); !errors.Is(err, errKilled) {
				t.Fatalf("Run = %v", err)
			}
			path := store.Path()
			store.Close()
			store = crawltest.Open(t, path)
			runFor(t, newSender(t, cfg, r), store, time.Minute)
			if n := len(waiting(t, store)); n != 0 {
				t.Errorf("%d transactions: %d messages are left", kept, n)
			}
			for _, m := range want {
				sent := slices.DeleteFunc(slices.Clone(r.got), func(g schema.Message) bool { return g.ID != m.ID })
				for _, g := range sent {
					if string(g.Body) != string(m.Body) {
						t.Errorf("%d transactions: another body", kept)
					}
				}
				if len(sent) == 0 || len(sent) > 2 {
					t.Errorf("%d transactions: a message was sent %d times", kept, len(sent))
				}
			}
		})
	}
}

// A box that cannot be written at the moment does not end the sender.
func TestBoxLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		addRun(t, store, cfg)
		r := &receiver{answers: []Answer{status(204)}}
		runFor(t, newSender(t, cfg, r), laterBox{store, time.Now().Add(time.Minute)}, 2*time.Minute)
		if len(r.got) != 1 || len(waiting(t, store)) != 0 {
			t.Errorf("%d sent, %d wait", len(r.got), len(waiting(t, store)))
		}
	})
}

type laterBox struct {
	*kv.Store
	until time.Time
}

func (b laterBox) Update(f func(*kv.Tx) error) error {
	if time.Now().Before(b.until) {
		return ErrLater
	}
	return b.Store.Update(f)
}

// At the end of a crawl, gathered hosts are sent at once, a failure is retried while there is time, and a
// receiver that does not answer is not waited for any longer.
func TestFlush(t *testing.T) {
	tests := []struct {
		name       string
		r          receiver
		sent, left int
		took       time.Duration
	}{
		{"taken", receiver{answers: []Answer{status(204)}}, 2, 0, 0},
		{"taken at the second try", receiver{answers: []Answer{status(500), status(204)}}, 3, 0, 5 * time.Second},
		{"never taken", receiver{answers: []Answer{status(500)}}, 4, 2, 5 * time.Second},
		{"never answered", receiver{answers: []Answer{status(204)}, takes: time.Hour}, 1, 2, 30 * time.Second},
		{"slow", receiver{answers: []Answer{status(204)}, takes: 20 * time.Second}, 2, 1, 30 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
				addRun(t, store, cfg)
				update(t, store, func(tx *kv.Tx) error { return AddHosts(tx, cfg, 1, HostGivenUp, hostsFrom(0, 1)) })
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				began := time.Now()
				left, err := newSender(t, cfg, &tt.r).Flush(ctx, store)
				if err != nil || left != tt.left || len(tt.r.got) != tt.sent || time.Since(began) != tt.took {
					t.Errorf("%d left, %v; %d sent in %v", left, err, len(tt.r.got), time.Since(began))
				}
			})
		})
	}
}

// A try that the end of a run interrupts does not postpone the message: the final flush sends it, even if the
// receiver refuses it once.
func TestCutShort(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  int // tries that the receiver answers before the interrupted one
		answers []Answer
	}{
		{"the second try", 1, []Answer{status(503), status(204)}},
		{"the first try", 0, []Answer{status(204)}},
		{"the first try, and the next is refused", 0, []Answer{status(204), status(503), status(204)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
				addRun(t, store, cfg)
				r := &receiver{answers: tt.answers}
				s := newSender(t, cfg, r)
				if tt.before > 0 {
					runFor(t, s, store, time.Second)
				}
				r.takes = time.Hour
				runFor(t, s, store, 10*time.Second) // a try is under way at the end
				r.takes = 0
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				want := max(len(tt.answers), tt.before+2)
				if left, err := s.Flush(ctx, store); left != 0 || err != nil || len(r.got) != want {
					t.Errorf("%d left, %v; %d sent, want %d", left, err, len(r.got), want)
				}
			})
		})
	}
}

// A message whose first try was interrupted takes no further host: the receiver may have it.
func TestCutShortIsNotGathering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		add := func(from, to int) {
			update(t, store, func(tx *kv.Tx) error { return AddHosts(tx, cfg, 1, HostGivenUp, hostsFrom(from, to)) })
		}
		add(0, 10)
		s := newSender(t, cfg, &receiver{answers: []Answer{status(204)}, takes: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if left, err := s.Flush(ctx, store); left != 1 || err != nil {
			t.Fatalf("%d left, %v", left, err)
		}
		add(10, 20)
		all := waiting(t, store)
		if len(all) != 2 || all[0].Tries != 0 || len(told(t, all[0])) != 10 || len(told(t, all[1])) != 10 {
			t.Errorf("%d messages, the first with %d hosts", len(all), len(told(t, all[0])))
		}
	})
}

// An event from Tell is sent once and leaves no trace in the file.
func TestTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		r := &receiver{answers: []Answer{status(500)}}
		s := newSender(t, cfg, r)
		for range 100 { // more than the channel holds: Tell never blocks
			s.Tell(DiskLow, Disk{SubjectOf(cfg, 0), 5})
		}
		commit := store.LastCommit()
		runFor(t, s, store, time.Hour)
		if len(r.got) != cap(s.told) || r.got[0].Kind != DiskLow || store.LastCommit() != commit {
			t.Errorf("%d sent", len(r.got))
		}
	})
}

// A clock that was set back by a year delays no message by a year.
func TestClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, store := configured(t, "https://hook.test/", "", secret(0)), newStore(t)
		addRun(t, store, cfg)
		m := waiting(t, store)[0]
		m.Next, m.Tries = m.Next.AddDate(1, 0, 0), 1
		update(t, store, func(tx *kv.Tx) error { return tx.Messages.Put(m) })
		r := &receiver{answers: []Answer{status(204)}}
		runFor(t, newSender(t, cfg, r), store, time.Minute)
		if len(r.got) != 1 {
			t.Errorf("%d sent", len(r.got))
		}
	})
}
