package webtest

import (
	"bufio"
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
)

// An exchange is one request with its answer. It is a ResponseWriter that fills the log entry, and
// belongs to the goroutine of its handler.
type exchange struct {
	http.ResponseWriter
	request  *http.Request
	journal  *journal
	entry    *Entry
	conn     connection
	bytes    int64
	began    bool // the final header is written
	hijacked bool
	failed   bool // a write failed
	returned bool // the handler did not panic
}

// WriteHeader records the time of the first byte.
func (x *exchange) WriteHeader(status int) {
	if !x.began {
		x.journal.answered(x.entry, x.conn.latest(), status)
		x.began = status >= 200
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(b []byte) (int, error) {
	if !x.began {
		x.WriteHeader(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(b)
	x.bytes += int64(n)
	x.failed = x.failed || err != nil
	return n, err
}

// FlushError sends buffered data, for [http.ResponseController].
func (x *exchange) FlushError() error {
	if !x.began {
		x.WriteHeader(http.StatusOK)
	}
	err := http.NewResponseController(x.ResponseWriter).Flush()
	x.failed = x.failed || err != nil
	return err
}

// Hijack returns the connection. Data written to it is logged, and its method Reset ends it with
// RST.
func (x *exchange) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(x.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	x.hijacked = true
	raw := &rawConn{Conn: c, x: x}
	return raw, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(raw)), nil
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

func (x *exchange) end() {
	if x.returned && !x.began && !x.hijacked {
		x.WriteHeader(http.StatusOK) // as net/http does if the handler writes nothing
	}
	x.journal.finish(x.entry, x.conn.latest(), x.bytes, !x.returned || x.failed || x.cut())
}

// cut reports whether the client left before it had the whole answer.
func (x *exchange) cut() bool {
	if x.request.Context().Err() == nil {
		return false
	}
	length, err := strconv.ParseInt(x.Header().Get("Content-Length"), 10, 64)
	return err != nil || x.request.Method != http.MethodHead && x.bytes < length
}

// A rawConn is a hijacked connection whose writes are logged.
type rawConn struct {
	net.Conn
	x *exchange
}

func (c *rawConn) Write(b []byte) (int, error) {
	if !c.x.began {
		c.x.began = true
		c.x.journal.answered(c.x.entry, c.x.conn.latest(), rawStatus(b))
	}
	n, err := c.Conn.Write(b)
	c.x.bytes += int64(n)
	c.x.failed = c.x.failed || err != nil
	return n, err
}

// Close records the end. It does so first, because the client may see the end before the handler
// returns.
func (c *rawConn) Close() error {
	c.x.journal.ended(c.x.entry, c.x.conn.latest())
	return c.Conn.Close()
}

// Reset ends the TCP connection below TLS with RST.
func (c *rawConn) Reset() {
	c.x.journal.ended(c.x.entry, c.x.conn.latest())
	below := c.Conn
	if t, ok := below.(*tls.Conn); ok {
		below = t.NetConn()
	}
	if s, ok := below.(*socket); ok {
		s.reset()
	}
}

// rawStatus parses the code of a status line; 0 if there is none.
func rawStatus(b []byte) int {
	const before = len("HTTP/1.1 ")
	if len(b) < before {
		return 0
	}
	n := 0
	for _, c := range b[before:] {
		if c < '0' || c > '9' || n > 999 {
			break
		}
		n = n*10 + int(c-'0')
	}
	return n
}
