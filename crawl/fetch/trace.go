package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// traced returns the context of the request, which contains the exchange that the transport reports to.
func (x *exchange) traced() context.Context {
	ctx := context.WithValue(x.ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              x.wantConn,
		GotConn:              x.gotConn,
		WroteHeaders:         x.wroteHeaders,
		GotFirstResponseByte: x.gotFirstByte,
	})
}

// wantConn is called before each attempt to send. It lets a request be sent only once, and cancels
// the transport's own retries.
func (x *exchange) wantConn(string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.sent {
		x.barred = true
		x.cancel(&Error{Cause: Reset, Op: "send", Err: errors.New("the server ended the connection without an answer"),
			Stale: x.reused})
	}
	x.got, x.sent = false, false
}

// mayNow returns why the request may not be sent at this moment, which ends the exchange.
func (x *exchange) mayNow() error {
	if x.maySend == nil {
		return nil
	}
	err := x.maySend()
	if err != nil {
		err = &Error{Cause: Cancelled, Op: "send", Err: err}
		x.cancel(err)
	}
	return err
}

// gotConn is called before anything is sent. A reused connection may lead to another address than a new dial
// would.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	a := remote(info.Conn).Addr()
	may := !a.IsValid() || x.allows(a)
	may = may && x.mayNow() == nil
	x.mu.Lock()
	defer x.mu.Unlock()
	if c, ok := info.Conn.(*answers); ok {
		c.reader.Expect(x.method, x.gotFirstByte)
	}
	if x.barred || !may {
		sever(info.Conn) // otherwise the request could still be sent
	}
	x.release()
	t := tracked(info.Conn)
	if t != nil && x.maySend != nil {
		now := x.mayNow
		t.mayNow.Store(&now)
	}
	if x.dead = t != nil && !x.over && t.take(); t != nil && !x.over && !x.dead {
		x.taken = t
	}
	x.got, x.reused, x.conn, x.tunnelled = true, info.Reused, info.Conn, true
	if x.shakenAt = (time.Time{}); !x.plain && !info.Reused {
		x.shakenAt = time.Now()
	}
	x.phase = max(x.phase, waiting)
}

func (x *exchange) wroteHeaders() {
	x.mu.Lock()
	x.sent = !x.dead
	x.mu.Unlock()
}

func (x *exchange) gotFirstByte() {
	x.mu.Lock()
	if x.first.IsZero() {
		x.first = time.Now()
	}
	x.mu.Unlock()
}

// enterPhase records the progress of the dial. A dial that the request no longer waits for has no
// effect.
func (x *exchange) enterPhase(p phase) {
	x.mu.Lock()
	if !x.got {
		x.phase = p
	}
	x.mu.Unlock()
}

// unsent reports whether the exchange failed because it got a severed connection, on which nothing can be
// sent.
func (x *exchange) unsent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.got && x.dead && x.ctx.Err() == nil
}

// tunnel records that the proxy has done its part: later failures are the host's.
func (x *exchange) tunnel() {
	x.mu.Lock()
	x.tunnelled = true
	x.mu.Unlock()
}

// proxyOf is the transport's Proxy. The route has already been chosen, and TLS connections handle the proxy
// themselves.
func proxyOf(r *http.Request) (*url.URL, error) {
	x := exchangeOf(r.Context())
	if !x.plain {
		return nil, nil
	}
	return x.route.proxy, nil
}
