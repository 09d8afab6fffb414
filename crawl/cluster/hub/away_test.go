package hub

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/cluster/exchange"
)

// A connection knows since when the hub has been away, says so without the words of the client library, and notices
// when it is back.
func TestAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := bucket(t, s.server.URL())
	if _, err := b.Session(t.Context()); err != nil || !b.conn.Away().IsZero() {
		t.Fatalf("a hub that is there is away since %v, %v", b.conn.Away(), err)
	}
	before := time.Now()
	s.stop()
	ask := map[string]func(context.Context) error{
		"session": func(ctx context.Context) error { _, err := b.Session(ctx); return err },
		"read":    func(ctx context.Context) error { _, err := b.Get(ctx, "k"); return err },
		"create":  func(ctx context.Context) error { _, err := b.Create(ctx, "k", nil); return err },
		"update":  func(ctx context.Context) error { _, err := b.Update(ctx, "k", nil, 1); return err },
		"letter": func(ctx context.Context) error {
			_, err := b.Carrier().Ask(ctx, "a", 0, nil)
			if !errors.Is(err, exchange.ErrNobody) {
				t.Errorf("a letter fails with %v", err)
			}
			return err
		},
	}
	for name, f := range ask {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err := f(ctx)
		cancel()
		if !errors.Is(err, ErrAway) || strings.Contains(err.Error(), "nats") {
			t.Errorf("%s fails with %v", name, err)
		}
	}
	since := b.conn.Away()
	if since.Before(before) || time.Since(since) < 0 {
		t.Errorf("it is away since %v, and was stopped at %v", since, before)
	}
	if _, err := b.Get(t.Context(), "k"); err == nil || !b.conn.Away().Equal(since) {
		t.Errorf("it is away since %v after another question, and was since %v", b.conn.Away(), since)
	}
	s.server = start(t, s.options)
	eventually(t, func(ctx context.Context) error { _, err := b.Session(ctx); return err })
	if since := b.conn.Away(); !since.IsZero() {
		t.Errorf("a hub that is back is away since %v", since)
	}
}

// A caller that does not wait for the answer says nothing about the hub.
func TestAwayForACallerThatLeaves(t *testing.T) {
	t.Parallel()
	b := bucket(t, newSite(t).server.URL())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Get(ctx, "k"); !errors.Is(err, context.Canceled) || !b.conn.Away().IsZero() {
		t.Errorf("%v, away since %v", err, b.conn.Away())
	}
}

// A hub that has gone without breaking the connection is away soon, whatever the deadline of the caller.
func TestAwayWithoutAnswer(t *testing.T) {
	t.Parallel()
	address, mute := muted(t, newSite(t).options.Listen)
	b := bucket(t, "nats://"+address)
	mute()
	var asking sync.WaitGroup
	for name, f := range map[string]func(context.Context) error{
		"bucket":  func(ctx context.Context) error { _, err := b.conn.Bucket(ctx, [16]byte{7}); return err },
		"fresh":   func(ctx context.Context) error { _, err := b.Fresh(ctx); return err },
		"session": func(ctx context.Context) error { _, err := b.Session(ctx); return err },
		"read":    func(ctx context.Context) error { _, err := b.Get(ctx, "k"); return err },
		"create":  func(ctx context.Context) error { _, err := b.Create(ctx, "k", nil); return err },
		"update":  func(ctx context.Context) error { _, err := b.Update(ctx, "k", nil, 1); return err },
	} {
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := f(ctx); !errors.Is(err, ErrAway) || ctx.Err() != nil {
				t.Errorf("%s fails with %v, and its caller with %v", name, err, ctx.Err())
			}
		})
	}
	asking.Wait()
}

// muted returns the address of a relay to a server. After mute is called it takes everything and passes nothing on.
func muted(t *testing.T, server string) (address string, mute func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var silent atomic.Bool
	var relays sync.WaitGroup
	relay := func(to, from net.Conn) {
		defer to.Close()
		buffer := make([]byte, 4096)
		for {
			n, err := from.Read(buffer)
			if err == nil && !silent.Load() {
				_, err = to.Write(buffer[:n])
			}
			if err != nil {
				return
			}
		}
	}
	relays.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			hub, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			relays.Go(func() { relay(hub, client) })
			relays.Go(func() { relay(client, hub) })
		}
	})
	t.Cleanup(func() { l.Close(); relays.Wait() })
	return l.Addr().String(), func() { silent.Store(true) }
}
