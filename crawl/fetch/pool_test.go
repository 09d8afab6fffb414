package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A counted connection is counted as open until it is closed.
type counted struct {
	net.Conn
	once sync.Once
	open *atomic.Int64
}

func (c *counted) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// serveKept serves 404s over connections that are kept open.
func serveKept(t *testing.T) (addr string) {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// The connections kept by several clients are limited together, including those being made.
func TestPoolBound(t *testing.T) {
	const most = 4
	addr := serveKept(t)
	var open atomic.Int64
	dial := func(ctx context.Context, _ netip.AddrPort, _ bool) (net.Conn, error) {
		if n := open.Add(1); n > most {
			t.Errorf("%d connections are open while one of them is made", n)
		}
		c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		return &counted{Conn: c, open: &open}, err
	}
	lookup := func(context.Context, string) ([]netip.Addr, error) { return addresses("192.0.2.1"), nil }
	p := &Pool{MaxConns: most}
	for i := range 3 {
		c, err := p.Client(Config{UserAgent: fmt.Sprint(i), KeepAlive: true, MaxOpen: 1, dial: dial, lookup: lookup})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for host := range 3 {
			if _, err := do(c, t.Context(), Request{URL: fmt.Sprintf("http://%d.test/", host)}); err != nil {
				t.Fatal(err)
			}
			if n := open.Load(); n > most {
				t.Errorf("client %d keeps the connections open to %d", i, n)
			}
		}
	}
	if n := p.conns.Load(); n != open.Load() || n == 0 {
		t.Errorf("the pool counts %d connections, %d are open", n, open.Load())
	}
}

// A connection is reset when it is closed after an outage, and when its request is not answered in time: the
// peer receives nothing more from it.
func TestReset(t *testing.T) {
	tests := []struct {
		name    string
		timeout time.Duration
		end     func(*Pool, context.CancelFunc)
	}{
		{"outage", time.Minute, func(p *Pool, cancel context.CancelFunc) { p.Renew(); cancel() }},
		{"time-out", 50 * time.Millisecond, func(*Pool, context.CancelFunc) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// A busy machine may be slow to send a request.
			for timeout := tt.timeout; !endsReset(t, timeout, tt.end); timeout *= 2 {
				if timeout > time.Minute {
					t.Fatalf("nothing is asked within %v", timeout)
				}
			}
		})
	}
}

// endsReset ends a request and expects a reset. It returns false if the request timed out before it
// was sent.
func endsReset(t *testing.T, timeout time.Duration, end func(*Pool, context.CancelFunc)) (asked bool) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	peers := make(chan net.Conn, 1)
	dial := func(ctx context.Context, _ netip.AddrPort, _ bool) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
		if err != nil {
			return nil, err
		}
		peer, err := listener.Accept()
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		t.Cleanup(func() { peer.Close() })
		peers <- peer
		return c, nil
	}
	lookup := func(context.Context, string) ([]netip.Addr, error) { return addresses("192.0.2.1"), nil }
	p := new(Pool)
	c, err := p.Client(Config{MaxOpen: 1, Timeout: timeout, dial: dial, lookup: lookup})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := do(c, ctx, Request{URL: "http://a.test/"})
		ended <- err
	}()
	var peer net.Conn
	select {
	case peer = <-peers:
	case <-ended:
		return false
	}
	if _, err := peer.Read(make([]byte, 1)); err != nil {
		<-ended
		return false
	}
	end(p, cancel)
	if err := <-ended; err == nil {
		t.Error("the request was answered")
	}
	if _, err := io.Copy(io.Discard, peer); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the connection ended with %v; want a reset", err)
	}
	return true
}

// The number of idle connections depends on that of possible open requests, and leaves enough
// descriptors for them.
func TestIdleConns(t *testing.T) {
	for _, tt := range []struct{ open, conns, want int }{
		{1, 0, 64}, {10, 0, 160}, {100, 0, 1024}, {5000, 0, 5000}, {5000, 20_000, 5000}, {9000, 12_000, 3000},
		{10, 12, 2},
		{10, 10, 1},
	} {
		if got := idleConns(&Config{MaxOpen: tt.open, MaxConns: tt.conns}); got != tt.want {
			t.Errorf("%d open of %d connections: %d idle, want %d", tt.open, tt.conns, got, tt.want)
		}
	}
}

// A client has no more open requests than its pool allows, whatever its configuration.
func TestPoolOpen(t *testing.T) {
	p := &Pool{MaxConns: 100, MaxOpen: 40}
	c, err := p.Client(Config{MaxOpen: 9000})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.transport.MaxIdleConns; got != 60 {
		t.Errorf("%d idle connections, want 60", got)
	}
}

// A changed memory limit applies to the next user, even if everything else is equal.
func TestPoolLimitBodies(t *testing.T) {
	var p Pool
	var clients []*Client
	for _, size := range []int64{8, 8, 4} {
		p.LimitBodies(size)
		c, err := p.Client(Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if c.budget.size != size {
			t.Errorf("bodies may have %d bytes, want %d", c.budget.size, size)
		}
		clients = append(clients, c)
	}
	if clients[0] != clients[1] || clients[1] == clients[2] {
		t.Error("who has the same limit shares a client, and nobody else")
	}
}
