package fetch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"golang.org/x/net/http2"
)

// checkStatus refuses a status that is not final. The transport has already refused header fields with
// control characters.
func checkStatus(status int) error {
	if status < 200 {
		return &Error{Cause: BadResponse, Op: "read header", Err: fmt.Errorf("status %d", status)}
	}
	return nil
}

// joinTypes joins several Content-Type fields, which together form one value (RFC 9110, section 5.3).
func joinTypes(h http.Header) {
	if types := h["Content-Type"]; len(types) > 1 {
		h["Content-Type"] = []string{strings.Join(types, ", ")}
	}
}

// tlsCause distinguishes a failed handshake from a failed connection.
func tlsCause(err error) Cause {
	switch {
	case timedOut(err):
		return TLSTimeout
	case hungUp(err):
		return Reset
	}
	return TLS
}

// headerCause classifies the transport's errors between the request and the end of the header. HTTP/2 errors
// of net/http are recognized by type through its As method, the rest by text.
func headerCause(err error) Cause {
	var stream http2.StreamError
	var refusal *net.OpError
	switch {
	case timedOut(err):
		return Timeout
	case errors.As(err, &refusal) && refusal.Op == "remote error": // such as a missing client certificate
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

// bodyCause classifies an error that ended a body early.
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

// hungUp reports whether the peer ended the connection, in whatever way.
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
