package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Cause says why a request has no answer.
type Cause uint8

const (
	None           Cause = iota
	NXDomain             // the name does not exist
	DNSTemporary         // SERVFAIL, DNS time-out
	Refused              // connection refused
	RefusedAddress       // not a public address (SPEC 13)
	ConnectTimeout
	NoRoute // unreachable network or host; also a lack of local sockets
	TLS     // certificate, protocol
	TLSTimeout
	Timeout     // after connecting: no whole header in time
	Reset       // the connection ended before the header, or was reset
	Truncated   // the body is shorter than announced
	BadResponse // malformed, header too large, bad encoding; a request that cannot be sent
	TooLarge
	Slow  // body under 1 KiB/s over 10 s, or over 5 min; a time-out for retries
	Proxy // the proxy failed, or refused the tunnel
	Cancelled
)

// String returns a few words for people.
func (c Cause) String() string {
	words := [...]string{
		"none", "no such host", "dns failure", "connection refused", "address refused",
		"connect timeout", "no route", "tls error", "tls timeout", "timeout",
		"connection reset", "truncated response", "bad response", "response too large",
		"response too slow", "proxy error", "cancelled",
	}
	if int(c) >= len(words) {
		return "unknown"
	}
	return words[c]
}

// Connection reports whether the request never reached an HTTP exchange.
func (c Cause) Connection() bool { return c >= NXDomain && c <= TLSTimeout }

// An Error is the failure of one request. Its text may be shown and stored; the
// text of Err may hold what a peer sent.
type Error struct {
	Cause Cause
	Op    string // "resolve", "connect", "read body"
	URL   string
	Err   error // never nil
	Stale bool  // sent on a kept-alive connection that died without an answer
}

// Bounds in bytes on the text of errors and its parts.
const (
	maxErrorText = 256
	maxErrorURL  = 120
	maxReason    = 160
)

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.URL != "" {
		b.WriteString(" " + shorten(clean(cut(e.URL, 4*maxErrorURL)), maxErrorURL))
	}
	b.WriteString(": " + e.Reason())
	return shorten(b.String(), maxErrorText)
}

// Reason is the cause, and what it is known by: "tls error: certificate has
// expired". It neither repeats itself nor names the URL.
func (e *Error) Reason() string {
	cause := e.Cause.String()
	if e.Err == nil {
		return cause
	}
	detail := detailOf(e.Err)
	if strings.HasSuffix(detail, cause) {
		return cause
	}
	return shorten(cause+": "+clean(cut(detail, 4*maxReason)), maxReason)
}

// detailOf is the text of an error. Of a refused certificate it leaves out the
// names that it is for, which may be a hundred.
func detailOf(err error) string {
	var host x509.HostnameError
	var refused *tls.CertificateVerificationError
	var inner *Error
	switch {
	case errors.As(err, &host):
		return "the certificate is not for " + host.Host
	case errors.As(err, &refused):
		return strings.TrimPrefix(refused.Err.Error(), "x509: ")
	case errors.As(err, &inner):
		return inner.Reason()
	}
	return strings.TrimPrefix(err.Error(), "tls: ")
}

func (e *Error) Unwrap() error { return e.Err }

// asError finds the cause that a lower stage gave, or gives this one.
func asError(err error, cause Cause, op string) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Cause: cause, Op: op, Err: err}
}

// clean replaces whatever could act on a terminal or break a line: controls,
// format characters (bidirectional overrides among them), line separators,
// noncharacters, bytes that are not UTF-8.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r&0xfffe == 0xfffe ||
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) {
			return '?'
		}
		return r
	}, s)
}

// shorten cuts s to at most n bytes, and shows that it did.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return cut(s, n-len("…")) + "…"
}

// cut shortens s to at most n bytes without splitting a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
