package hub

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/crawl/cluster/lease"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema"
)

// serve echoes the letters to shard 3 until it is stopped.
func serve(
	t *testing.T, b *Bucket, opening schema.Opening, held func() bool,
) (letters *atomic.Int32, end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	letters = &atomic.Int32{}
	ended := make(chan error, 1)
	go func() {
		answer := func(_ context.Context, _ string, text []byte) ([]byte, error) {
			letters.Add(1)
			return text, nil
		}
		ended <- b.Serve(ctx, Post{Shard: 3, Opening: opening, Held: held, Lanes: twoLanes(), Answer: answer})
	}()
	end = func() error { cancel(); return <-ended }
	t.Cleanup(func() { cancel() })
	return letters, end
}

// claimed makes the bucket name an opening of shard 3. No other node wants the shard, so the hub may be slow.
func claimed(t *testing.T, b *Bucket, opening schema.Opening) {
	t.Helper()
	c := claim(b, "n", lease.Timing{Watch: time.Second, Trust: time.Minute, Renew: 2 * time.Second, Jump: time.Minute})
	c.File = file{opening}
	eventually(t, func(context.Context) error {
		_, err := lease.Take(t.Context(), c) // its record remains
		return err
	})
}

func always() bool { return true }

// twoLanes returns the lanes of two senders, each with eight messages answered at a time.
func twoLanes() map[string]int { return map[string]int{"a": 8, "b": 8} }

// Letters of every size reach the shard in the opening that its lease names, and no other.
func TestCarrier(t *testing.T) {
	t.Parallel()
	url := start(t, Options{}).URL()
	a, b := bucket(t, url), bucket(t, url)
	carrier := a.Carrier()
	if _, err := carrier.Ask(t.Context(), "a", 3, []byte("x")); !errors.Is(err, exchange.ErrNobody) {
		t.Errorf("a shard that nobody has: %v", err)
	}
	one, two := schema.Opening{1}, schema.Opening{2}
	claimed(t, b, one)
	if _, err := carrier.Ask(t.Context(), "a", 3, []byte("x")); !errors.Is(err, exchange.ErrNobody) {
		t.Errorf("a shard that does not listen: %v", err)
	}
	first, end := serve(t, b, one, always)
	for _, size := range []int{0, 1, 1000, exchange.MaxLetter} {
		letter := bytes.Repeat([]byte("x"), size)
		eventually(t, func(ctx context.Context) error {
			got, err := carrier.Ask(ctx, "a", 3, letter)
			if err == nil && !bytes.Equal(got, letter) {
				t.Errorf("a letter of %d bytes is answered with %d", size, len(got))
			}
			return err
		})
	}
	if _, err := carrier.Ask(t.Context(), "a", 3, make([]byte, exchange.MaxLetter+1)); err == nil {
		t.Error("a letter is carried that is too long")
	}
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	claimed(t, b, two)
	second, _ := serve(t, b, two, always)
	before, asked := first.Load(), int32(0)
	eventually(t, func(ctx context.Context) error { asked++; _, err := carrier.Ask(ctx, "a", 3, nil); return err })
	if first.Load() != before || second.Load() == 0 || second.Load() > asked {
		t.Errorf("of %d letters %d reach the first opening, and %d the second", asked, first.Load()-before,
			second.Load())
	}
}

// A node that has lost the shard neither applies a letter nor answers one already applied.
func TestLostShardIsSilent(t *testing.T) {
	t.Parallel()
	b := bucket(t, start(t, Options{}).URL())
	claimed(t, b, schema.Opening{1})
	for _, looks := range []int32{0, 1} {
		var looked atomic.Int32
		letters, end := serve(t, b, schema.Opening{1}, func() bool { return looked.Add(1) <= looks })
		eventually(t, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			if _, err := b.Carrier().Ask(ctx, "a", 3, nil); !errors.Is(err, exchange.ErrNobody) {
				t.Fatalf("held for %d looks: %v", looks, err)
			}
			if looked.Load() <= looks {
				return errors.New("nobody has come to the last look yet")
			}
			return nil
		})
		if letters.Load() != looks {
			t.Errorf("held for %d looks it applies %d letters", looks, letters.Load())
		}
		_ = end()
	}
}

// A message that is not answered does not block others.
func TestFailedAnswer(t *testing.T) {
	t.Parallel()
	b := bucket(t, start(t, Options{}).URL())
	claimed(t, b, schema.Opening{1})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- b.Serve(ctx, Post{Shard: 3, Opening: schema.Opening{1}, Held: always, Lanes: twoLanes(),
			Answer: func(ctx context.Context, _ string, text []byte) ([]byte, error) {
				switch string(text) {
				case "fail":
					return nil, errors.New("broken")
				case "wait":
					<-ctx.Done()
				}
				return text, ctx.Err()
			}})
	}()
	carrier := b.Carrier()
	eventually(t, func(ctx context.Context) error { _, err := carrier.Ask(ctx, "a", 3, []byte("x")); return err })
	for _, text := range []string{"fail", "wait"} {
		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := carrier.Ask(short, "a", 3, []byte(text)); !errors.Is(err, exchange.ErrNobody) {
			t.Errorf("%s: %v", text, err)
		}
		cancel()
	}
	if answer, err := carrier.Ask(t.Context(), "a", 3, []byte("x")); err != nil || string(answer) != "x" {
		t.Errorf("after that: %q, %v", answer, err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
}

// While the connection is broken, a letter fails at once and is not sent later.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	w := crawltest.NewWire(t, s.nats.Addr().String())
	near, far := bucket(t, "nats://"+w.Addr()), bucket(t, s.URL())
	claimed(t, far, schema.Opening{1})
	letters, _ := serve(t, far, schema.Opening{1}, always)
	carrier := near.Carrier()
	eventually(t, func(ctx context.Context) error { _, err := carrier.Ask(ctx, "a", 3, nil); return err })
	w.Cut(true)
	eventually(t, func(context.Context) error {
		if near.conn.nats.IsConnected() {
			return errors.New("it is connected")
		}
		return nil
	})
	before := letters.Load()
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		if _, err := carrier.Ask(ctx, "a", 3, nil); !errors.Is(err, exchange.ErrNobody) {
			t.Errorf("over a broken connection: %v", err)
		}
		if _, err := near.Update(ctx, Key(3), nil, 1); err == nil {
			t.Error("a record is written over a broken connection")
		}
		cancel()
	}
	w.Cut(false)
	asked := int32(0) // more than once if an answer is late
	eventually(t, func(ctx context.Context) error { asked++; _, err := carrier.Ask(ctx, "a", 3, nil); return err })
	if n := letters.Load() - before; n == 0 || n > asked {
		t.Errorf("%d letters arrive, of %d since the connection is there again", n, asked)
	}
}

// A receiver works again after its connection or the hub was away.
func TestReceiverComesBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b, other := bucket(t, s.server.URL()), bucket(t, s.server.URL())
	claimed(t, b, schema.Opening{1})
	letters, _ := serve(t, b, schema.Opening{1}, always)
	carrier := other.Carrier()
	ask := func(ctx context.Context) error { _, err := carrier.Ask(ctx, "a", 3, nil); return err }
	eventually(t, ask)
	s.restart()
	eventually(t, ask)
	if letters.Load() < 2 {
		t.Errorf("%d letters arrived", letters.Load())
	}
}
