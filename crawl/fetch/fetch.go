// Package fetch makes one HTTP request, with limits on bytes, on time and on the addresses it may reach.
//
// [Client.Do] sends one GET, HEAD or POST and returns the response. It follows no redirect, keeps no cookie
// and sends neither Referer nor credentials; retries, politeness and the meaning of a status are up to the
// caller. Every stage has a limit of its own, after which the connection is given up:
//
//	DNS look-up            5 s, the first 8 addresses
//	connection             Config.ConnectTimeout from the call: look-up, TCP over all
//	                       addresses, proxy and TLS together
//	up to the last header  Request.Timeout from the call, all of the above included
//	header                 256 KiB, interim (1xx) responses included
//	body                   1 KiB/s over any 10 s, 5 min, and as many decoded
//	                       bytes as Request.Accept allows, at every stage of decoding
//
// An incoming body is kept as the server encoded it, in chunks of 8 KiB, and [Response.Decode] needs no
// network: the caller decides how many bodies are decoded at a time. Above 1 MiB, or less if very many may be
// open, a body waits, with all its clocks stopped, until Config.Bodies has memory for its maximum size.
//
// Only public addresses are dialled. The check is made when the socket is about to connect, on the numeric
// address, so it cannot be evaded by a spelling, a redirect or a changing DNS answer. Exceptions are
// Config.AllowPrivate, a dial that Config.ConnectTo redirects, and the dial to the proxy.
//
// A name may have several addresses. If one is silent for 300 ms, or refuses, the next is tried; if
// Request.MayAsk forbids that one, the request ends with [Busy] before anything was sent.
//
// Nothing is sent twice: a server that read a request and hung up would get it again at once. A request that
// dies on a kept-alive connection before the first byte of its answer ends with [Reset] and [Error.Stale]:
// the server had almost certainly closed the idle connection, and repeating the request once, politely, is no
// retry. The same holds for a server that demands HTTP/1.1, or another connection (421): from then on it gets
// such requests.
//
// HTTP/1 answers are parsed as browsers do, see package lenient.
//
// No data from a peer is trusted: [Error.Error] is clean, valid UTF-8 of at most 256 bytes; no header field
// has a control character. Header values may contain bytes that are not UTF-8.
package fetch

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// Config configures a [Client]. The zero value is usable: the defaults below for times and sizes, no
// compression, HTTP/1.1, and one connection per request.
type Config struct {
	UserAgent      string
	AcceptLanguage string            // empty: not sent
	ConnectTimeout time.Duration     // 0: 10 s
	Timeout        time.Duration     // for requests without one; 0: 30 s
	MaxBytes       int64             // decoded, for requests without Accept; 0: 10 MB
	Compress       bool              // accept gzip, deflate, br and zstd
	HTTP2          bool              // offer HTTP/2 in addition to HTTP/1.1
	KeepAlive      bool              // keep connections open between requests
	Proxy          string            // http://user:password@host:port; empty: HTTPS_PROXY, NO_PROXY
	CAFile         string            // PEM; added to the trust anchors of the system
	ConnectTo      map[string]string // "host", "host:port", "*.suffix", "*.suffix:port" -> "addr:port"
	AllowPrivate   []netip.Prefix    // private addresses that may be dialled
	MaxOpen        int               // requests open at a time; determines the size of the idle pool
	MaxConns       int               // connections, open and idle; 0: no limit
	Leased         bool              // nothing is sent after a connection is closed; on Linux only
	Resolver       *Resolver         // nil: one of the client's own
	Bodies         *Budget           // memory for large bodies; nil: no limit

	limits limits
	lookup lookupFunc // replaces that of Resolver
	dial   dialFunc   // nil: a socket
}

// A Request is one HTTP request.
type Request struct {
	Method       string // GET, HEAD or POST; empty: GET
	URL          string // http(s), as serialised by the WHATWG; path and query are sent byte for byte
	ETag         string // sent as If-None-Match
	LastModified string // sent as If-Modified-Since
	Timeout      time.Duration

	Header http.Header // sent in addition to the client's own fields, which it may replace
	Body   []byte      // for a POST

	// Address, if it is one of the host's, is tried first, followed by the addresses after it;
	// empty: any.
	Address string

	// MayAsk is called before any other address is dialled. It returns false if that address must
	// not be requested now; the request then ends with [Busy]. With Stay the address is skipped
	// instead, unless none was tried before it. nil: any address.
	MayAsk func(netip.Addr) bool
	Stay   bool

	// MaySend is called when there is a connection, and again before anything is written to it, which may be after the
	// end of the request, by another goroutine. Its error ends the request with [Cancelled]. nil: always.
	MaySend func() error

	// Accept is called once, when the last header has arrived and, for a 2xx without Content-Type, the first
	// 512 bytes have been sniffed. It returns how many decoded bytes may be read; if 0, the body is not read,
	// which is not an error. A body that declares more is [TooLarge] before any byte is read. nil:
	// Config.MaxBytes.
	Accept func(status int, header http.Header) int64

	// Cut cuts a longer body at the limit instead of failing. That of an error (4xx, 5xx) is always cut.
	Cut bool
}

