package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// traced returns the context of the request: it carries the exchange, to which
// the transport reports.
func (x *exchange) traced() context.Context {
	ctx := context.WithValue(x.ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              x.wantConn,
		GotConn:              x.gotConn,
		WroteHeaders:         x.wroteHeaders,
		GotFirstResponseByte: x.gotFirstByte,
	})
}

// wantConn is called before each sending. It lets a request go out once: what the
// transport would repeat ends here.
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

// gotConn is called before anything is sent. A connection may lead to another address
// than the one that would be dialled now.
func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	a := remote(info.Conn).Addr()
	may := !a.IsValid() || x.allows(a)
	if x.maySend != nil && may {
		if err := x.maySend(); err != nil {
			may = false
			x.cancel(&Error{Cause: Cancelled, Op: "send", Err: err})
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if c, ok := info.Conn.(*answers); ok {
		c.reader.Expect(x.method, x.gotFirstByte)
	}
	if x.barred || !may {
		sever(info.Conn) // or the request could still slip out
	}
	x.release()
	t := tracked(info.Conn)
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

// enterPhase notes how far the dial is. A dial that the request no longer waits for
// changes nothing.
func (x *exchange) enterPhase(p phase) {
	x.mu.Lock()
	if !x.got {
		x.phase = p
	}
	x.mu.Unlock()
}

// unsent reports whether the exchange failed because it was given a severed connection, where nothing can be sent.
func (x *exchange) unsent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.got && x.dead && x.ctx.Err() == nil
}

// tunnel notes that the proxy has done its part: what fails from now on is the host's.
func (x *exchange) tunnel() {
	x.mu.Lock()
	x.tunnelled = true
	x.mu.Unlock()
}

// proxyOf is the transport's Proxy: the route was chosen before, and connections with TLS find their way themselves.
func proxyOf(r *http.Request) (*url.URL, error) {
	x := exchangeOf(r.Context())
	if !x.plain {
		return nil, nil
	}
	return x.route.proxy, nil
}
