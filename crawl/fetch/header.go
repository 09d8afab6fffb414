package fetch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"
)

// checkStatus refuses what is no final answer. The transport has refused header
// fields with control characters before.
func checkStatus(status int) error {
	if status < 200 {
		return &Error{Cause: BadResponse, Op: "read header", Err: fmt.Errorf("status %d", status)}
	}
	return nil
}

// joinTypes makes one field of several that give a Content-Type, which together
// say one (RFC 9110, section 5.3).
func joinTypes(h http.Header) {
	if types := h["Content-Type"]; len(types) > 1 {
		h["Content-Type"] = []string{strings.Join(types, ", ")}
	}
}

// RetryAfter returns how long the answer asks to wait from its first byte on: seconds or
// an HTTP date (RFC 9110 section 10.2.3); -1 if it asks for neither. A second that has begun
// counts. A date is one of the server's clock, which the answer's Date tells: one of the two
// clocks may be wrong.
func (r *Response) RetryAfter() time.Duration {
	value := strings.TrimSpace(r.Header.Get("Retry-After"))
	if value == "" {
		return -1
	}
	if whole, part, _ := strings.Cut(value, "."); whole != "" && strings.Trim(whole+part, "0123456789") == "" {
		n, err := strconv.ParseUint(whole, 10, 31)
		if err != nil {
			return 1 << 62 // more seconds than fit
		}
		if strings.Trim(part, "0") != "" {
			n++
		}
		return time.Duration(n) * time.Second
	}
	if at, ok := httpDate(value); ok {
		return max(0, at.Sub(r.sent()))
	}
	return -1
}

// sent returns when the answer was sent by the server's clock or, where that is not known or more
// than a day off, when it came by the own one.
func (r *Response) sent() time.Time {
	const most = 24 * time.Hour // apart
	if at, ok := httpDate(r.Header.Get("Date")); ok && at.Sub(r.FirstByte).Abs() <= most {
		return at
	}
	return r.FirstByte
}

// httpDate reads a date (RFC 9110 section 5.6.7), which is in UTC whatever zone an old form of it
// names, and often says so in other words.
func httpDate(value string) (at time.Time, ok bool) {
	for _, zone := range []string{" UTC", " +0000"} {
		if date, cut := strings.CutSuffix(value, zone); cut {
			value = date + " GMT"
		}
	}
	for _, layout := range []string{http.TimeFormat, time.RFC850, time.ANSIC} {
		if at, err := time.ParseInLocation(layout, value, time.UTC); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// tlsCause tells a handshake that failed from a connection that did.
func tlsCause(err error) Cause {
	switch {
	case timedOut(err):
		return TLSTimeout
	case hungUp(err):
		return Reset
	}
	return TLS
}

// headerCause classes what the transport says between the request and the last
// header. HTTP/2 errors of net/http are known by their type through its As
// method, the rest by text.
func headerCause(err error) Cause {
	var stream http2.StreamError
	var refusal *net.OpError
	switch {
	case timedOut(err):
		return Timeout
	case errors.As(err, &refusal) && refusal.Op == "remote error": // as of who misses a certificate of ours
		return TLS
	case hungUp(err):
		return Reset
	case errors.As(err, &stream):
		return streamCause(stream)
	}
	return BadResponse
}

func streamCause(e http2.StreamError) Cause {
	switch e.Code {
	case http2.ErrCodeProtocol, http2.ErrCodeFrameSize, http2.ErrCodeFlowControl, http2.ErrCodeCompression:
		return BadResponse
	}
	return Reset
}

// bodyCause classes what ended a body early.
func bodyCause(err error) Cause {
	var stream http2.StreamError
	switch {
	case timedOut(err):
		return Timeout
	case errors.Is(err, io.ErrUnexpectedEOF):
		return Truncated
	case hungUp(err):
		return Reset
	case errors.As(err, &stream):
		return streamCause(stream)
	}
	return BadResponse
}

func timedOut(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// hungUp reports whether the peer ended the connection, politely or not.
func hungUp(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE,
		syscall.ECONNABORTED, net.ErrClosed, io.ErrClosedPipe} {
		if errors.Is(err, end) {
			return true
		}
	}
	text := err.Error()
	for _, end := range []string{"server closed idle connection", "GOAWAY", "client connection lost",
		"client conn not usable", "client conn is closed", "client connection force closed",
		"client conn could not be established"} {
		if strings.Contains(text, end) {
			return true
		}
	}
	return false
}
