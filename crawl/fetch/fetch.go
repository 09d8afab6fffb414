// Package fetch asks a server one question, bounded in bytes, in time and in
// the addresses it may reach.
//
// [Client.Do] sends one GET, HEAD or POST and returns what came back. It follows no
// redirect, keeps no cookie and sends neither Referer nor credentials; retries,
// politeness and the meaning of a status are the caller's. Every stage has a
// limit of its own, after which the connection is given up:
//
//	DNS look-up            5 s, the first 8 addresses
//	connection             Config.ConnectTimeout from the call: look-up, TCP over all
//	                       addresses, proxy and TLS together
//	up to the last header  Request.Timeout from the call, all of the above included
//	header                 256 KiB, interim (1xx) responses included
//	body                   1 KiB/s over any 10 s, 5 min, and as many decoded
//	                       bytes as Request.Accept grants, at every stage of decoding
//
// While a body comes it is kept as the server encoded it, in pieces of 8 KiB, and
// [Response.Decode] needs no network: what decoding takes is taken by as few as the
// caller likes. Beyond 1 MiB, or less where very many may be open, a body waits, outside
// of all its limits of time, until Config.Bodies has memory for as much as it may become.
//
// Only public addresses are dialled. The check sits where the socket
// is about to connect, on the numeric address, so neither a spelling, a redirect
// nor a DNS answer that changes can pass it. Exceptions are Config.AllowPrivate,
// a dial that Config.ConnectTo sends elsewhere, and the dial to the proxy.
//
// A name may have several addresses. One that is silent for 300 ms, or refuses, gives
// way to the next; where Request.MayAsk keeps that one from being asked, the request
// ends as [Busy] before anything was sent.
//
// Nothing is sent twice: a server that read a request and hung up would be asked
// again at once. A request that dies on a kept-alive connection before the first
// byte of its answer ends as [Reset] with [Error.Stale]: the server had almost
// surely closed the idle connection, and asking once more, politely, is no retry. The same
// holds for a server that wants HTTP/1.1, or another connection (421): it is asked so from then on.
//
// Answers of HTTP/1 are read as browsers read them, see package lenient.
//
// Nothing of a peer is trusted: [Error.Error] is clean, valid UTF-8 of at most
// 256 bytes; no header field has a control character. Header values may hold bytes that are not UTF-8.
package fetch

import (
	"context"
	"net/http"
	"net/netip"
	"time"
)

// Config says how a [Client] asks. The zero value is usable: the defaults below
// for times and sizes, no compression, HTTP/1.1, a connection for each request.
type Config struct {
	UserAgent      string
	AcceptLanguage string            // empty: not sent
	ConnectTimeout time.Duration     // 0: 10 s
	Timeout        time.Duration     // of a request that names none; 0: 30 s
	MaxBytes       int64             // decoded, of a request without Accept; 0: 10 MB
	Compress       bool              // accept gzip, deflate, br and zstd
	HTTP2          bool              // offer HTTP/2 beside HTTP/1.1
	KeepAlive      bool              // keep connections open between requests
	Proxy          string            // http://user:password@host:port; empty: HTTPS_PROXY, NO_PROXY
	CAFile         string            // PEM; added to the trust anchors of the system
	ConnectTo      map[string]string // "host", "host:port", "*.suffix", "*.suffix:port" -> "addr:port"
	AllowPrivate   []netip.Prefix    // may be dialled although private
	MaxOpen        int               // requests open at a time; sizes the pool of idle connections
	MaxConns       int               // connections, open and idle; 0: no bound
	Leased         bool              // nothing is sent once a connection is closed; on Linux only
	Resolver       *Resolver         // nil: one of its own
	Bodies         *Budget           // memory of large bodies; nil: no bound

	limits limits
	lookup lookupFunc // instead of Resolver's
	dial   dialFunc   // nil: a socket
}

// A Request is one question.
type Request struct {
	Method       string // GET, HEAD or POST; empty: GET
	URL          string // http(s), as the WHATWG serialises it: path and query are sent byte for byte
	ETag         string // sent as If-None-Match
	LastModified string // sent as If-Modified-Since
	Timeout      time.Duration

	Header http.Header // sent beside the client's own, in place of those that it names
	Body   []byte      // of a POST

	// Address is tried first, if it is one of the host's, and those that follow it
	// next; empty: any.
	Address string

	// MayAsk is asked before any other address is, and refuses one that may not be
	// asked now: the request then ends as [Busy]. With Stay that address is left
	// out instead, unless nothing was tried before it. nil: any may be asked.
	MayAsk func(netip.Addr) bool
	Stay   bool

	// MaySend is asked once a connection is there, just before the request goes out on it;
	// its error ends the request as [Cancelled]. nil: it may.
	MaySend func() error

	// Accept is called once, when the last header is in and, for a 2xx without
	// Content-Type, the first 512 bytes have been sniffed. It says how many decoded
	// bytes may be read; with 0 the body is left unread, which is no error. A body
	// that declares more is [TooLarge] before a byte is read. nil: Config.MaxBytes.
	Accept func(status int, header http.Header) int64

	// Cut makes a longer body end at the limit instead of being an error.
	Cut bool
}

// A Response is what came back. It belongs to the caller, who releases it once.
type Response struct {
	Status    int
	Header    http.Header   // with the sniffed Content-Type if the server sent none
	Body      []byte        // after Decode; what could be decoded when that errs
	Size      int64         // of Body
	FirstByte time.Time     // of the response, interim ones included
	Done      time.Time     // the exchange was over
	Waited    time.Duration // before that, for memory: no fault of the server
	Remote    netip.AddrPort
	Proto     string // "HTTP/1.1", "HTTP/2.0"
	Sniffed   string // content type read off the body; empty if the server declared one

	came *body // nil: none was read
}

// Do sends one request and takes what comes off the connection; decoding it is left to
// [Response.Decode]. The error is an [*Error]; the response, without a body, stands
// beside it when the headers had arrived. A context that ends is [Cancelled], never a
// time-out. Do may be called from many goroutines.
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
	res, err := c.exchange(x, c.build(x.traced(), target, &req), &req)
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
			e.Own = OwnWait // who sends waits no longer than it likes
		}
		return res, e
	}
	return res, nil
}

// exchange sends, waits for the headers, and reads as much body as is wanted.
func (c *Client) exchange(x *exchange, hr *http.Request, req *Request) (*Response, error) {
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
	return res, err
}

// send sends a request with its body, if it has one, from the beginning.
func (c *Client) send(hr *http.Request) (*http.Response, error) {
	if hr.GetBody != nil {
		hr.Body, _ = hr.GetBody() // from memory
	}
	return c.transport.RoundTrip(hr)
}

// fail gives an error its URL. The end of the caller's context, or of the client,
// explains any failure that it meets.
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
