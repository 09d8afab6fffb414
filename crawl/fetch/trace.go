package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
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
		TLSHandshakeStart:    x.handshake,
		TLSHandshakeDone:     x.handshook,
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
	if x.barred || !may {
		sever(info.Conn) // or the request could still slip out
	}
	x.release()
	t := tracked(info.Conn)
	if x.dead = t != nil && !x.over && t.take(); t != nil && !x.over && !x.dead {
		x.taken = t
	}
	x.got, x.reused, x.conn, x.tunnelled = true, info.Reused, info.Conn, true
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

func (x *exchange) handshake() {
	if x.route.proxy != nil && x.route.proxy.Scheme != "https" {
		x.tunnel()
	}
	x.enterPhase(handshaking)
}

func (x *exchange) handshook(_ tls.ConnectionState, err error) {
	x.mu.Lock()
	x.shaken = x.shaken || err == nil
	if !x.got {
		x.tlsErr = err
	}
	x.mu.Unlock()
}

// forsake severs a connection with which hands are still being shaken. The transport may
// find the handshake finished all the same, and give the connection to another request.
func (x *exchange) forsake(c *conn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.shaken {
		sever(c)
	}
}

// unsent reports whether the exchange failed because it was given a severed connection, where nothing can be sent.
func (x *exchange) unsent() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.got && x.dead && x.ctx.Err() == nil
}

func (x *exchange) tunnel() {
	x.mu.Lock()
	x.tunnelled = true
	x.mu.Unlock()
}

// proxyOf is the transport's Proxy: the route was chosen before.
func proxyOf(r *http.Request) (*url.URL, error) {
	return exchangeOf(r.Context()).route.proxy, nil
}

// tunnelAnswer is the transport's OnProxyConnectResponse.
func tunnelAnswer(ctx context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode != http.StatusOK {
		return &Error{Cause: Proxy, Op: "connect", Err: fmt.Errorf("the proxy answered %d", res.StatusCode)}
	}
	exchangeOf(ctx).tunnel()
	return nil
}
