package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A phase is the current step of an exchange.
type phase uint8

const (
	connecting phase = iota
	resolving
	handshaking
	waiting // for the header
	reading
	held // with the clock stopped
	draining
)

// An exchange is one request in progress: its state, and the clock that ends it. The transport
// calls it from its own goroutines, sometimes after the end of the exchange.
type exchange struct {
	ctx      context.Context // ends with the caller's, or with an exceeded limit as its cause
	cancel   context.CancelCauseFunc
	route    route
	plain    bool // http, without TLS
	method   string
	favoured netip.Addr
	mayAsk   func(netip.Addr) bool // nil: any address may be requested
	maySend  func() error          // nil: it may be sent
	stays    bool
	limits   limits
	wire     atomic.Int64 // bytes of body

	mu        sync.Mutex
	timer     *time.Timer
	deadline  time.Time // for the end of the header
	phase     phase
	got       bool      // has a connection
	sent      bool      // the header was sent on that connection
	reused    bool      // the connection was reused
	dead      bool      // the connection had been severed
	barred    bool      // from using another connection
	tunnelled bool      // the proxy, if any, has done its part
	shakenAt  time.Time // when the handshake with the host for this connection ended; zero: earlier, or never
	conn      net.Conn
	taken     *conn // not idle while this exchange uses it
	over      bool
	allowed   []netip.Addr
	first     time.Time
	started   time.Time // start of reading, plus the time waited
	waited    time.Duration
	marks     [ticks]int64
	tick      int
}

// The rate of a body is checked ticks times per window.
const ticks = 10

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	return ctx.Value(exchangeKey{}).(*exchange)
}

func newExchange(ctx context.Context, way route, l limits) *exchange {
	x := &exchange{route: way, limits: l, tunnelled: way.proxy == nil}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	return x
}

// allows reports whether an address may be requested.
func (x *exchange) allows(a netip.Addr) bool {
	x.mu.Lock()
	known := x.mayAsk == nil || a == x.favoured || slices.Contains(x.allowed, a)
	x.mu.Unlock()
	if known || !x.mayAsk(a) {
		return known
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.allowed = append(x.allowed, a)
	return true
}

// end stops the clock and anything still in progress.
func (x *exchange) end() {
	x.cancel(nil)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.release()
	x.over = true
	if x.timer != nil {
		x.timer.Stop()
	}
}

// release returns the connection that was taken, if any.
func (x *exchange) release() {
	if x.taken != nil {
		x.taken.release()
		x.taken = nil
	}
}

// await starts the clocks for the connection and for the end of the header.
func (x *exchange) await(connect, timeout time.Duration) {
	x.mu.Lock()
	x.deadline = time.Now().Add(timeout)
	x.timer = time.AfterFunc(min(connect, timeout), x.ring)
	x.mu.Unlock()
}

// readBody sets the clock to check the rate of the body.
func (x *exchange) readBody() {
	x.mu.Lock()
	x.phase, x.started = reading, time.Now()
	x.timer.Reset(x.limits.window / ticks)
	x.mu.Unlock()
}

// hold stops the clock of a body that waits for this machine, until goOn is called. The measurement of the
// rate then restarts.
func (x *exchange) hold() (goOn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.phase = held
	x.timer.Stop()
	since := time.Now()
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		took := time.Since(since)
		x.waited, x.started = x.waited+took, x.started.Add(took)
		x.phase, x.tick, x.marks = reading, 0, [ticks]int64{x.wire.Load()}
		x.timer.Reset(x.limits.window / ticks)
	}
}

// drain sets the clock for the end of an unwanted body.
func (x *exchange) drain() {
	x.mu.Lock()
	x.phase = draining
	x.timer.Reset(x.limits.drain)
	x.mu.Unlock()
}

// ring is called by the clock.
func (x *exchange) ring() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ctx.Err() != nil || x.phase == held {
		return
	}
	if left := time.Until(x.deadline); x.phase == waiting && left > 0 {
		x.timer.Reset(left)
		return
	}
	if x.phase != reading {
		if t := tracked(x.conn); t != nil {
			t.abort()
		}
		x.cancel(x.expired())
		return
	}
	if err := x.measure(x.wire.Load()); err != nil {
		x.cancel(err)
		return
	}
	x.timer.Reset(x.limits.window / ticks)
}

