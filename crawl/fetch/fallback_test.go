package fetch

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// A server that refuses HTTP/2 gets one more request, with HTTP/1.1. HTTP/1.1 is used from then on.
func TestHTTP1Required(t *testing.T) {
	cert, file := certificate(t, time.Now().Add(time.Hour))
	var refused atomic.Int64
	cfg := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2", "http/1.1"}}
	addr, _ := listen(t, secured(cfg, func(conn net.Conn, in *bufio.Reader) {
		if conn.(*tls.Conn).ConnectionState().NegotiatedProtocol == "h2" {
			refusing(http2.ErrCodeHTTP11Required, &refused)(conn, in)
			return
		}
		answer(page+"Content-Length: 2\r\n\r\nok")(conn, in)
	}))
	c := newClient(t, Config{CAFile: file, HTTP2: true, AllowPrivate: loopback()})
	_, err := do(c, t.Context(), Request{URL: "https://" + addr + "/"})
	var e *Error
	if !errors.As(err, &e) || !e.Stale || refused.Load() != 1 {
		t.Fatalf("%v after %d requests, want to be asked once more", err, refused.Load())
	}
	for range 2 {
		res, err := do(c, t.Context(), Request{URL: "https://" + addr + "/"})
		if err != nil || string(res.Body) != "ok" || res.Proto != "HTTP/1.1" || refused.Load() != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
	}
}

// A misdirected request is repeated once over another connection. A second such answer is final.
func TestMisdirected(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var always atomic.Bool
		conns := map[string]bool{}
		c, url := serve(t, Config{KeepAlive: true, HTTP2: http2}, func(w http.ResponseWriter, r *http.Request) {
			if always.Load() || conns[r.RemoteAddr] {
				w.WriteHeader(http.StatusMisdirectedRequest)
			}
			conns[r.RemoteAddr] = true
			fmt.Fprint(w, r.RemoteAddr)
		})
		want := func(what string, status int, again bool) {
			t.Helper()
			res, err := do(c, t.Context(), Request{URL: url})
			var e *Error
			if errors.As(err, &e) && e.Stale != again || err == nil && (again || res.Status != status) {
				t.Errorf("HTTP/2 %v, %s: %+v, %v", http2, what, res, err)
			}
		}
		want("first", 200, false)
		want("misdirected", 0, true)
		want("another connection", 200, false)
		want("misdirected once more", 0, true)
		always.Store(true)
		want("misdirected on another connection", 421, false)
		want("believed", 421, false)
	}
}
