package fault

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// playRaw plays the faults that are written to the connection itself.
func (f Fault) playRaw(w http.ResponseWriter, r *http.Request, a Answer) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the stream is reset
	}
	defer c.Close()
	switch f {
	case HeaderDrip:
		a.dripHeader(r, c)
	case EndlessHeader:
		pourHeader(c)
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
		f.playBody(c, a)
	}
}

// playBody plays the faults that follow an honest header.
func (f Fault) playBody(c net.Conn, a Answer) {
	half := a.Body[:len(a.Body)/2]
	switch f {
	case ResetMidBody:
		a.head(c, len(a.Body)+1)
		_, _ = c.Write(half)
		reset(c)
	case Truncated:
		a.head(c, len(a.Body)+1)
		_, _ = c.Write(half)
	case TruncatedChunks:
		a.chunk(c)
	case BadChunk:
		a.chunk(c)
		say(c, "zz\r\nlast words\r\n0\r\n\r\n")
	case LengthTooLong:
		a.head(c, len(a.Body)+1000)
		_, _ = c.Write(a.Body)
		drain(c)
	case LengthTooShort:
		a.head(c, len(half))
		_, _ = c.Write(append(bytes.Clone(a.Body), smuggled()...))
		drain(c)
	}
}

// smuggled returns an unrequested answer: a client that reuses the connection takes it for the next
// page.
func smuggled() string {
	body := `<a href="https://smuggled.test/">smuggled</a>`
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func (a Answer) whole(c net.Conn, status string) {
	say(c, fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", status, len(a.Body),
		a.Body))
}

func (a Answer) head(c net.Conn, length int) {
	a.begin(c, fmt.Sprintf("Content-Length: %d", length))
}

// chunk begins a chunked answer with half of the body.
func (a Answer) chunk(c net.Conn) {
	a.begin(c, "Transfer-Encoding: chunked")
	half := a.Body[:len(a.Body)/2]
	if len(half) > 0 {
		say(c, fmt.Sprintf("%x\r\n%s\r\n", len(half), half))
	}
}

func (a Answer) begin(c net.Conn, framing string) {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	_ = a.Header.Write(&b) // a strings.Builder takes everything
	say(c, b.String()+framing+"\r\n\r\n")
}

func (a Answer) dripHeader(r *http.Request, c net.Conn) {
	text := "HTTP/1.1 200 OK\r\n"
	for i := 0; ; i++ {
		if i == len(text) {
			i, text = 0, "X-Patience: a virtue\r\n"
		}
		if _, err := c.Write([]byte{text[i]}); err != nil || !pause(r.Context(), a.Every) {
			return
		}
	}
}

func pourHeader(c net.Conn) {
	_, err := c.Write([]byte("HTTP/1.1 200 OK\r\n"))
	for line := []byte(strings.Repeat("X-More: of the same\r\n", 500)); err == nil; {
		_, err = c.Write(line)
	}
}

func say(c net.Conn, text string) { _, _ = c.Write([]byte(text)) }

// reset ends the TCP connection below TLS with RST.
func reset(c net.Conn) {
	if c, ok := c.(interface{ Reset() }); ok {
		c.Reset()
	}
}

// drain reads until the client gives up or the server closes.
func drain(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
