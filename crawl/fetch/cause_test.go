package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/http2"

	"github.com/sumi-ripple/ripple/schema/sanitize"
)

func TestCause(t *testing.T) {
	seen := map[string]bool{}
	for c := None; c <= Cancelled; c++ {
		if s := c.String(); s == "" || s == "unknown" || seen[s] {
			t.Errorf("cause %d reads %q", c, s)
		}
		seen[c.String()] = true
	}
	if got := Cause(200).String(); got != "unknown" {
		t.Errorf("%q", got)
	}
	for c, want := range map[Cause]bool{None: false, NXDomain: true, NoRoute: true, TLSTimeout: true, Timeout: false,
		Proxy: true} {
		if c.Connection() != want {
			t.Errorf("%v: connection %v", c, !want)
		}
	}
}

func TestErrorText(t *testing.T) {
	e := &Error{Cause: Refused, Op: "connect", URL: "https://example.com/", Err: errors.New("dial\x1b[31m\n\u202eevil")}
	if got, want := e.Error(), "connect https://example.com/: connection refused: dial[31m evil"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 42424}
	reset := &net.OpError{Op: "read", Net: "tcp", Source: here, Addr: here,
		Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	for _, tt := range []struct {
		cause Cause
		err   error
		want  string
	}{
		{Refused, errors.New("dial tcp 192.0.2.1:443: connect: connection refused"), "connection refused"},
		{TLS, refused(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.test"}}, Host: "b.test"}),
			"TLS error: the certificate is not for b.test"},
		{TLS, refused(x509.UnknownAuthorityError{}), "TLS error: certificate signed by unknown authority"},
		{TLS, refused(errors.New("x509: certificate signed by unknown authority (possibly because of \"x509: bad\")")),
			"TLS error: certificate signed by unknown authority"},
		{TLS, errors.New("tls: unsupported"), "TLS error: unsupported"},
		{TLS, &net.OpError{Op: "remote error", Err: tls.AlertError(80)}, "TLS error: the server says internal error"},
		{NXDomain, nil, "no such host"},
		{NXDomain, &net.DNSError{Err: "no such host", Name: "b.test", Server: "192.0.2.1:53"}, "no such host"},
		{DNSTemporary, &net.DNSError{Err: "dial udp 192.0.2.1:53: connect: network is unreachable", Name: "www.b.test.",
			Server: "192.0.2.1:53"}, "DNS failure: network is unreachable"},
		{DNSTemporary, &net.DNSError{Err: "server misbehaving", Name: "b.test"}, "DNS failure: server misbehaving"},
		{Proxy, &net.DNSError{Err: "server misbehaving", Name: "proxy.test"},
			"proxy error: lookup proxy.test: server misbehaving"},
		{Timeout, errExpired, "timeout"},
		{Reset, reset, "connection reset"},
		{Reset, io.EOF, "connection reset"},
		{Reset, fmt.Errorf("net/http: HTTP/1.x transport connection broken: %w", reset), "connection reset"},
		{Reset, errors.New("http: server closed idle connection"), "connection reset"},
		{Reset, errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=7, ErrCode=NO_ERROR, " +
			`debug="10.0.0.1:443"`), "connection reset"},
		{Reset, errors.New("http2: server sent GOAWAY and closed the connection; LastStreamID=7, " +
			`ErrCode=ENHANCE_YOUR_CALM, debug="too_many_pings"`),
			"connection reset: the server ended the connection: ENHANCE_YOUR_CALM"},
		{BadResponse, http2.StreamError{StreamID: 9, Code: http2.ErrCodeProtocol},
			"bad response: the server ended the stream: PROTOCOL_ERROR"},
		{Truncated, io.ErrUnexpectedEOF, "truncated response"},
		{ConnectTimeout, &net.OpError{Op: "dial", Net: "tcp", Addr: here, Err: os.ErrDeadlineExceeded}, "connect timeout"},
		{NoRoute, &net.OpError{Op: "dial", Net: "tcp", Addr: here, Err: os.NewSyscallError("socket", syscall.EMFILE)},
			"no route: too many open files"},
		{NoRoute, &fs.PathError{Op: "open", Path: "/home/somebody/x", Err: syscall.ENOENT},
			"no route: no such file or directory"},
		{Proxy, fmt.Errorf("proxyconnect tcp: %w", &net.OpError{Op: "dial", Net: "tcp", Source: here, Addr: here,
			Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}), "proxy error: connection refused"},
		{Proxy, errors.New("lookup proxy.test on 127.0.0.53:53: server misbehaving"), "proxy error: server misbehaving"},
		{BadResponse, errors.New("read tcp [::1]:4242->[::1]:443: something else"), "bad response: something else"},
		{BadResponse, errors.New("socks connect tcp 127.0.0.1:1080->a.test:443: unknown"), "bad response: unknown"},
		{DNSTemporary, errExpired, "DNS failure: the request's time is over"},
		{BadResponse, errors.New(strings.Repeat("é", 200)), "bad response: " + strings.Repeat("é", 71) + "…"},
	} {
		if got := (&Error{Cause: tt.cause, Op: "connect", URL: "https://b.test/",
			Err: tt.err}).Reason().String(); got != tt.want {
			t.Errorf("Reason() = %q, want %q", got, tt.want)
		}
	}
	long := &Error{Cause: TLS, Op: "tls handshake", URL: "https://" + strings.Repeat("é", 2000),
		Err: errors.New("because")}
	if got := long.Error(); !strings.HasSuffix(got, ": TLS error: because") {
		t.Errorf("%q", got)
	}
}

func refused(err error) error { return &tls.CertificateVerificationError{Err: err} }

// Whatever a peer sends, the text is short, valid and harmless.
func FuzzError(f *testing.F) {
	f.Add("https://example.com/", "\x00\x1b]0;x\a\u202e\ufffe\xff")
	f.Fuzz(func(t *testing.T, url, text string) {
		e := &Error{Cause: BadResponse, Op: "read header", URL: url, Err: errors.New(text)}
		got := e.Error()
		if reason := e.Reason().String(); len(reason) > 160 || !utf8.ValidString(reason) {
			t.Fatalf("%d bytes: %q", len(reason), reason)
		}
		if len(got) > 256 || !utf8.ValidString(got) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
		if again := sanitize.Line(got, maxErrorText); again != strings.TrimSpace(got) {
			t.Fatalf("%q is not inert", got)
		}
	})
}
