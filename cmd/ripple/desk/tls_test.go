package desk

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema/config"
)

// certified returns a configuration with a certificate of its own, for this machine.
func certified(t *testing.T) (m config.Monitor) {
	t.Helper()
	m.CertFile, m.KeyFile = crawltest.Certificate(t, "desk.example.com")
	return m
}

// trusting speaks TLS to a desk with such a certificate, and HTTP/2 if the desk offers it.
func trusting(t *testing.T, m config.Monitor) *http.Transport {
	t.Helper()
	text, err := os.ReadFile(m.CertFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	over := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(over.CloseIdleConnections)
	return over
}

// A desk without a name that listens at all addresses is found at one at which it answers.
func TestAddressOfAll(t *testing.T) {
	m := certified(t)
	m.Listen = "0.0.0.0:0"
	s := serveWith(t, m, &fakeLive{})
	s.over = trusting(t, m)
	at, err := url.Parse(s.address().String())
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(s.host)
	s.host = "127.0.0.1:" + port
	s.answered([]asking{{at.Host, "GET", "/", []string{"Host", at.Host}, 200}})
}

// On other addresses than loopback, a desk speaks only TLS, under its configured name.
func TestTLS(t *testing.T) {
	m := certified(t)
	m.Listen, m.Hosts = "0.0.0.0:0", []string{"desk.example.com"}
	s := serveWith(t, m, &fakeLive{})
	s.over = trusting(t, m)
	_, port, _ := net.SplitHostPort(s.host)
	if got, want := s.address().String(), "https://desk.example.com:"+port+"/"; got != want {
		t.Errorf("the address is %s, want %s", got, want)
	}
	s.host = "127.0.0.1:" + port
	a := s.open("GET", "/api/v1/now", "")
	a.Body.Close()
	if a.StatusCode != http.StatusOK || a.ProtoMajor != 2 || a.TLS.Version < tls.VersionTLS12 {
		t.Errorf("now: %s, %s, TLS %x", a.Status, a.Proto, a.TLS.Version)
	}
	s.answered([]asking{
		{"its name", "GET", "/", []string{"Host", "desk.example.com"}, 200},
		{"another name", "GET", "/", []string{"Host", "evil.example"}, 421},
		{"no token", "GET", "/api/v1/now", []string{"Authorization", ""}, 401},
		{"its page", "POST", "/api/v1/change", []string{"Origin", "https://" + s.host}, 200},
		{"another page", "POST", "/api/v1/change", []string{"Origin", "https://evil.example"}, 403},
	})
	s.inTheOpen()
	s.entered()
}

// inTheOpen sends a request without TLS to a desk that requires it.
func (s *served) inTheOpen() {
	s.t.Helper()
	c, err := net.Dial("tcp", s.host)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, s.get("now")); err != nil {
		s.t.Fatal(err)
	}
	if text, _ := io.ReadAll(c); !bytes.HasPrefix(text, []byte("HTTP/1.0 400 ")) {
		s.t.Errorf("in the open it is answered %.200q", text)
	}
}

// entered enters with a ticket.
func (s *served) entered() {
	s.t.Helper()
	address, err := s.Entrance()
	if err != nil || !strings.HasPrefix(address, "https://desk.example.com:") {
		s.t.Errorf("the entrance is %s, %v", address, err)
	}
	_, ticket, _ := strings.Cut(address, "#token=")
	code, text, _ := s.ask("POST", "/enter", `{"ticket": "`+ticket+`"}`)
	if code != http.StatusOK || !strings.Contains(text, testToken) {
		s.t.Errorf("entering: %d %s", code, text)
	}
}

// Files that TLS cannot use are reported before anything is served.
func TestTLSRefused(t *testing.T) {
	good, other := certified(t), certified(t)
	none := filepath.Join(t.TempDir(), "none")
	for want, m := range map[string]config.Monitor{
		"no such file":           {CertFile: none, KeyFile: good.KeyFile},
		none:                     {CertFile: good.CertFile, KeyFile: none},
		"does not match":         {CertFile: good.CertFile, KeyFile: other.KeyFile},
		"failed to find":         {CertFile: good.KeyFile, KeyFile: good.KeyFile},
		"name both or none":      {CertFile: good.CertFile},
		"cert-file and key-file": {KeyFile: good.KeyFile},
	} {
		m.Listen = "127.0.0.1:0"
		_, err := Listen(Options{Monitor: m, Reader: testReader()})
		if text := fmt.Sprint(err); err == nil || !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("%v; want %q", err, want)
		}
	}
}
