package exchange

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A scripted carrier answers with a function.
type scripted func(l letter) (answer, error)

func (f scripted) Ask(_ context.Context, to int, text []byte) ([]byte, error) {
	l, err := decodeLetter(text)
	if err != nil || to != 1 || l.To != 1 || l.From != 0 {
		return nil, fmt.Errorf("letter from %d to %d, %d: %w", l.From, l.To, to, err)
	}
	a, err := f(l)
	return strictjson.Encode(a), err
}

// here is the peer's opening; elsewhere is another one.
func here() []byte      { return []byte("the peer's one..") }
func elsewhere() []byte { return []byte("another opening.") }

// Only confirmation that the letter was applied, in the opening asked about, removes anything from the
// outbox.
func TestSenderBelieves(t *testing.T) {
	for name, v := range map[string]struct {
		answer answer
		err    error
		left   int
	}{
		"done":             {answer{Verdict: done, Opening: here(), Commit: 9}, nil, 0},
		"done elsewhere":   {answer{Verdict: done, Opening: elsewhere(), Commit: 9}, nil, 2},
		"later":            {answer{Verdict: later, Opening: here(), Commit: 9}, nil, 2},
		"older":            {answer{Verdict: older, Opening: here(), Commit: 9}, nil, 2},
		"moved":            {answer{Verdict: moved, Opening: elsewhere(), Commit: 9}, nil, 2},
		"refused":          {answer{Verdict: refused}, nil, 2},
		"contains":         {answer{Verdict: contains, Opening: here(), Commit: 9}, nil, 2},
		"something":        {answer{Verdict: "x", Opening: here(), Commit: 9}, nil, 2},
		"half an opening":  {answer{Verdict: done, Opening: here()[:3], Commit: 9}, nil, 2},
		"nothing":          {answer{}, ErrNobody, 2},
		"done, but failed": {answer{Verdict: done, Opening: here(), Commit: 9}, ErrNobody, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShard(t, "/1", "/2")
			sent := 0
			sender := NewSender(s, scripted(func(l letter) (answer, error) {
				if len(l.Referrals) == 0 {
					return answer{Verdict: lacks, Opening: here(), Commit: 1}, nil
				}
				sent++
				if schema.Opening(l.Opening) != schema.Opening(here()) || len(l.Referrals) != 2 || l.Run != 3 {
					t.Errorf("letter %+v", l)
				}
				return v.answer, v.err
			}), 1)
			steps(t, sender, 2)
			if s.marked() != v.left || sent != 1 {
				t.Errorf("%d pages are left after %d letters, want %d", s.marked(), sent, v.left)
			}
			want := schema.Peer{}
			if v.left == 0 {
				want = schema.Peer{Opening: schema.Opening(here()), Commit: 9}
			}
			if got := s.peer(); got != want {
				t.Errorf("the peer is %+v, want %+v", got, want)
			}
		})
	}
}

// A shard that is not crawling receives no referrals, and is not asked in vain.
func TestNotNow(t *testing.T) {
	s := newShard(t, "/1")
	peer := scripted(func(letter) (answer, error) { return decodeAnswer(NotNow()) })
	if p := steps(t, NewSender(s, peer, 1), 2); p != Stuck || s.marked() != 1 || s.peer() != (schema.Peer{}) {
		t.Errorf("progress %d, %d left, the peer is %+v", p, s.marked(), s.peer())
	}
	e := ring.Errand{To: 1, URL: "https://a.test/robots.txt"}
	if r, known, err := Inquire(t.Context(), s, peer, e, 0, free); known || err != nil {
		t.Errorf("report %+v, %v, %v", r, known, err)
	}
}

func (s *testShard) peer() (p schema.Peer) {
	s.t.Helper()
	if err := s.store.View(func(tx *kv.Tx) (err error) { p, err = tx.Peers.At(1); return err }); err != nil {
		s.t.Fatal(err)
	}
	return p
}

