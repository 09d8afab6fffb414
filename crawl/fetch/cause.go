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
	"github.com/sumi-ripple/ripple/schema/inert"
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
	NoRoute        = schema.CauseNoRoute // also whatever Own names
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

// An Error is the failure of one request. Its text may be shown and stored; the
// text of Err may hold what a peer sent.
type Error struct {
	Cause Cause
	Op    string // "resolve", "connect", "read body"
	URL   string
	Err   error // never nil
	Own   Own   // what of this machine explains it
	Stale bool  // sent on a kept-alive connection that died without an answer
	TLS   Signs
}

// Signs are what TLS shows of the host of a failed request.
type Signs struct {
	Spoke     bool      // it was spoken on the connection that the request was sent on
	Shaken    time.Time // the host took part in the handshake for this request; zero: it did not
	Alert     bool      // the handshake ended by an alert of the peer
	Untrusted bool      // the certificate has the right name, and its issuer is not trusted
}

// errExpired ends a request whose time has passed, whatever it was about.
var errExpired = errors.New("the request's time is over")

// A Busy reports that a request was not sent because an address may not be asked now.
type Busy struct{ Address netip.Addr }

func (b *Busy) Error() string { return "address " + b.Address.String() + " is busy" }

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
		b.WriteString(" " + shorten(inert.Line(e.URL, 4*maxErrorURL), maxErrorURL))
	}
	b.WriteString(": " + e.Reason().String())
	return shorten(b.String(), maxErrorText)
}

// Reason is the cause, and what it is known by: "tls error: certificate has
// expired". It neither repeats itself nor names the URL.
func (e *Error) Reason() schema.Reason {
	r := schema.Reason{Cause: e.Cause}
	if e.Err == nil {
		return r
	}
	if detail := e.detail(); !strings.HasSuffix(detail, e.Cause.String()) {
		r.Detail = shorten(inert.Line(detail, 4*maxReason), maxReason-len(e.Cause.String()+": "))
	}
	return r
}

// detail is what the cause does not say yet. It leaves out what differs from run to run or from machine to machine:
// addresses, ports and numbers of streams. Of a failed look-up it leaves out the host, and of a certificate the names
// that it is for, which may be a hundred.
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

// symptom is what the text of an error of a connection says beyond the cause. How a connection ended, or which clock
// noticed that nothing came, is a matter of moments, and says nothing beyond it.
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

// WithoutPlaces returns the parts of an error's text that name no address with a port.
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

// asError finds the cause that a lower stage gave, or gives this one.
func asError(err error, cause Cause, op string) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Cause: cause, Op: op, Err: err}
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
