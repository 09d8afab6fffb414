package fetch

import (
	"context"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Redirects are left to the caller, and cookies are ignored.
func TestNothingFollowed(t *testing.T) {
	asked := 0
	c, url := serve(t, Config{KeepAlive: true, HTTP2: true}, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if len(r.Cookies()) > 0 {
			t.Error("a cookie came back")
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	for n := 1; n <= 2; n++ {
		res, err := do(c, t.Context(), Request{URL: url})
		if err != nil || res.Status != 302 || res.Header.Get("Location") != "/elsewhere" || asked != n {
			t.Errorf("%+v, %v after %d requests", res, err, asked)
		}
	}
}

// With HTTP/2, a body that ends early is classified as with HTTP/1.1.
func TestHTTP2Body(t *testing.T) {
	c, url := serve(t, Config{KeepAlive: true, HTTP2: true}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/large" {
			w.Header().Set("X", strings.Repeat("x", 300<<10))
			return
		}
		w.Header().Set("Content-Length", "100")
		w.Write([]byte("abc"))
		w.(http.Flusher).Flush()
		if r.URL.Path == "/reset" {
			panic(http.ErrAbortHandler)
		}
	})
	for path, want := range map[string]Cause{"/reset": Reset, "/short": Truncated, "/large": BadResponse} {
		res, err := do(c, t.Context(), Request{URL: url + path})
		if causeOf(t, err) != want || res != nil && res.Status != 200 {
			t.Errorf("%s: %+v, %v; want %v", path, res, err, want)
		}
	}
}

// A request that gets a connection that has just been severed is sent over another one.
func TestSevered(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		c, url := serve(t, Config{KeepAlive: true, HTTP2: http2}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
		})
		for range 100 {
			c.dialler.mu.Lock()
			open := slices.Collect(maps.Keys(c.dialler.open))
			c.dialler.mu.Unlock()
			for _, conn := range open {
				sever(conn)
			}
			if _, err := do(c, t.Context(), Request{URL: url}); err != nil {
				t.Errorf("http2 %v: %v", http2, err)
			}
		}
	}
}

// Many concurrent requests, some of them cancelled, share a client and leave nothing behind.
func TestTogether(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		c, url := serve(t, Config{KeepAlive: true, HTTP2: http2, Compress: true, MaxOpen: 4},
			func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				w.Write(encode(t, []byte(r.URL.Path), "gzip"))
			})
		var wg sync.WaitGroup
		for i := range 16 {
			path := "/" + strings.Repeat("x", i*5000)
			wg.Go(func() {
				for range 10 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(60))*time.Millisecond)
					res, err := do(c, ctx, Request{URL: url + path})
					cancel()
					if cause := causeOf(t, err); cause != Cancelled && (cause != None || string(res.Body) != path) {
						t.Errorf("http2 %v, %d bytes: %v", http2, len(path), err)
					}
				}
			})
		}
		wg.Wait()
		c.Close()
		if n := len(c.dialler.open); n != 0 {
			t.Errorf("%d connections open", n)
		}
	}
}
