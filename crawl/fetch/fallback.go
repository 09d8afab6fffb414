package fetch

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// maxFallbacks is the maximum number of servers for which a fallback is remembered.
const maxFallbacks = 10_000

// fallbacks are the servers that need a different request, which browsers then make: with HTTP/1.1
// (HTTP_1_1_REQUIRED, RFC 9113 section 7), or on another connection (421, RFC 9110 section
// 15.5.20). The zero value is ready to use.
type fallbacks struct {
	mu    sync.Mutex
	known map[string]fallback // by "host:port"
}

type fallback struct {
	http1       bool
	misdirected int // number of 421 answers in a row; the second is final
}

// http1 reports whether requests to a server must use HTTP/1.1.
func (f *fallbacks) http1(addr string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[addr].http1
}

// requireHTTP1 records that a server refuses HTTP/2. It reports whether this is new.
func (f *fallbacks) requireHTTP1(addr string) bool {
	return f.change(addr, func(b *fallback) bool {
		had := b.http1
		b.http1 = true
		return !had
	})
}

// misdirected reports whether a request must be repeated on another connection.
func (f *fallbacks) misdirected(addr string, status int) bool {
	f.mu.Lock()
	_, known := f.known[addr]
	f.mu.Unlock()
	if status != http.StatusMisdirectedRequest && !known {
		return false
	}
	return f.change(addr, func(b *fallback) bool {
		if status != http.StatusMisdirectedRequest {
			b.misdirected = 0
			return false
		}
		b.misdirected++
		return b.misdirected == 1
	})
}

func (f *fallbacks) change(addr string, by func(*fallback) bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	b, known := f.known[addr]
	if !known && len(f.known) == maxFallbacks {
		return false
	}
	if f.known == nil {
		f.known = map[string]fallback{}
	}
	again := by(&b)
	f.known[addr] = b
	return again
}

// refusesHTTP2 reports an error with which a server demands HTTP/1.1.
func refusesHTTP2(err error) bool { return strings.Contains(err.Error(), "HTTP_1_1_REQUIRED") }

// redirected returns an error if a request must be repeated on another connection, which the next request to
// the server then uses, without resuming this TLS session.
func (c *Client) redirected(x *exchange, target *url.URL, status int) error {
	if !c.fallbacks.misdirected(addrOf(target), status) {
		return nil
	}
	x.mu.Lock()
	conn := x.conn
	x.mu.Unlock()
	sever(conn)
	c.tls.ClientSessionCache.Put(target.Hostname(), nil)
	return &Error{Cause: Reset, Op: "read header", Err: errors.New("the server wants another connection"), Stale: true}
}

// addrOf returns the address that the transport dials for a URL.
func addrOf(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return bracketed(host) + ":" + port
}
