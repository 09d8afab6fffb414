package hub

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
	"github.com/sumi-ripple/ripple/schema"
)

// A jam is a post whose first lane is stuck until it is released. It records the most that was open there.
type jam struct {
	Post
	release func()

	mu               sync.Mutex
	open, size       int
	mostOpen, mostIn int // messages, and their bytes
	full             []string
}

func newJam(t *testing.T) *jam {
	released := make(chan struct{})
	j := &jam{release: sync.OnceFunc(func() { close(released) })}
	t.Cleanup(j.release)
	j.Post = Post{Shard: 3, Opening: schema.Opening{1}, Held: always, Lanes: twoLanes(),
		Answer: func(ctx context.Context, lane string, message []byte) ([]byte, error) {
			if lane == "a" {
				defer j.enter(len(message))()
				<-released
			}
			return message, nil
		},
		OnFull: func(lane string) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.full = append(j.full, lane)
		}}
	return j
}

func (j *jam) enter(size int) (leave func()) {
	add := func(n, size int) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.open, j.size = j.open+n, j.size+size
		j.mostOpen, j.mostIn = max(j.mostOpen, j.open), max(j.mostIn, j.size)
	}
	add(1, size)
	return func() { add(-1, -size) }
}

// flood writes to a subject until it is stopped, at the latest when 500 messages have been refused.
func flood(t *testing.T, c *Conn, subject string, sizes ...int) (end func()) {
	t.Helper()
	var full atomic.Int64
	replies := c.nats.NewInbox()
	_, err := c.nats.Subscribe(replies, func(m *nats.Msg) {
		if m.Header.Get(isFull) != "" {
			full.Add(1)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ctx.Err() == nil; n++ {
			_ = c.nats.PublishRequest(subject, replies, make([]byte, sizes[n%len(sizes)]))
			if n%500 == 0 {
				_ = c.nats.Flush() // otherwise the hub would keep delivering for long
			}
		}
	}()
	return func() {
		t.Helper()
		eventually(t, func(context.Context) error {
			if n := full.Load(); n < 500 {
				return fmt.Errorf("%d messages are refused", n)
			}
			return nil
		})
		cancel()
		<-ended
	}
}

// A sender that floods a shard is refused at once and takes bounded space. Other lanes are unaffected;
// senders in the same lane are told to retry, and are answered when there is room.
func TestFlood(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]int{"small": {0, 10, 100}, "large": {exchange.MaxLetter, 100_000, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := start(t, Options{}).URL()
			b, stranger, carrier := bucket(t, url), connect(t, url), bucket(t, url).Carrier()
			claimed(t, b, schema.Opening{1})
			j := newJam(t)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- b.Serve(ctx, j.Post) }()
			eventually(t, func(ctx context.Context) error { _, err := carrier.Ask(ctx, "b", 3, nil); return err })

			end := flood(t, stranger, b.subject(3, schema.Opening{1}, "a"), sizes...)
			for n := range 100 {
				if _, err := carrier.Ask(t.Context(), "b", 3, make([]byte, n)); err != nil {
					t.Errorf("message %d in another lane: %v", n, err)
				}
			}
			end()
			eventually(t, func(ctx context.Context) error { // once the hub has delivered everything
				_, err := carrier.Ask(ctx, "a", 3, nil)
				if !errors.Is(err, errFull) || !errors.Is(err, exchange.ErrNobody) {
					return fmt.Errorf("in the lane that is full there is another answer: %w", err)
				}
				return nil
			})
			j.release()
			eventually(t, func(ctx context.Context) error { _, err := carrier.Ask(ctx, "a", 3, nil); return err })
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v", err)
			}
			if j.mostOpen > 8 || j.mostIn > maxRoom || len(j.full) != 1 || j.full[0] != "a" {
				t.Errorf("%d messages with %d bytes were open at a time, of lanes %q; want at most 8 with %d, of one",
					j.mostOpen,
					j.mostIn, j.full, maxRoom)
			}
		})
	}
}