// measure compares the number of bytes with that of a window ago.
func (x *exchange) measure(now int64) error {
	if time.Since(x.started) >= x.limits.body {
		return &Error{Cause: Slow, Op: "read body", Err: fmt.Errorf("unfinished after %v", x.limits.body)}
	}
	x.tick++
	mark := &x.marks[x.tick%ticks]
	if x.tick >= ticks && now-*mark < x.limits.rate {
		return &Error{Cause: Slow, Op: "read body", Err: fmt.Errorf("%d bytes in %v", now-*mark, x.limits.window)}
	}
	*mark = now
	return nil
}

// expired returns the error for the step in which the time ran out.
func (x *exchange) expired() *Error {
	e := &Error{Cause: ConnectTimeout, Op: "connect", Err: errExpired}
	switch {
	case !x.tunnelled:
		e.Cause = Proxy
	case x.phase == resolving:
		e.Cause, e.Op = DNSTemporary, "resolve"
	case x.phase == handshaking:
		e.Cause, e.Op = TLSTimeout, "tls handshake"
	case x.phase >= waiting:
		e.Cause, e.Op = Timeout, "read header"
	}
	return e
}

// ended returns the limit that ended the exchange, or the end of the caller's context, or nil.
func (x *exchange) ended() *Error {
	cause := context.Cause(x.ctx)
	if cause == nil {
		return nil
	}
	return asError(cause, Cancelled, "request")
}

// headerError explains why there is no header.
func (x *exchange) headerError(err error) error {
	x.mu.Lock()
	tunnelled := x.tunnelled
	x.mu.Unlock()
	known := x.ended()
	if known != nil || errors.As(err, &known) {
		if !tunnelled && known.Cause != Proxy && known.Cause.Connection() {
			known = &Error{Cause: Proxy, Op: known.Op, Err: known, Own: known.Own}
		}
		x.abandon(known)
		return known
	}
	if !tunnelled {
		return &Error{Cause: Proxy, Op: "connect", Err: err}
	}
	known = &Error{Cause: headerCause(err), Op: "read header", Err: err}
	x.abandon(known)
	return known
}

// signs returns what TLS shows about the host of a failed exchange.
func (x *exchange) signs(err error) (s Signs) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.got && !x.plain {
		s.Spoke, s.Shaken = true, x.shakenAt
		return s
	}
	var alert *net.OpError
	s.Alert = errors.As(err, &alert) && alert.Op == "remote error"
	s.Untrusted = errors.As(err, new(x509.UnknownAuthorityError))
	return s
}

// abandon makes the next request to the host use another connection, where the transport would continue to
// use a shared HTTP/2 connection that has failed. Other requests on it end with Reset.
func (x *exchange) abandon(err error) {
	switch asError(err, None, "").Cause {
	case Timeout, Slow, Reset, BadResponse:
	default:
		return
	}
	x.mu.Lock()
	c, ok := x.conn.(*tls.Conn)
	x.mu.Unlock()
	if ok && c.ConnectionState().NegotiatedProtocol == "h2" {
		sever(c)
	}
}

// uprooted reports whether this machine has lost the local address of the exchange's connection.
func (x *exchange) uprooted() bool {
	x.mu.Lock()
	c := x.conn
	x.mu.Unlock()
	return gone(c)
}

// sever closes a connection without notifying the peer, on which TLS may block.
func sever(c net.Conn) {
	if t := tracked(c); t != nil {
		t.severed.Store(true)
		c = t
	}
	c.Close()
}

// response returns the known facts once the header has arrived.
func (x *exchange) response(raw *http.Response) *Response {
	x.mu.Lock()
	defer x.mu.Unlock()
	joinTypes(raw.Header)
	res := &Response{Status: raw.StatusCode, Header: raw.Header, Proto: raw.Proto, FirstByte: x.first}
	if res.FirstByte.IsZero() {
		res.FirstByte = time.Now()
	}
	res.Remote = remote(x.conn)
	if c := x.conn; !x.plain {
		if a, ok := c.(*answers); ok {
			c = a.Conn
		}
		if c, ok := c.(*tls.Conn); ok {
			res.TLS = c.ConnectionState().Version
		}
	}
	return res
}

func remote(c net.Conn) netip.AddrPort {
	if c == nil {
		return netip.AddrPort{}
	}
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	ap := tcp.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
