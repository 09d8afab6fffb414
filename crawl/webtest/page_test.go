package webtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

func TestHostRoutes(t *testing.T) {
	s := newServer(t)
	h := s.Host("a.test")
	h.Page("/p", "path")
	h.Page("/p?x=1", "query")
	h.Page("/a%20b", "escaped")
	h.Handle("/deep/*", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "deep ", r.RequestURI) })
	h.Page("/deep/er/*", "deeper")
	h.Robots("User-agent: *\n")
	h.Redirect("/old", "/p#x", 308)
	h.Status("/gone", 410)
	c := newClient(t, s)
	for _, tt := range []struct {
		path, want string
		status     int
	}{
		{"/p", "path", 200}, {"/p?x=1", "query", 200}, {"/p?x=2", "path", 200},
		{"/a%20b", "escaped", 200}, {"/a b", "escaped", 200}, {"/p/", statusPage(404), 404},
		{"/deep/1?y", "deep /deep/1?y", 200}, {"/deep/er/1", "deeper", 200}, {"/deep", statusPage(404), 404},
		{"/robots.txt", "User-agent: *\n", 200}, {"/old", "", 308}, {"/gone", statusPage(410), 410},
	} {
		got := get(t, c, "https://a.test"+tt.path)
		if got.body != tt.want || got.StatusCode != tt.status {
			t.Errorf("%s = %d %q, want %d %q", tt.path, got.StatusCode, got.body, tt.status, tt.want)
		}
		if tt.status == 308 && got.Header.Get("Location") != "/p#x" {
			t.Errorf("Location = %q", got.Header.Get("Location"))
		}
	}
}

func TestPageHead(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "four").Type("text/plain").Header("X-A", "b").Status(203)
	s.Host("a.test").Page("/untyped", "<html>").Type("")
	c := newClient(t, s)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		got := ask(t, c, method, "https://a.test/")
		if got.StatusCode != 203 || got.ContentLength != 4 || got.Header.Get("Content-Type") != "text/plain" ||
			got.Header.Get("X-A") != "b" {
			t.Errorf("%s = %d, length %d, %v", method, got.StatusCode, got.ContentLength, got.Header)
		}
	}
	if got := get(t, c, "https://a.test/untyped"); len(got.Header.Values("Content-Type")) != 0 {
		t.Errorf("Content-Type is there: %v", got.Header)
	}
}

