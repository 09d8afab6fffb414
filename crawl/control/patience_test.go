package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
)

// Pipes is a listener whose clients are in this process, and so share its clock.
type pipes struct {
	waiting chan net.Conn
	closed  chan struct{}
	once    sync.Once
	open    int
}

func newPipes() *pipes {
	return &pipes{waiting: make(chan net.Conn, 1000), closed: make(chan struct{})}
}

func (p *pipes) dial(context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	p.waiting <- server
	return client, nil
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		p.open++
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// Of many silent clients, 64 are served at a time, each for 5 s; clients after them are answered.
func TestSilentClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		for range 200 {
			c, err := l.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error {
			return serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter,
				_ *http.Request) {
				send(w, 200, "heard")
			}))
		})
		synctest.Wait()
		if l.open != maxClients {
			t.Errorf("%d clients are heard at once, want %d", l.open, maxClients)
		}
		var reply string
		begun := time.Now()
		c := &Client{dial: l.dial}
		if err := c.Get(ctx, "status", &reply); err != nil || reply != "heard" {
			t.Errorf("the client after the silent ones is told %q, %v", reply, err)
		}
		if waited, want := time.Since(begun), 200/maxClients*silence; waited != want {
			t.Errorf("it has waited for %v, want %v", waited, want)
		}
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// A client of a suspended crawl is notified after 2 s and gives up after 30 s.
func TestSilentCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer server.Close()
		var g errgroup.Group
		g.Go(func() error { _, err := io.Copy(io.Discard, server); return err })
		begun := time.Now()
		told := make(chan time.Duration, 2)
		c := &Client{
			Slow: func() { told <- time.Since(begun) },
			dial: func(context.Context) (net.Conn, error) { return client, nil },
		}
		if err := c.Post(t.Context(), "pause", new(string)); !errors.Is(err, ErrSilent) {
			t.Errorf("a crawl that says nothing: %v, want %v", err, ErrSilent)
		}
		if len(told) != 1 || <-told != slow || time.Since(begun) != tooLong {
			t.Errorf("told another time than after %v, or given up after %v", slow, time.Since(begun))
		}
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// A reader that accepts nothing of a copy is dropped after 10 s; then others may have one.
func TestSilentReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newPipes()
		ctx, cancel := context.WithCancel(t.Context())
		var g errgroup.Group
		g.Go(func() error { return serve(ctx, l, NewHandler(endless{}, nil)) })
		reader, err := l.dial(ctx)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if _, err := io.WriteString(reader, "GET /api/v1/snapshot HTTP/1.1\r\nHost: crawl\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(patience - time.Millisecond)
		var busy *Error
		c := &Client{dial: l.dial}
		if err := c.Snapshot(ctx, io.Discard, anySize); !errors.As(err, &busy) || busy.Code != http.StatusConflict {
			t.Errorf("a second copy meanwhile: %v", err)
		}
		time.Sleep(patience)
		enough := errors.New("enough")
		if err := c.Snapshot(ctx, writer(func([]byte) error { return enough }), anySize); !errors.Is(err, enough) {
			t.Errorf("a copy afterwards: %v", err)
		}
		cancel()
		if err := g.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func anySize(int64) error { return nil }

type writer func([]byte) error

func (w writer) Write(b []byte) (int, error) { return len(b), w(b) }

// An endless crawl produces a copy that never ends.
type endless struct{ Source }

func (endless) Size(context.Context) (int64, error) { return 1, nil }

func (endless) Snapshot(w io.Writer) (int64, error) {
	for {
		if _, err := w.Write(make([]byte, 1<<16)); err != nil {
			return 0, err
		}
	}
}

// Whatever is sent to the socket, the crawl keeps answering.
func TestNonsense(t *testing.T) {
	for _, sent := range []string{
		"\n\n", "{\"do\":\"stop\"}\n\n", "GET / HTTP/9.9\r\n\r\n", "GET /" + strings.Repeat("x", 1<<16) +
			" HTTP/1.1\r\n\r\n", "POST /api/v1/stop HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
		"POST /api/v1/stop HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newPipes()
			ctx, cancel := context.WithCancel(t.Context())
			var g errgroup.Group
			well := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != Root+"status" {
					Unknown(w, r)
					return
				}
				Reply(w, "well")
			})
			g.Go(func() error { return serve(ctx, l, NewHandler(endless{}, well)) })
			conn, err := l.dial(ctx)
			if err != nil {
				t.Fatal(err)
			}
			g.Go(func() error { _, _ = io.WriteString(conn, sent); return nil }) // the server need not read all of it
			if got, _ := io.ReadAll(conn); !bytes.HasPrefix(got, []byte("HTTP/1.1 4")) &&
				!bytes.HasPrefix(got, []byte("HTTP/1.1 505")) {
				t.Errorf("%.40q is answered %q", sent, got)
			}
			conn.Close()
			var reply string
			if err := (&Client{dial: l.dial}).Get(ctx, "status", &reply); err != nil || reply != "well" {
				t.Errorf("after %.40q: %q, %v", sent, reply, err)
			}
			cancel()
			if err := g.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
