package fetch

import (
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type dialFunc func(ctx context.Context, addr netip.AddrPort, trusted bool) (net.Conn, error)

// A dialler makes the connections of a client, tracks the open ones, and closes them at the end. The guard
// checks the address that is finally dialled.
type dialler struct {
	ctx      context.Context // ends with the client
	resolver *Resolver
	dial     dialFunc
	stagger  time.Duration // head start of an address over the next
	most     int           // connections; above this, idle ones are closed
	leased   bool          // requests must not outlive their process
	opened   func(n int)   // called when connections are opened or closed; may be nil

	mu   sync.Mutex
	open map[*conn]struct{} // nil: the dialler is closed
	idle list.List          // of *conn: open but unused after a request, the longest idle first
	last netip.Addr         // last address connected to
}

// socketDialer dials sockets; untrusted addresses must pass the guard.
func socketDialer(g *guard) dialFunc {
	guarded, free := &net.Dialer{Control: g.control}, new(net.Dialer)
	return func(ctx context.Context, addr netip.AddrPort, trusted bool) (net.Conn, error) {
		if trusted {
			return free.DialContext(ctx, "tcp", addr.String())
		}
		return guarded.DialContext(ctx, "tcp", addr.String())
	}
}

// dialContext makes a connection for the transport. The transport continues to dial after the end
// of a request; dialContext stops with the request.
func (d *dialler) dialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	x := exchangeOf(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(x.ctx, cancel)()
	defer context.AfterFunc(d.ctx, cancel)()
	if x.route.dial != "" {
		addr = x.route.dial
	}
	d.tellOpened(1) // a pending dial already has a descriptor
	c, err := d.connect(ctx, addr, x)
	if err != nil {
		d.tellOpened(-1)
		return nil, err
	}
	if d.leased {
		deliverSoon(c)
	}
	t, err := d.track(c)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (d *dialler) connect(ctx context.Context, addr string, x *exchange) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &Error{Cause: BadResponse, Op: "connect", Err: err}
	}
	portNumber, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, &Error{Cause: BadResponse, Op: "connect", Err: err}
	}
	x.enterPhase(resolving)
	addrs, err := d.resolver.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	x.enterPhase(connecting)
	addrs = favouring(addrs, x.favoured)
	c, err := d.race(ctx, addrs, uint16(portNumber), x)
	var busy *Busy
	switch {
	case errors.As(err, &busy):
		return nil, &Error{Cause: Cancelled, Op: "connect", Err: err}
	case err != nil:
		d.resolver.forget(host)
		return nil, d.failed(err, addrs)
	}
	return c, nil
}

// favouring rotates the addresses so that they begin with the given one.
func favouring(addrs []netip.Addr, address netip.Addr) []netip.Addr {
	i := slices.Index(addrs, address)
	if i <= 0 {
		return addrs
	}
	return slices.Concat(addrs[i:], addrs[:i]) // the resolver owns the list
}

// race tries the addresses in order, each with a head start before the next. It returns the first connection,
// or the first error when none is left. It ends with [Busy] at an address that must not be requested now. It
// returns when its last try has ended.
func (d *dialler) race(ctx context.Context, addrs []netip.Addr, port uint16, x *exchange) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan dialled)
	var won dialled
	next, open := 0, 0
	more := func() bool { return next < len(addrs) && won.conn == nil && ctx.Err() == nil }
	for more() || open > 0 {
		if more() {
			to := netip.AddrPortFrom(addrs[next], port)
			next++
			switch {
			case x.allows(to.Addr()):
				go func() { results <- newDialled(d.dial(ctx, to, x.route.trusted())) }()
				open++
			case x.stays && next > 1:
			default:
				won.err = &Busy{to.Addr()}
				cancel()
			}
		}
		if open == 0 {
			continue
		}
		r, ok := receive(results, d.patience(more()))
		if !ok {
			continue
		}
		open--
		if won = won.better(r); won.conn != nil {
			cancel()
		}
	}
	if won.conn == nil && won.err == nil {
		won.err = context.Cause(ctx)
	}
	return won.conn, won.err
}

// failed returns why no address could be connected to.
func (d *dialler) failed(err error, tried []netip.Addr) *Error {
	e := *asError(err, connectCause(err), "connect")
	if e.Own == OwnNothing {
		d.mu.Lock()
		last := d.last
		d.mu.Unlock()
		e.Own = ownDial(err, tried, last, routed)
	}
	return &e
}

// A dialled is the result of one try.
type dialled struct {
	conn net.Conn
	err  error
}

func newDialled(c net.Conn, err error) dialled { return dialled{c, err} }

// better keeps the first connection and closes a later one. Without a connection it prefers the first error
// that is not this machine's own, and otherwise the first.
func (a dialled) better(b dialled) dialled {
	switch {
	case a.conn == nil && b.conn != nil:
		return b
	case b.conn != nil:
		b.conn.Close()
	case a.conn == nil && (a.err == nil || ownOf(a.err) != OwnNothing && ownOf(b.err) == OwnNothing):
		return b
	}
	return a
}

