package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestConnectTo(t *testing.T) {
	r := &routes{exact: map[string]string{}, below: map[string]string{}}
	err := r.addTargets(map[string]string{
		"a.test": "127.0.0.1:1", "a.test:8443": "127.0.0.1:2", "*.Docs.test": "127.0.0.1:3",
		"*.docs.test:99":   "127.0.0.1:4",
		"*.deep.docs.test": "127.0.0.1:5", "b.docs.test": "127.0.0.1:6", "[2001:db8::1]:443": "127.0.0.1:7",
		"2001:db8::2": "127.0.0.1:8",
		"192.0.2.7":   "[::1]:9",
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ host, port, want string }{
		{"a.test", "443", "127.0.0.1:1"}, {"A.TEST", "443", "127.0.0.1:1"}, {"a.test.", "443", "127.0.0.1:1"},
		{"www.a.test", "443", "127.0.0.1:1"},
		{"a.test", "8443", "127.0.0.1:2"}, {"b.a.test", "443", ""}, {"xa.test", "443", ""},
		{"docs.test", "443", "127.0.0.1:3"}, {"www.docs.test", "443", "127.0.0.1:3"},
		{"x.y.docs.test", "1", "127.0.0.1:3"},
		{"notdocs.test", "443", ""},
		{"docs.test", "99", "127.0.0.1:4"}, {"x.docs.test", "99", "127.0.0.1:4"},
		{"deep.docs.test", "99", "127.0.0.1:5"}, {"b.docs.test", "99", "127.0.0.1:6"},
		{"2001:db8::1", "443", "127.0.0.1:7"}, {"2001:db8::1", "444", ""}, {"2001:db8::2", "444", "127.0.0.1:8"},
		{"192.0.2.7", "443", "[::1]:9"},
	}
	for _, tt := range tests {
		if got := r.target(tt.host, tt.port); got != tt.want {
			t.Errorf("%s port %s: %q, want %q", tt.host, tt.port, got, tt.want)
		}
	}
}

func TestNewErrs(t *testing.T) {
	notPEM := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(notPEM, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		cfg  Config
		want string
	}{
		{Config{Proxy: "ftp://user:secret@proxy.test:1"}, "want http://"},
		{Config{Proxy: "http://user:secret@"}, "want http://"},
		{Config{Proxy: "http://user:secret%zz@proxy.test:1"}, "want http://"},
		{Config{Proxy: "http://user:secret@proxy.test:port"}, "want http://"},
		{Config{CAFile: "/does/not/exist"}, "ca-file"},
		{Config{CAFile: notPEM}, "no certificate"},
		{Config{ConnectTo: map[string]string{"a.test": "127.0.0.1"}}, "want addr:port"},
		{Config{ConnectTo: map[string]string{"a.test": "127.0.0.1:0"}}, "want addr:port"},
		{Config{ConnectTo: map[string]string{"a.test": "127.0.0.1:65536"}}, "want addr:port"},
		{Config{ConnectTo: map[string]string{"*": "127.0.0.1:1"}}, "want host"},
		{Config{ConnectTo: map[string]string{"a.*.test": "127.0.0.1:1"}}, "want host"},
		{Config{ConnectTo: map[string]string{"https://a.test": "127.0.0.1:1"}}, "want host"},
	}
	for _, tt := range tests {
		_, err := New(tt.cfg)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", tt.cfg, err)
		}
	}
}

// Connect-to changes where a connection leads, not its request: name and Host remain those of the
// URL, and only a mapped name reaches the private target.
func TestMapped(t *testing.T) {
	var host, sni string
	s := quietServer(t, func(w http.ResponseWriter, r *http.Request) { host, sni = r.Host, r.TLS.ServerName })
	target := strings.TrimPrefix(s.URL, "https://")
	c := newClient(t, Config{CAFile: caFile(t, s), ConnectTo: map[string]string{"*.example.com": target,
		"wrong.test": target}})
	res, err := do(c, t.Context(), Request{URL: "https://example.com/"})
	if err != nil || host != "example.com" || sni != "example.com" || res.Remote.String() != target {
		t.Errorf("%+v, %v; asked for %q, %q", res, err, host, sni)
	}
	if _, err := do(c, t.Context(), Request{URL: "https://wrong.test/"}); causeOf(t, err) != TLS {
		t.Errorf("wrong name: %v", err)
	}
	if _, err := do(c, t.Context(), Request{URL: s.URL}); causeOf(t, err) != RefusedAddress {
		t.Errorf("the target itself: %v", err)
	}
	if !c.Mapped("www.example.com") || !c.Mapped("wrong.test:1") || c.Mapped("other.test") {
		t.Error("Mapped is wrong")
	}
	if got, err := c.Resolve(t.Context(), "a.example.com"); err != nil || len(got) != 1 || !got[0].IsLoopback() {
		t.Errorf("Resolve: %v, %v", got, err)
	}
}

// tunnel is a proxy that connects every request to target, if the password is right.
func tunnel(t *testing.T, target string) (addr string, asked func() []string) {
	var names []string
	addr, _ = listen(t, func(conn net.Conn, in *bufio.Reader) {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		names = append(names, r.Method+" "+r.Host)
		if r.Header.Get("Proxy-Authorization") != "Basic dXNlcjpwYXNz" {
			io.WriteString(conn, "HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n")
			return
		}
		up, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer up.Close()
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(up, in)
		io.Copy(conn, up)
	})
	return addr, func() []string { return names }
}

