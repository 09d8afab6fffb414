package webtest

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
)

// playRaw plays the faults that are written on the connection itself.
func (a answer) playRaw(x *exchange) {
	c, _, err := x.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the stream is reset
	}
	x.failed = true // none of them is a whole answer
	defer c.Close()
	switch a.fault {
	case HeaderDrip:
		a.dripHeader(x, c)
	case EndlessHeader:
		a.pourHeader(c)
	case ControlLocation:
		say(c, "HTTP/1.1 302 Found\r\nLocation: https://a.test/\x01\x7f\x1b[31m\x00\rX: y\r\nContent-Length: 0\r\n\r\n")
	case Status99:
		a.whole(c, "99 Odd")
	case Status999:
		a.whole(c, "999 Odd")
	case Garbage:
		say(c, "\x00\x01\x02 not the protocol you were looking for\r\n\r\n")
	case CloseAtOnce:
	case Reset:
		reset(c)
	default:
		a.playBody(c)
	}
}

// playBody plays the faults that come after an honest header.
func (a answer) playBody(c net.Conn) {
	half := a.body[:len(a.body)/2]
	switch a.fault {
	case ResetMidBody:
		a.head(c, len(a.body)+1)
		_, _ = c.Write(half)
		reset(c)
	case Truncated:
		a.head(c, len(a.body)+1)
		_, _ = c.Write(half)
	case TruncatedChunks:
		a.chunk(c)
	case BadChunk:
		a.chunk(c)
		say(c, "zz\r\nlast words\r\n0\r\n\r\n")
	case LengthTooLong:
		a.head(c, len(a.body)+1000)
		_, _ = c.Write(a.body)
		drain(c)
	case LengthTooShort:
		a.head(c, len(half))
		_, _ = c.Write(append(bytes.Clone(a.body), smuggled()...))
		drain(c)
	}
}

// smuggled is an answer that nobody asked for: a client that uses the
// connection again takes it for the next page.
func smuggled() string {
	body := `<a href="https://smuggled.test/">smuggled</a>`
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func (a answer) whole(c net.Conn, status string) {
	say(c, fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", status, len(a.body), a.body))
}

func (a answer) head(c net.Conn, length int) {
	a.begin(c, fmt.Sprintf("Content-Length: %d", length))
}

// chunk begins a chunked answer with half of the body.
func (a answer) chunk(c net.Conn) {
	a.begin(c, "Transfer-Encoding: chunked")
	half := a.body[:len(a.body)/2]
	if len(half) > 0 {
		say(c, fmt.Sprintf("%x\r\n%s\r\n", len(half), half))
	}
}

func (a answer) begin(c net.Conn, framing string) {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	_ = a.header.Write(&b) // a strings.Builder takes everything
	say(c, b.String()+framing+"\r\n\r\n")
}

func (a answer) dripHeader(x *exchange, c net.Conn) {
	text := "HTTP/1.1 200 OK\r\n"
	for i := 0; ; i++ {
		if i == len(text) {
			i, text = 0, "X-Patience: a virtue\r\n"
		}
		if _, err := c.Write([]byte{text[i]}); err != nil || !pause(x.request.Context(), a.every) {
			return
		}
	}
}

func (a answer) pourHeader(c net.Conn) {
	_, err := c.Write([]byte("HTTP/1.1 200 OK\r\n"))
	for line := []byte(strings.Repeat("X-More: of the same\r\n", 500)); err == nil; {
		_, err = c.Write(line)
	}
}

func say(c net.Conn, text string) { _, _ = c.Write([]byte(text)) }

// reset ends the TCP connection below TLS with RST.
func reset(c net.Conn) {
	if raw, ok := c.(*rawConn); ok {
		c = raw.Conn
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if s, ok := c.(*socket); ok {
		s.reset()
	}
}
