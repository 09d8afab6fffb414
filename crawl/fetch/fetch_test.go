package fetch

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loopback returns the prefixes that tests may dial.
func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}

func newClient(t testing.TB, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// do sends a request and decodes the body.
func do(c *Client, ctx context.Context, req Request) (*Response, error) {
	res, err := c.Do(ctx, req)
	if err == nil {
		defer res.Release()
		err = res.Decode(nil)
	}
	return res, err
}

// serve starts a TLS server and a client that trusts it.
func serve(t testing.TB, cfg Config, h http.HandlerFunc) (*Client, string) {
	t.Helper()
	s := quietServer(t, h)
	cfg.CAFile = caFile(t, s)
	cfg.AllowPrivate = append(cfg.AllowPrivate, loopback()...)
	return newClient(t, cfg), s.URL
}

func quietServer(t testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func caFile(t testing.TB, s *httptest.Server) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(name, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// causeOf returns the cause of an error, and fails the test if it is not an *Error.
func causeOf(t testing.TB, err error) Cause {
	t.Helper()
	if err == nil {
		return None
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is no *Error: %v", err, err)
	}
	return e.Cause
}

func TestDo(t *testing.T) {
	var seen *http.Request
	c, url := serve(t, Config{UserAgent: "Ripple/1.0 (+https://example.com)", Compress: true, KeepAlive: true,
		HTTP2: true, AcceptLanguage: "en,*;q=0.5"},
		func(w http.ResponseWriter, r *http.Request) {
			seen = r
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Set-Cookie", "a=b")
			w.Write([]byte("hello"))
		})
	before := time.Now()
	res, err := do(c, context.Background(),
		Request{URL: url + "/a%7e//b?x=|&y", ETag: `"e"`, LastModified: "yesterday"})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != 200 || string(res.Body) != "hello" || res.Size != 5 || res.Proto != "HTTP/2.0" || res.Sniffed != "" {
		t.Errorf("response %+v", res)
	}
	if res.FirstByte.Before(before) || res.Done.Before(res.FirstByte) || !res.Remote.Addr().IsLoopback() {
		t.Errorf("first byte %v, done %v, remote %v", res.FirstByte, res.Done, res.Remote)
	}
	if got := seen.RequestURI; got != "/a%7e//b?x=|&y" {
		t.Errorf("request URI %q", got)
	}
	want := map[string]string{
		"User-Agent": "Ripple/1.0 (+https://example.com)", "Accept-Encoding": "gzip, deflate, br, zstd", "Accept": accepted,
		"If-None-Match": `"e"`, "If-Modified-Since": "yesterday", "Cookie": "", "Accept-Language": "en,*;q=0.5",
		"Referer": "", "Authorization": "",
	}
	for name, value := range want {
		if got := seen.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
}

// An invalid entity tag is not sent back, because "*" would match any version.
func TestEntityTag(t *testing.T) {
	c := newClient(t, Config{})
	for tag, sent := range map[string]bool{
		`"e"`: true, `W/"e"`: true, `""`: true, `"*"`: true, "\"\xfc\"": true,
		"*": false, "W/*": false, "e": false, `w/"e"`: false, `"a", "b"`: false, `"a`: false, `"`: false, "": false, `"a b"`: false,
	} {
		req, err := c.RequestHead(Request{URL: "https://a.test/", ETag: tag})
		if err != nil || strings.Contains(string(req), "If-None-Match: "+tag+"\r\n") != sent ||
			strings.Contains(string(req), "If-None-Match") != sent {
			t.Errorf("%s: %q, %v; sent %v", tag, req, err, sent)
		}
	}
}
