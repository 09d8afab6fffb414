package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
)

// A slow body holds hardly more memory than it has received: another body waits for seconds instead of
// minutes.
func TestBudgetDrips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Bodies: NewBudget(6 << 20), MaxBytes: 4 << 20}
		drip := answerThen(page+"\r\n"+strings.Repeat("x", freeBytes+1), strings.Repeat("x", 2048), every(time.Second))
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := piped(t, cfg, drip).Do(t.Context(), Request{URL: "http://192.0.2.1/"})
			if causeOf(t, err) != Slow {
				t.Errorf("a drip: %v", err)
			}
		})
		synctest.Wait()
		res, err := piped(t, cfg, large(t, 3<<20)).Do(t.Context(), Request{URL: "http://192.0.2.1/"})
		if err != nil || res.Waited == 0 || res.Waited > 20*time.Second {
			t.Errorf("%s, %v; want a wait of seconds", told(res), err)
		}
		res.Release()
		wg.Wait()
	})
}

// A body whose memory was taken back is read to its end when it becomes faster, even if two such
// bodies wait for each other.
func TestBudgetDripsAndFlows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := NewBudget(5 << 20)
		cfg := Config{Bodies: budget, MaxBytes: 4 << 20}
		slowThenFast := func(conn net.Conn, in *bufio.Reader) {
			answer(page+"\r\n"+strings.Repeat("x", freeBytes+1))(conn, in)
			for range 60 {
				time.Sleep(time.Second)
				io.WriteString(conn, strings.Repeat("x", 2048))
			}
			io.WriteString(conn, strings.Repeat("x", 5<<19))
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				res, err := do(piped(t, cfg, slowThenFast), t.Context(), Request{URL: "http://192.0.2.1/"})
				if want := int64(freeBytes + 1 + 60*2048 + 5<<19); err != nil || res.Size != want {
					t.Errorf("%s, %v; want %d bytes", told(res), err, want)
				}
			})
		}
		wg.Wait()
		if budget.held != 0 || budget.moving != 0 || len(budget.waiting) != 0 {
			t.Errorf("%d bytes are held, %d move, %d wait", budget.held, budget.moving, len(budget.waiting))
		}
	})
}

// Every sequence of operations ends for all bodies, and the memory in use exceeds the budget by at
// most one body.
func TestBudgetLaw(t *testing.T) {
	const size, whole, bodies = 100, 40, 30
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			b := NewBudget(size)
			var wg sync.WaitGroup
			for i := range uint64(bodies) {
				wg.Go(func() { claimAtRandom(t, b, whole, rand.New(rand.NewPCG(seed, i))) })
			}
			for range 1000 {
				time.Sleep(time.Second)
				b.mu.Lock()
				if b.held > size+whole {
					t.Errorf("%d in use", b.held)
				}
				b.mu.Unlock()
			}
			wg.Wait()
			if b.held != 0 || b.moving != 0 || len(b.waiting) != 0 {
				t.Errorf("in the end %d are held, %d move, %d wait", b.held, b.moving, len(b.waiting))
			}
		})
	}
}

// claimAtRandom performs random operations of a body for a while.
func claimAtRandom(t *testing.T, b *Budget, whole int64, r *rand.Rand) {
	c := new(claim)
	defer b.shrink(c, 0)
	for range 20 {
		time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
		switch r.IntN(4) {
		case 0:
			b.try(c, whole)
		case 1:
			b.shrink(c, r.Int64N(whole))
		case 2:
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			if err := b.await(ctx, c, whole); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			cancel()
		case 3:
			if err := b.await(t.Context(), c, whole); err != nil || c.held != whole {
				t.Errorf("%d held, %v", c.held, err)
			}
		}
	}
}

// For any number of open bodies, their free shares together exceed the budget by little at most.
func TestBudgetFree(t *testing.T) {
	for _, tt := range []struct {
		size int64
		open int
		want int64
	}{{1 << 30, 0, 1 << 20}, {1 << 30, 1000, 1 << 20}, {1 << 30, 10_000, 107_374}, {100_000_000, 10_000, 64 << 10}} {
		if got := NewBudget(tt.size).free(tt.open); got != tt.want {
			t.Errorf("%d bytes, %d open: %d, want %d", tt.size, tt.open, got, tt.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{Bodies: NewBudget(1 << 30), MaxOpen: 10_000, MaxBytes: 1 << 30}
		first, err := piped(t, cfg, large(t, 1<<17)).Do(t.Context(), Request{URL: "http://192.0.2.1/"})
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Hour, first.Release)
		if res, err := do(piped(t, cfg, large(t, 1<<17)), t.Context(), Request{URL: "http://192.0.2.1/"}); err != nil ||
			res.Waited != time.Hour {
			t.Errorf("%s, %v; want an hour of waiting", told(res), err)
		}
	})
}

// Bodies that wait for memory do not block others on their connection.
func TestBudgetHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cert, file := certificate(t, time.Now().Add(24*time.Hour))
		budget := NewBudget(5 << 20)
		cfg := Config{CAFile: file, HTTP2: true, KeepAlive: true, AllowPrivate: loopback(), Bodies: budget,
			MaxBytes: 4 << 20}
		tlsConfig := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}}
		c := piped(t, cfg, secured(tlsConfig, func(conn net.Conn, _ *bufio.Reader) {
			//lint:ignore SA1019 net/http serves no single connection
			new(http2.Server).ServeConn(conn, &http2.ServeConnOpts{Handler: http.HandlerFunc(sized)})
		}))
		first, err := c.Do(t.Context(), Request{URL: "https://127.0.0.1/large"})
		if err != nil || first.Proto != "HTTP/2.0" {
			t.Fatalf("%s, %v", told(first), err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if res, err := do(c, t.Context(), Request{URL: "https://127.0.0.1/large"}); err != nil ||
					res.Waited == 0 {
					t.Errorf("%s, %v; want a wait", told(res), err)
				}
			})
		}
		synctest.Wait()
		if res, err := do(c, t.Context(), Request{URL: "https://127.0.0.1/small"}); err != nil || res.Size != 100_000 {
			t.Errorf("beside those that wait: %s, %v", told(res), err)
		}
		time.Sleep(time.Minute)
		first.Release()
		wg.Wait()
		c.Close()
	})
}

// told returns the relevant parts of a response.
func told(res *Response) string {
	if res == nil {
		return "none"
	}
	return fmt.Sprintf("%s, %d bytes after a wait of %v", res.Proto, res.Size, res.Waited)
}

// sized answers with 3 MiB for /large, and 100 kB for anything else.
func sized(w http.ResponseWriter, r *http.Request) {
	size := 100_000
	if r.URL.Path == "/large" {
		size = 3 << 20
	}
	w.Header().Set("Content-Type", "text/html")
	io.WriteString(w, strings.Repeat("x", size))
}