func TestProxy(t *testing.T) {
	s := quietServer(t, func(w http.ResponseWriter, r *http.Request) {})
	ca := caFile(t, s)
	addr, asked := tunnel(t, strings.TrimPrefix(s.URL, "https://"))
	c := newClient(t, Config{CAFile: ca, Proxy: "http://user:pass@" + addr,
		ConnectTo: map[string]string{"direct.test": addr}})
	if got := c.Proxy(); got != "http://"+addr {
		t.Errorf("proxy %q", got)
	}
	tests := []struct {
		url  string
		want Cause
	}{
		{"https://example.com/", None},
		{"https://10.0.0.1/", RefusedAddress},
		{"https://0x7f.1/", RefusedAddress},
		{"https://[64:ff9b::7f00:1]/", RefusedAddress},
		{"https://localhost/", RefusedAddress},
		{"https://wrong.test/", TLS},
	}
	for _, tt := range tests {
		if _, err := do(c, t.Context(), Request{URL: tt.url}); causeOf(t, err) != tt.want {
			t.Errorf("%s: %v, want %v", tt.url, err, tt.want)
		}
	}
	if got := strings.Join(asked(), ", "); got != "CONNECT example.com:443, CONNECT wrong.test:443" {
		t.Errorf("the proxy heard %q", got)
	}
	if addrs, err := c.Resolve(t.Context(), "example.com"); err != nil || addrs != nil {
		t.Errorf("resolved behind a proxy: %v, %v", addrs, err)
	}
	denied := newClient(t, Config{CAFile: ca, Proxy: "http://user:wrong@" + addr})
	_, err := denied.Do(t.Context(), Request{URL: "https://example.com/"})
	if causeOf(t, err) != Proxy || !strings.Contains(err.Error(), "407") || strings.Contains(err.Error(), "wrong") {
		t.Error(err)
	}
	gone := newClient(t, Config{Proxy: "http://user:secret@127.0.0.1:1"})
	_, err = gone.Do(t.Context(), Request{URL: "https://example.com/"})
	if causeOf(t, err) != Proxy || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// A fault of this machine that makes its proxy unreachable is not blamed on the host.
func TestProxyOwn(t *testing.T) {
	tests := []struct {
		errno syscall.Errno
		want  Own
	}{{syscall.EMFILE, OwnMeans}, {syscall.ENOMEM, OwnMeans}, {syscall.ECONNREFUSED, OwnNothing}}
	for _, tt := range tests {
		dial := func(context.Context, netip.AddrPort, bool) (net.Conn, error) { return nil, refusedBy(tt.errno) }
		c := newClient(t, Config{dial: dial, Proxy: "http://192.0.2.3:3128"})
		_, err := do(c, t.Context(), Request{URL: "https://a.test/"})
		var e *Error
		if !errors.As(err, &e) || e.Cause != Proxy || e.Own != tt.want {
			t.Errorf("%v: %+v, want %v", tt.errno, e, tt.want)
		}
	}
}

func TestProxyOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://user:secret@proxy.test:3128")
	t.Setenv("NO_PROXY", "direct.example.com")
	c := newClient(t, Config{})
	if got := c.Proxy(); got != "http://proxy.test:3128" {
		t.Errorf("proxy %q", got)
	}
	for raw, want := range map[string]bool{"https://example.com/": true, "https://direct.example.com/": false} {
		u, _ := url.Parse(raw)
		way, err := c.routes.choose(u)
		if err != nil || (way.proxy != nil) != want {
			t.Errorf("%s: %+v, %v", raw, way, err)
		}
	}
}

// A port of another service is neither looked up nor dialled, unless the user configures the target.
func TestBadPort(t *testing.T) {
	var dialled []string
	dial := func(_ context.Context, to netip.AddrPort, _ bool) (net.Conn, error) {
		dialled = append(dialled, to.String())
		return nil, syscall.ECONNREFUSED
	}
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		dialled = append(dialled, host)
		return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
	}
	tests := []struct {
		url  string
		want Cause
	}{
		{"https://a.test:22/", RefusedPort},
		{"https://192.0.2.7:25/", RefusedPort},
		{"https://[2001:db8::1]:10080/", RefusedPort},
		{"http://a.test:6667/", RefusedPort},
		{"https://mapped.test:22/", Refused},
		{"https://b.mapped.test:25/", Refused},
	}
	c := newClient(t, Config{
		lookup: lookup, dial: dial, ConnectTo: map[string]string{"mapped.test": "192.0.2.2:22",
			"*.mapped.test:25": "192.0.2.2:25"},
	})
	for _, tt := range tests {
		dialled = nil
		_, err := do(c, t.Context(), Request{URL: tt.url})
		if causeOf(t, err) != tt.want || (len(dialled) > 0) != (tt.want == Refused) {
			t.Errorf("%s: %v, dialled %q; want %v", tt.url, err, dialled, tt.want)
		}
	}
	if _, err := c.Resolve(t.Context(), "a.test:22"); causeOf(t, err) != RefusedPort {
		t.Errorf("resolved: %v", err)
	}
	behind := newClient(t, Config{lookup: lookup, dial: dial, Proxy: "http://192.0.2.3:3128"})
	if _, err := behind.Do(t.Context(), Request{URL: "https://a.test:22/"}); causeOf(t, err) != Proxy {
		t.Errorf("behind a proxy: %v", err)
	}
}
