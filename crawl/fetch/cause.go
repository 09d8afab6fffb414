package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/net/http2"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A Cause says why a request has no answer. It is one of those below.
type Cause = schema.Cause

// The causes, see package schema.
const (
	None           = schema.CauseNone
	NXDomain       = schema.CauseNXDomain
	DNSTemporary   = schema.CauseDNSTemporary
	Refused        = schema.CauseRefused
	RefusedAddress = schema.CauseRefusedAddress
	ConnectTimeout = schema.CauseConnectTimeout
	NoRoute        = schema.CauseNoRoute // also for every Own
	TLS            = schema.CauseTLS
	TLSTimeout     = schema.CauseTLSTimeout
	Timeout        = schema.CauseTimeout
	Reset          = schema.CauseReset
	Truncated      = schema.CauseTruncated
	BadResponse    = schema.CauseBadResponse
	TooLarge       = schema.CauseTooLarge
	Slow           = schema.CauseSlow
	Proxy          = schema.CauseProxy
	Cancelled      = schema.CauseCancelled
	RefusedPort    = schema.CauseRefusedPort
)

// An Error is the failure of one request. Its text may be displayed and stored; the text of Err may contain
// data from a peer.
type Error struct {
	Cause Cause
	Op    string // "resolve", "connect", "read body"
	URL   string
	Err   error // never nil
	Own   Own   // fault of this machine that explains it
	Stale bool  // sent on a kept-alive connection that died without an answer
	TLS   Signs
}

// Signs are what TLS shows about the host of a failed request.
type Signs struct {
	Spoke     bool      // TLS was established on the connection that carried the request
	Shaken    time.Time // when the host took part in a handshake for this request; zero: it did not
	Alert     bool      // the handshake ended with an alert from the peer
	Untrusted bool      // the certificate has the right name, but an untrusted issuer
}

// errExpired ends a request that exceeded a time limit.
var errExpired = errors.New("the request's time is over")

// A Busy reports that a request was not sent because its address must not be requested now.
type Busy struct{ Address netip.Addr }

func (b *Busy) Error() string { return "address " + b.Address.String() + " is busy" }

// Limits on the text of errors and of its parts, in bytes.
const (
	maxErrorText = 256
	maxErrorURL  = 120
	maxReason    = 160
)

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.URL != "" {
		b.WriteString(" " + shorten(sanitize.Line(e.URL, 4*maxErrorURL), maxErrorURL))
	}
	b.WriteString(": " + e.Reason().String())
	return shorten(b.String(), maxErrorText)
}

// Reason returns the cause with its details: "TLS error: certificate has expired". It neither repeats itself
// nor names the URL.
func (e *Error) Reason() schema.Reason {
	r := schema.Reason{Cause: e.Cause}
	if e.Err == nil {
		return r
	}
	if detail := e.detail(); !strings.HasSuffix(detail, e.Cause.String()) {
		r.Detail = shorten(sanitize.Line(detail, 4*maxReason), maxReason-len(e.Cause.String()+": "))
	}
	return r
}

// detail returns what the cause does not say. It omits everything that differs between runs or
// machines: addresses, ports and stream numbers. It also omits the host of a failed look-up, and
// the names in a certificate, of which there may be a hundred.
func (e *Error) detail() string {
	var dns *net.DNSError
	var host x509.HostnameError
	var refused *tls.CertificateVerificationError
	var inner *Error
	err := e.Err
	switch {
	case errors.Is(err, errExpired) && (e.Cause == ConnectTimeout || e.Cause == TLSTimeout || e.Cause == Timeout):
		return ""
	case e.Cause == DNSTemporary && errors.As(err, &dns):
		return strings.TrimSpace(dns.Err[strings.LastIndex(dns.Err, ": ")+1:])
	case errors.As(err, &host):
		return "the certificate is not for " + host.Host
	case errors.As(err, &refused):
		reason, _, _ := strings.Cut(refused.Err.Error(), " (possibly because of")
		return strings.TrimPrefix(reason, "x509: ")
	case errors.As(err, &inner):
		return inner.Reason().String()
	}
	return e.symptom(err)
}

// symptom returns what the text of a connection error adds to the cause. How a connection ended, or
// which clock expired first, is a matter of chance, and is omitted.
func (e *Error) symptom(err error) string {
	var stream http2.StreamError
	var errno syscall.Errno
	text := err.Error()
	_, goAway, _ := strings.Cut(text, "GOAWAY and closed the connection; ")
	_, code, _ := strings.Cut(goAway, "ErrCode=")
	code, _, _ = strings.Cut(code, ",")
	switch {
	case errors.As(err, &stream):
		return "the server ended the stream: " + stream.Code.String()
	case code != "" && code != http2.ErrCodeNo.String():
		return "the server ended the connection: " + code
	case e.Cause == Reset, e.Cause == Truncated, e.Cause == Timeout, e.Cause == ConnectTimeout, e.Cause == TLSTimeout:
		return ""
	case errors.As(err, &errno):
		return errno.Error()
	}
	if remote, ok := strings.CutPrefix(text, "remote error: tls: "); ok {
		return "the server says " + remote
	}
	return strings.TrimPrefix(WithoutPlaces(text), "tls: ")
}

// WithoutPlaces returns an error's text without the parts that name an address with a port.
func WithoutPlaces(text string) string {
	parts := strings.Split(text, ": ")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool {
		return slices.ContainsFunc(strings.Fields(strings.ReplaceAll(part, "->", " ")), func(word string) bool {
			_, err := netip.ParseAddrPort(word)
			return err == nil
		})
	}), ": ")
}

func (e *Error) Unwrap() error { return e.Err }

// asError returns the [Error] of a lower stage, or a new one with the given cause.
func asError(err error, cause Cause, op string) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Cause: cause, Op: op, Err: err}
}

// shorten cuts s to at most n bytes, and marks the cut.
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