// patience returns a channel that fires when it is the next address's turn. It never fires if there
// is no next address.
func (d *dialler) patience(more bool) <-chan time.Time {
	if !more {
		return nil
	}
	return time.After(d.stagger)
}

func receive(results <-chan dialled, patience <-chan time.Time) (r dialled, ok bool) {
	select {
	case r = <-results:
		return r, true
	case <-patience:
		return r, false
	}
}

func connectCause(err error) Cause {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return ConnectTimeout
	case errors.Is(err, syscall.ECONNRESET):
		return Reset
	}
	return NoRoute
}

// A conn is an open connection of a dialler.
type conn struct {
	net.Conn
	d    *dialler
	once sync.Once

	severed atomic.Bool                  // closed by this client, while the transport may still use it for a request
	mayNow  atomic.Pointer[func() error] // called before each write; nil: any time

	// guarded by the dialler's lock
	users int           // requests that use it
	idle  *list.Element // nil: not idle
	since time.Time     // start of the idle time
}

// track adds a connection to the open ones. If there are too many, which may happen with idle HTTP/2
// connections, it closes the one that has been idle longest.
func (d *dialler) track(c net.Conn) (*conn, error) {
	t := &conn{Conn: c, d: d}
	d.mu.Lock()
	if d.open == nil {
		d.mu.Unlock()
		c.Close()
		d.tellOpened(-1)
		return nil, &Error{Cause: Cancelled, Op: "connect", Err: net.ErrClosed}
	}
	d.open[t] = struct{}{}
	if a := remote(c); a.IsValid() {
		d.last = a.Addr()
	}
	many := len(d.open) > d.most
	d.mu.Unlock()
	if many {
		d.shed()
	}
	return t, nil
}

// take marks a connection as used by a request, and reports whether it had been severed.
func (c *conn) take() (severed bool) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	if c.severed.Load() {
		return true
	}
	c.users++
	c.leaveIdle()
	return false
}

// Write writes only what may be sent at this moment: since the request got its connection, this process may have been
// stopped for any length of time.
func (c *conn) Write(p []byte) (int, error) {
	if may := c.mayNow.Load(); may != nil {
		if err := (*may)(); err != nil {
			c.severed.Store(true)
			c.Close()
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// release ends a use that began with take.
func (c *conn) release() {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	if c.users--; c.users > 0 {
		return
	}
	if _, open := c.d.open[c]; open {
		c.since = time.Now()
		c.idle = c.d.idle.PushBack(c)
	}
}

// leaveIdle must be called with the dialler's lock held.
func (c *conn) leaveIdle() {
	if c.idle != nil {
		c.d.idle.Remove(c.idle)
		c.idle = nil
	}
}

// shed closes the connection that has been idle longest, so that no request can use it, and reports whether
// there was one.
func (d *dialler) shed() bool {
	d.mu.Lock()
	first := d.idle.Front()
	if first == nil {
		d.mu.Unlock()
		return false
	}
	c := first.Value.(*conn)
	c.leaveIdle()
	c.severed.Store(true)
	d.mu.Unlock()
	if d.leased {
		c.closeInOrder()
	}
	c.Close()
	return true
}

// idleSince returns when the connection that shed would close became idle. It is zero if there is
// none.
func (d *dialler) idleSince() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if first := d.idle.Front(); first != nil {
		return first.Value.(*conn).since
	}
	return time.Time{}
}

// tracked returns the dialler's connection underneath c, or nil.
func tracked(c net.Conn) *conn {
	for {
		switch t := c.(type) {
		case *answers:
			c = t.Conn
		case *tls.Conn:
			c = t.NetConn()
		case *conn:
			return t
		default:
			return nil
		}
	}
}

func (c *conn) Close() error {
	c.d.mu.Lock()
	delete(c.d.open, c)
	idle := c.idle != nil
	c.leaveIdle()
	c.d.mu.Unlock()
	if idle && c.d.leased {
		c.closeInOrder()
	}
	err := c.Conn.Close()
	c.once.Do(func() { c.d.tellOpened(-1) }) // only when its descriptor is free
	return err
}

// closeInOrder undoes abort when no data of a request is left.
func (c *conn) closeInOrder() {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(-1) // fails if closed meanwhile
	}
}

// abort makes the connection send a reset when it is closed, including by the end of the process.
// Otherwise the system would continue to retransmit a lost request. Its host would receive the
// request long after it was given up, perhaps just before the next one.
func (c *conn) abort() {
	if tcp, ok := c.Conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0) // fails if closed meanwhile
	}
}

// close closes all open connections, and those opened later.
func (d *dialler) close() {
	d.mu.Lock()
	open := d.open
	d.open = nil
	d.mu.Unlock()
	for c := range open {
		c.Close()
	}
}

// abort calls abort on all open connections.
func (d *dialler) abort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		c.abort()
	}
}

func (d *dialler) tellOpened(n int) {
	if d.opened != nil {
		d.opened(n)
	}
}