func TestPageTimes(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "ready").
		Times(2, 503, nil).
		Times(1, 429, http.Header{"Retry-After": {"7"}})
	c := newClient(t, s)
	var got []string
	for range 5 {
		r := get(t, c, "https://a.test/")
		got = append(got, fmt.Sprint(r.StatusCode)+r.Header.Get("Retry-After"))
	}
	if diff := cmp.Diff([]string{"503", "503", "4297", "200", "200"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPageConditional(t *testing.T) {
	at := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
	s := newServer(t)
	s.Host("a.test").Page("/", "body").ETag(`W/"a,b"`).LastModified(at)
	s.Host("a.test").Page("/none", "body")
	c := newClient(t, s)
	before, after := at.Add(-time.Second).Format(http.TimeFormat), at.Add(time.Hour).Format(http.TimeFormat)
	for _, tt := range []struct {
		name, path string
		header     []string
		want       int
	}{
		{"unconditional", "/", nil, 200},
		{"same tag", "/", []string{"If-None-Match", `"a,b"`}, 304},
		{"in a list", "/", []string{"If-None-Match", `"x", W/"a,b"`}, 304},
		{"star", "/", []string{"If-None-Match", "*"}, 304},
		{"other tag", "/", []string{"If-None-Match", `"x"`}, 200},
		{"half a tag", "/", []string{"If-None-Match", `"a`}, 200},
		{"tag before date", "/", []string{"If-None-Match", `"x"`, "If-Modified-Since", after}, 200},
		{"newer", "/", []string{"If-Modified-Since", before}, 200},
		{"same date", "/", []string{"If-Modified-Since", at.Format(http.TimeFormat)}, 304},
		{"older", "/", []string{"If-Modified-Since", after}, 304},
		{"no date", "/", []string{"If-Modified-Since", "yesterday"}, 200},
		{"no validators", "/none", []string{"If-None-Match", `"x"`, "If-Modified-Since", after}, 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := get(t, c, "https://a.test"+tt.path, tt.header...)
			if got.StatusCode != tt.want || (tt.want == 304) != (got.body == "") {
				t.Errorf("%d %q, want %d", got.StatusCode, got.body, tt.want)
			}
		})
	}
}

func TestPageCodings(t *testing.T) {
	s := newServer(t)
	p := s.Host("a.test").Page("/", "a page").Zstd().Brotli().Gzip()
	c := newClient(t, s)
	for _, tt := range []struct{ accept, want string }{
		{"gzip", "gzip"}, {"br", "br"}, {"gzip, br, zstd", "zstd"}, {"identity", ""}, {"zstd;q=0, br", "br"},
		{"*", "zstd"}, {"GZIP;q=0.5", "gzip"}, {"gzip; q=0.0", ""}, {"zstd;q=0, *;q=0.1, br;q=0", "gzip"},
	} {
		got := get(t, c, "https://a.test/", "Accept-Encoding", tt.accept)
		if coding := got.Header.Get("Content-Encoding"); coding != tt.want || decode(t, coding, got.body) != "a page" {
			t.Errorf("Accept-Encoding: %s is answered in %q", tt.accept, coding)
		}
	}
	p.Bytes([]byte("another"))
	if got := get(t, c, "https://a.test/", "Accept-Encoding", "br"); decode(t, "br", got.body) != "another" {
		t.Error("the old body is still served")
	}
}

func decode(t testing.TB, coding, body string) string {
	t.Helper()
	r, err := decoder(coding, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("decode %s: %v", coding, err)
	}
	return string(b)
}

func decoder(coding string, r io.Reader) (io.Reader, error) {
	switch coding {
	case "gzip":
		return gzip.NewReader(r)
	case "br":
		return brotli.NewReader(r), nil
	case "zstd":
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		return d, err
	}
	return r, nil
}

func TestLatencies(t *testing.T) {
	s := newServer(t, WithLatency(15*time.Millisecond))
	s.Host("slow.test").Latency(30 * time.Millisecond)
	s.Host("slow.test").Page("/", "")
	s.Host("slow.test").Page("/slower", "").Delay(40 * time.Millisecond)
	s.Host("fast.test").Latency(0)
	c := newClient(t, s)
	for url, want := range map[string]time.Duration{
		"https://a.test/": 15, "https://slow.test/": 30, "https://slow.test/slower": 70, "https://fast.test/": 0,
	} {
		s.ResetLog()
		get(t, c, url)
		e := s.Log()[0]
		if got := e.FirstByte.Sub(e.Arrived); got < want*time.Millisecond {
			t.Errorf("%s answered after %v, want %v", url, got, want*time.Millisecond)
		}
	}
}

// Answers written by a handler itself are logged correctly.
func TestHandleIsLogged(t *testing.T) {
	s := newServer(t)
	h := s.Host("a.test")
	h.HTTP1()
	h.Handle("/silent", func(http.ResponseWriter, *http.Request) {})
	h.Handle("/twice", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202); w.WriteHeader(500) })
	h.Handle("/abort", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(201)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	h.Handle("/hijack", func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = c.Close()
	})
	c := newClient(t, s)
	for path, want := range map[string]Entry{
		"/silent": {Status: 200}, "/twice": {Status: 202},
		"/abort": {Status: 201, Aborted: true}, "/hijack": {},
	} {
		s.ResetLog()
		if resp, err := c.Get("https://a.test" + path); err == nil {
			resp.Body.Close()
		}
		waitFor(t, func() bool { l := s.Log(); return len(l) > 0 && !l[len(l)-1].Done.IsZero() })
		if e := s.Log()[0]; e.Status != want.Status || e.Aborted != want.Aborted ||
			e.FirstByte.IsZero() != (want.Status == 0) {
			t.Errorf("%s is logged as %+v", path, e)
		}
	}
}

// A connection closed by a handler is logged as ended at that time, even if the handler returns
// later.
func TestCloseIsLogged(t *testing.T) {
	s, returns := newServer(t), make(chan struct{})
	h := s.Host("a.test")
	h.HTTP1()
	h.Handle("/", func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = c.Close()
		<-returns
	})
	resp, err := newClient(t, s).Get("https://a.test/")
	seen := time.Now()
	if err == nil {
		resp.Body.Close()
	}
	close(returns)
	waitFor(t, func() bool { return !s.Log()[0].Done.IsZero() })
	if done := s.Log()[0].Done; err == nil || done.After(seen) {
		t.Errorf("the client saw the end at %v, and the server at %v; %v", seen, done, err)
	}
}

func TestFaultStatusInLog(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "x").Fault(fault.Status999)
	s.Host("b.test").Page("/", "x").Fault(fault.Silence)
	c := newClient(t, s)
	get(t, c, "https://a.test/")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Do(request(t, ctx, "https://b.test/"))
		ended <- err
	}()
	waitFor(t, func() bool { return len(s.Log()) == 2 })
	cancel()
	if <-ended == nil {
		t.Error("silence was answered")
	}
	waitFor(t, func() bool { return len(s.Log()) == 2 && !s.Log()[1].Done.IsZero() })
	log := s.Log()
	if log[0].Status != 999 || log[0].FirstByte.IsZero() {
		t.Errorf("status 999 is logged as %+v", log[0])
	}
	if log[1].Status != 0 || !log[1].FirstByte.IsZero() || !log[1].Aborted {
		t.Errorf("silence is logged as %+v", log[1])
	}
}

// With a fault in the body, HEAD gets an honest header.
func TestFaultHead(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "body").Fault(fault.ResetMidBody)
	s.Host("b.test").Page("/", "body").Fault(fault.CloseAtOnce)
	c := newClient(t, s)
	if got := ask(t, c, http.MethodHead, "https://a.test/"); got.StatusCode != 200 || got.ContentLength != 4 {
		t.Errorf("HEAD = %d, length %d", got.StatusCode, got.ContentLength)
	}
	if _, err := c.Head("https://b.test/"); !errors.Is(err, io.EOF) {
		t.Errorf("HEAD of a page that closes: %v, want EOF", err)
	}
}

func request(t testing.TB, ctx context.Context, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}
