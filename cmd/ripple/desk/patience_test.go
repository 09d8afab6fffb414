package desk

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/schema/config"
)

// Pipes are connections without buffers, so they follow the time of a test.
type pipes struct {
	calls  chan net.Conn
	closed context.Context
	close  func()
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.calls:
		return c, nil
	case <-p.closed.Done():
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// call opens a connection.
func (p *pipes) call() net.Conn {
	mine, theirs := net.Pipe()
	p.calls <- theirs
	return mine
}

// inTime lets clients be as slow as they like, in fake time. At the end the desk must have no
// connections.
func inTime(t *testing.T, clients func(t *testing.T, d *Desk, p *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, err := Listen(Options{Monitor: config.Monitor{Listen: "127.0.0.1:0"},
			Routes: testRoutes(), Reader: testReader(), Live: &fakeLive{}, Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		d.listener.Listener.Close()
		ctx, cancel := context.WithCancel(t.Context())
		p := &pipes{make(chan net.Conn), ctx, cancel}
		d.listener.Listener = p
		var g errgroup.Group
		g.Go(func() error { return d.Serve(ctx) })
		clients(t, d, p)
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(d.listener.open); n != 0 {
			t.Errorf("%d connections are left", n)
		}
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func (d *Desk) get(path string) string {
	return "GET /api/v1/" + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + d.token + "\r\n\r\n"
}

// drip sends a byte a second until the connection is closed, and returns after how long.
func drip(c net.Conn) time.Duration {
	begun := time.Now()
	for {
		if _, err := io.WriteString(c, "x"); err != nil {
			return time.Since(begun).Truncate(time.Second)
		}
		time.Sleep(time.Second)
	}
}

// A client that does not complete its request is disconnected.
func TestSlowToAsk(t *testing.T) {
	tests := []struct {
		name, begin string
		want        time.Duration
	}{
		{"nothing", "", silence},
		{"headers", "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", silence},
		{"headers of an API", "GET /api/v1/now HTTP/1.1\r\nHost: localhost\r\nX: ", silence},
		{"a body", "POST /api/v1/change HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\n" +
			"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n", reading},
		{"a body without a token", "POST /api/v1/change HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", reading},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inTime(t, func(t *testing.T, d *Desk, p *pipes) {
				c := p.call()
				var g errgroup.Group
				g.Go(func() error { _, _ = io.Copy(io.Discard, c); return nil })
				if _, err := io.WriteString(c, strings.Replace(tt.begin, "TOKEN", d.token, 1)); err != nil {
					t.Fatal(err)
				}
				if got := drip(c); got < tt.want || got > tt.want+time.Second {
					t.Errorf("it is hung up on after %s, want %s", got, tt.want)
				}
				c.Close()
				_ = g.Wait()
			})
		})
	}
}

// A client that is idle between two requests is disconnected after a while.
func TestIdle(t *testing.T) {
	inTime(t, func(t *testing.T, d *Desk, p *pipes) {
		c := p.call()
		if _, err := io.WriteString(c, d.get("now")); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Error(err)
		}
		if got := time.Since(begun).Truncate(time.Second); got != idle {
			t.Errorf("it is hung up on after %s, want %s", got, idle)
		}
	})
}

// A client that does not read an answer, or a stream, is disconnected.
func TestTakesNothing(t *testing.T) {
	for _, path := range []string{"large", "events", "now"} {
		t.Run(path, func(t *testing.T) {
			inTime(t, func(t *testing.T, d *Desk, p *pipes) {
				c := p.call()
				if _, err := io.WriteString(c, d.get(path)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(stall + time.Second)
				if _, err := io.WriteString(c, d.get("now")); !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("it is still listened to: %v", err)
				}
			})
		})
	}
}

// A client that reads an answer slowly gets all of it, even if that takes half an hour.
func TestTakesSlowly(t *testing.T) {
	inTime(t, func(t *testing.T, d *Desk, p *pipes) {
		c := p.call()
		if _, err := io.WriteString(c, d.get("large")); err != nil {
			t.Fatal(err)
		}
		got, begun := 0, time.Now()
		for part := make([]byte, 256<<10); got < largeBytes; time.Sleep(7 * time.Second) {
			n, err := io.ReadFull(c, part)
			if got += n; err != nil {
				t.Fatalf("after %d bytes in %s: %v", got, time.Since(begun), err)
			}
		}
		c.Close()
	})
}

// An answer may take long.
func TestLongAnswer(t *testing.T) {
	inTime(t, func(t *testing.T, d *Desk, p *pipes) {
		c := p.call()
		defer c.Close()
		if _, err := io.WriteString(c, d.get("long")); err != nil {
			t.Fatal(err)
		}
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(a.Body)
		if err != nil || !strings.Contains(string(text), "at last") {
			t.Errorf("%s %s, %v", a.Status, text, err)
		}
	})
}

// Over real connections, too, a client that does not read is disconnected, and no other client
// waits meanwhile. The desk has its usual limits here: a busy machine may stop any client for a
// second, so shorter ones would fail.
func TestStalled(t *testing.T) {
	t.Parallel()
	secure := certified(t)
	over := trusting(t, secure)
	over.ForceAttemptHTTP2, over.DisableKeepAlives = false, true
	for name, m := range map[string]config.Monitor{"in the open": {}, "over TLS": secure} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveWith(t, m, &endlessLive{})
			s.over = over
			var stalled []*http.Response
			for _, path := range []string{"large", "large", "events", "events"} {
				stalled = append(stalled, s.open("GET", "/api/v1/"+path, "", "Last-Event-ID", "0"))
			}
			for range 20 {
				if code, text, _ := s.ask("GET", "/api/v1/now", ""); code != http.StatusOK {
					t.Fatalf("meanwhile: %d %s", code, text)
				}
			}
			s.until("all are hung up on", func() bool { return s.opened() == 0 })
			for i, a := range stalled {
				if n, err := io.Copy(io.Discard, a.Body); err == nil || n >= largeBytes {
					t.Errorf("stalled answer %d was sent to its end, %d bytes", i, n)
				}
				a.Body.Close()
			}
		})
	}
}

// A stream that is not read does not block other answers on its connection, and only the stream is
// dropped.
func TestStalledHTTP2(t *testing.T) {
	t.Parallel()
	m := certified(t)
	s := serveWith(t, m, &endlessLive{})
	s.over = trusting(t, m)
	stalled := s.open("GET", "/api/v1/events", "", "Last-Event-ID", "0")
	defer stalled.Body.Close()
	beside := func() {
		a := s.open("GET", "/api/v1/now", "")
		defer a.Body.Close()
		if text, err := io.ReadAll(a.Body); a.StatusCode != http.StatusOK || a.ProtoMajor != 2 || err != nil {
			t.Fatalf("beside it: %s %s, %s, %v", a.Proto, a.Status, text, err)
		}
	}
	for range 20 {
		beside()
	}
	s.until("it is given up", func() bool { return len(s.events.seats) == 0 })
	beside()
	if n := s.opened(); n != 1 {
		t.Errorf("%d connections are open", n)
	}
}