// A Response is the response to a request. It belongs to the caller, which must release it once.
type Response struct {
	Status    int
	Header    http.Header   // with the sniffed Content-Type if the server sent none
	Body      []byte        // after Decode; after an error, what could be decoded
	Size      int64         // of Body
	FirstByte time.Time     // of the response, including interim ones
	Done      time.Time     // when the exchange ended
	Waited    time.Duration // for memory, before Done; not the server's fault
	Remote    netip.AddrPort
	Proto     string // "HTTP/1.1", "HTTP/2.0"
	TLS       uint16 // version spoken with the host, as in [tls.VersionName]; 0: none
	Sniffed   string // content type detected from the body; empty if the server declared one

	came *body // nil: none was read
}

// Protocols returns what was spoken with the host, as WARC-Protocol names it: "http/1.1" or "h2", then for https
// "tls/1.3" or the like. It is empty if that is not known.
func (r *Response) Protocols() []string {
	var all []string
	switch r.Proto {
	case "HTTP/1.0", "HTTP/1.1":
		all = append(all, strings.ToLower(r.Proto))
	case "HTTP/2.0":
		all = append(all, "h2")
	}
	if r.TLS != 0 {
		version := strings.TrimPrefix(tls.VersionName(r.TLS), "TLS ")
		all = append(all, "tls/"+version)
	}
	return all
}

// Do sends one request and reads the body without decoding it; see [Response.Decode]. The error is an
// [*Error]; if the header had arrived, there is also a response, without a body. A context that ends is
// [Cancelled], never a time-out. Do is safe for concurrent use.
func (c *Client) Do(ctx context.Context, req Request) (*Response, error) {
	target, err := parseURL(req.URL)
	if err != nil {
		return nil, c.fail(ctx, &Error{Cause: BadResponse, Op: "parse", Err: err}, req.URL)
	}
	way, err := c.routes.choose(target)
	if err != nil {
		return nil, c.fail(ctx, err, req.URL)
	}
	x := newExchange(ctx, way, c.limits)
	x.plain, x.mayAsk, x.maySend, x.stays = target.Scheme == "http", req.MayAsk, req.MaySend, req.Stay
	x.method = orDefault(req.Method, http.MethodGet)
	x.favoured, _ = netip.ParseAddr(req.Address)
	defer x.end()
	res, err := c.exchange(ctx, x, c.build(x.traced(), target, &req), &req)
	if err != nil {
		e := c.fail(ctx, err, req.URL)
		if refusesHTTP2(err) && c.fallbacks.requireHTTP1(addrOf(target)) {
			e.Stale = true
		}
		e.TLS = x.signs(e.Err)
		if e.Own == OwnNothing && e.Cause != Cancelled && x.uprooted() {
			e.Own = OwnAddress
		}
		if x.waited > 0 && (e.Cause == Reset || e.Cause == Truncated) {
			e.Own = OwnWait // the server waits only for a limited time
		}
		return res, e
	}
	return res, nil
}

// exchange sends the request, waits for the header, and reads as much of the body as is wanted. ctx is the caller's.
func (c *Client) exchange(ctx context.Context, x *exchange, hr *http.Request, req *Request) (*Response, error) {
	x.await(c.connect, orDefault(req.Timeout, c.timeout))
	raw, err := c.send(hr)
	for tries := 0; err != nil && tries < 3 && x.unsent(); tries++ {
		raw, err = c.send(hr)
	}
	if err != nil {
		return nil, x.headerError(err)
	}
	if err := c.redirected(x, hr.URL, raw.StatusCode); err != nil {
		raw.Body.Close()
		return nil, err
	}
	res := x.response(raw)
	if err := checkStatus(raw.StatusCode); err != nil {
		raw.Body.Close()
		res.Done = time.Now()
		return res, err
	}
	err = c.readBody(x, raw, req, res)
	res.Done = time.Now()
	if err != nil {
		x.abandon(err)
	}
	if raw.StatusCode >= 400 && ctx.Err() == nil {
		return res, nil // the status says enough, even if the body is too slow
	}
	return res, err
}

// send sends a request with its body, if any, from the start.
func (c *Client) send(hr *http.Request) (*http.Response, error) {
	if hr.GetBody != nil {
		hr.Body, _ = hr.GetBody() // from memory: cannot fail
	}
	return c.transport.RoundTrip(hr)
}

// fail adds the URL to an error. The end of the caller's context, or of the client, takes precedence as its
// cause.
func (c *Client) fail(ctx context.Context, err error, rawURL string) *Error {
	e := *asError(err, BadResponse, "request")
	e.URL = rawURL
	switch {
	case ctx.Err() != nil:
		e.Cause, e.Err = Cancelled, context.Cause(ctx)
	case c.dialler.ctx.Err() != nil:
		e.Cause = Cancelled
	}
	return &e
}

func orDefault[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
