package desk

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// connections limits the connections to a desk. One more than the limit closes another. Connections
// that have not shown the token are closed first: the one that has been idle longest between two
// requests, then the one whose first request takes longest, then the one with the longest request.
// Next is the one that has shown the token and has been idle longest. A connection that has shown
// the token and is being answered stays. So thousands of connections cannot keep anyone out.
type connections struct {
	net.Listener
	most int

	mu   sync.Mutex
	open map[*connection]bool
	n    uint64 // changes of state so far
}

// A connection is a connection to one client. Every field but the first is guarded by the lock of
// connections.
type connection struct {
	net.Conn
	of     *connections
	state  http.ConnState
	since  uint64 // number of the change that led to that state
	proven bool   // it has shown the token
}

func newConnections(l net.Listener, most int) *connections {
	return &connections{Listener: l, most: most, open: map[*connection]bool{}}
}

// Accept returns the next connection for which there is room.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if one := c.admit(conn); one != nil {
			return one, nil
		}
		_ = conn.Close() // all others are being answered
	}
}

// admit makes room for a connection; nil: there is no room.
func (c *connections) admit(conn net.Conn) *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.most {
		last := c.leastMissed()
		if last == nil {
			return nil
		}
		delete(c.open, last)
		_ = last.Conn.Close()
	}
	c.n++
	one := &connection{Conn: conn, of: c, since: c.n}
	c.open[one] = true
	return one
}

// leastMissed returns the connection to close; nil: none.
func (c *connections) leastMissed() (last *connection) {
	for one := range c.open {
		if one.proven && one.state != http.StateIdle {
			continue
		}
		if last == nil || one.rank() < last.rank() || one.rank() == last.rank() && one.since < last.since {
			last = one
		}
	}
	return last
}

// rank orders connections by how much they would be missed.
func (one *connection) rank() int {
	switch {
	case one.proven:
		return 3
	case one.state == http.StateIdle:
		return 0
	case one.state == http.StateNew:
		return 1
	}
	return 2
}

// Close closes the connection and removes it from the list.
func (one *connection) Close() error {
	one.of.mu.Lock()
	delete(one.of.open, one)
	one.of.mu.Unlock()
	return one.Conn.Close()
}

// changed is the callback of [http.Server.ConnState].
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	if one := own(conn); one != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.n++
		one.state, one.since = state, c.n
	}
}

type connectionKey struct{}

// within is the callback of [http.Server.ConnContext].
func within(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, own(conn))
}

// own returns the desk's connection, which may be inside a TLS connection.
func own(conn net.Conn) *connection {
	if over, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = over.NetConn()
	}
	one, _ := conn.(*connection)
	return one
}

// prove records that the token was shown on the connection of a request.
func prove(ctx context.Context) {
	if one, _ := ctx.Value(connectionKey{}).(*connection); one != nil {
		one.of.mu.Lock()
		one.proven = true
		one.of.mu.Unlock()
	}
}