func steps(t *testing.T, s *Sender, n int) (p Progress) {
	t.Helper()
	for range n {
		var err error
		if p, err = s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// What changes while a letter is under way is sent by the next one.
func TestSenderKeepsWhatChanged(t *testing.T) {
	s := newShard(t, "/1", "/2")
	letters := 0
	sender := NewSender(s, scripted(func(l letter) (answer, error) {
		if len(l.Referrals) == 0 {
			return answer{Verdict: contains, Opening: here()}, nil
		}
		if letters++; letters == 1 {
			s.update(func(tx *kv.Tx) error { tx.Outbox.Mark(s.pages[1]); return s.meet(tx, "/3") })
		}
		return answer{Verdict: done, Opening: here(), Commit: uint64(10 - letters)}, nil
	}), 1)
	steps(t, sender, 2)
	if s.marked() != 2 {
		t.Errorf("%d pages are left, want 2", s.marked())
	}
	if p := steps(t, sender, 2); p != Idle || s.marked() != 0 || letters != 2 {
		t.Errorf("%d pages are left after %d letters", s.marked(), letters)
	}
	if got, want := s.peer(), (schema.Peer{Opening: schema.Opening(here()), Commit: 9}); got != want {
		t.Errorf("the peer is %+v, want %+v: the highest commit", got, want)
	}
}

// A peer that has lost what it acknowledged is sent everything again, even by a sender of a later process;
// one that has not is sent nothing.
func TestSenderTellsAgain(t *testing.T) {
	s := newShard(t, "/1", "/2", "/3")
	told, verdictNow := 0, contains
	carrier := scripted(func(l letter) (answer, error) {
		if len(l.Referrals) == 0 {
			return answer{Verdict: verdictNow, Opening: here(), Commit: 7}, nil
		}
		told += len(l.Referrals)
		return answer{Verdict: done, Opening: here(), Commit: 7}, nil
	})
	steps(t, NewSender(s, carrier, 1), 3)
	if ok, err := NewSender(s, carrier, 1).Confirm(t.Context()); !ok || err != nil || told != 3 || s.marked() != 0 {
		t.Fatalf("a peer that has all is confirmed: %t, %v; it was told %d", ok, err, told)
	}
	verdictNow = lacks
	ok, err := NewSender(s, carrier, 1).Confirm(t.Context())
	if ok || err != nil || s.peer() != (schema.Peer{Cursor: 1}) {
		t.Fatalf("a peer that lacks something is confirmed: %t, %v, %+v", ok, err, s.peer())
	}
	steps(t, NewSender(s, carrier, 1), 1)
	if _, more := s.store.Marked(1); !more {
		t.Error("the cursor is at its end")
	}
	if p := steps(t, NewSender(s, carrier, 1), 6); p != Idle || told != 6 || s.marked() != 0 {
		t.Errorf("it was told %d in all, %d are left", told, s.marked())
	}
}

// If sending again restarts while a part is being marked, it starts at the first page.
func TestSenderBeginsAnew(t *testing.T) {
	s := newShard(t, "/1", "/2", "/3")
	s.update(func(tx *kv.Tx) error { return tx.Peers.Put(1, schema.Peer{Cursor: 3}) })
	again := &againShard{testShard: s}
	if p := steps(t, NewSender(again, nil, 1), 1); p != Went || s.peer() != (schema.Peer{Cursor: 1}) {
		t.Errorf("%v, the peer is %+v", p, s.peer())
	}
	if p := steps(t, NewSender(s, nil, 1), 1); p != Went || s.peer() != (schema.Peer{Cursor: 2}) {
		t.Errorf("%v, the peer is %+v", p, s.peer())
	}
}

// An againShard restarts sending just before it writes.
type againShard struct{ *testShard }

func (s *againShard) Update(f func(*kv.Tx) error) error {
	s.update(func(tx *kv.Tx) error { return tx.Peers.Put(1, schema.Peer{Cursor: 1}) })
	return s.testShard.Update(f)
}

// A sender retries while the peer does not answer, waits for more when everything is sent, and ends with its
// context.
func TestSenderRuns(t *testing.T) {
	s := newShard(t, "/1")
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var tries atomic.Int64
		carrier := scripted(func(l letter) (answer, error) {
			if tries.Add(1) < 6 {
				return answer{}, ErrNobody
			}
			said := map[bool]verdict{true: lacks, false: done}[len(l.Referrals) == 0]
			return answer{Verdict: said, Opening: here(), Commit: 1},
				nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		changed, ended := make(chan struct{}), make(chan error)
		go func() {
			ended <- NewSender(s, carrier, 1).Run(ctx, changed, Pace{time.Second, time.Second, 4 * time.Second})
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.marked() != 0 || tries.Load() != 7 {
			t.Errorf("%d pages are left after %d tries and %s", s.marked(), tries.Load(), time.Since(begun))
		}
		s.update(func(tx *kv.Tx) error { return s.meet(tx, "/2") })
		changed <- struct{}{}
		synctest.Wait()
		if s.marked() != 0 || tries.Load() != 8 {
			t.Errorf("%d pages are left after %d tries", s.marked(), tries.Load())
		}
		for _, page := range []string{"/3", "/4"} {
			s.update(func(tx *kv.Tx) error { return s.meet(tx, page) })
		}
		if synctest.Wait(); s.marked() != 2 || tries.Load() != 8 {
			t.Errorf("soon after a letter %d pages are left after %d tries", s.marked(), tries.Load())
		}
		time.Sleep(time.Second)
		if synctest.Wait(); s.marked() != 0 || tries.Load() != 9 {
			t.Errorf("after that %d pages are left after %d tries", s.marked(), tries.Load())
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v", err)
		}
	})
}
