package fault_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // the client's remarks on faulty answers
	goleak.VerifyTestMain(m)
}

// newTransport returns a transport without decompression.
func newTransport(t *testing.T, s *webtest.Server) *http.Transport {
	t.Helper()
	transport := s.Transport()
	transport.DisableCompression = true
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// patience is how long an endless fault is observed.
const patience = 60 * time.Millisecond

// A sighting is what a Go client sees of a fault.
type sighting struct {
	head string // part of the request's error, or "" for an answer
	read string // part of the error of reading at most 4 MB, "" for none, "more" if the body is longer
}

func faultsSeen() map[fault.Fault]sighting {
	return map[fault.Fault]sighting{
		fault.HeaderDrip:        {head: "canceled"},
		fault.EndlessHeader:     {head: "server response headers exceeded"},
		fault.ControlLocation:   {head: "malformed MIME header"},
		fault.Status99:          {head: "malformed HTTP status code"},
		fault.Status999:         {},
		fault.Garbage:           {head: "malformed HTTP"},
		fault.CloseAtOnce:       {head: "EOF"},
		fault.Reset:             {head: "connection reset"},
		fault.ResetMidBody:      {read: "connection reset"},
		fault.Truncated:         {read: "unexpected EOF"},
		fault.TruncatedChunks:   {read: "unexpected EOF"},
		fault.BadChunk:          {read: "invalid byte in chunk length"},
		fault.LengthTooLong:     {read: "canceled"},
		fault.LengthTooShort:    {},
		fault.Silence:           {head: "canceled"},
		fault.BigHeader:         {head: "header"},
		fault.EndlessEarlyHints: {head: "header list too large"},
		fault.ManyCookies:       {},
		fault.BodyDrip:          {read: "canceled"},
		fault.EndlessBody:       {read: "more"},
		fault.GzipBomb:          {},
		fault.BrotliBomb:        {},
		fault.ZstdBomb:          {},
		fault.NestedGzipBomb:    {},
		fault.GzipFileBomb:      {},
	}
}

// Every fault must match its description.
func TestEveryFault(t *testing.T) {
	s := crawltest.Serve(t)
	body := "<title>t</title>" + strings.Repeat("<p>text</p>", 100)
	for _, f := range fault.All() {
		s.Host(f.String()+".test").Page("/", body).Fault(f).Every(time.Millisecond)
	}
	tests := faultsSeen()
	transport := newTransport(t, s)
	transport.MaxResponseHeaderBytes = 512 << 10
	c := &http.Client{Transport: transport}
	for _, f := range fault.All() {
		t.Run(f.String(), func(t *testing.T) {
			want, ok := tests[f]
			if !ok {
				t.Fatal("no expectation")
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if want.head == "canceled" {
				defer time.AfterFunc(patience, cancel).Stop()
			}
			resp, err := c.Do(request(t, ctx, "https://"+f.String()+".test/"))
			if !matches(err, want.head) {
				t.Fatalf("request ended with %v, want %q", err, want.head)
			}
			if err != nil {
				return
			}
			defer resp.Body.Close()
			if want.read == "canceled" {
				defer time.AfterFunc(patience, cancel).Stop()
			}
			n, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<20))
			if want.read == "more" && n == 4<<20 {
				return
			}
			if !matches(err, want.read) {
				t.Errorf("reading ended after %d bytes with %v, want %q", n, err, want.read)
			}
		})
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

func matches(err error, part string) bool {
	if err == nil || part == "" {
		return err == nil && part == ""
	}
	return strings.Contains(err.Error(), part)
}

// The bytes on the wire, for faults that a Go client hides.
func TestFaultBytes(t *testing.T) {
	s := crawltest.Serve(t)
	h := s.Host("a.test")
	for _, f := range []fault.Fault{fault.ControlLocation, fault.Status99, fault.Status999, fault.LengthTooShort} {
		h.Page("/"+f.String(), "1234").Fault(f)
	}
	for f, want := range map[fault.Fault]string{
		fault.ControlLocation: "Location: https://a.test/\x01\x7f\x1b[31m\x00\r",
		fault.Status99:        "HTTP/1.1 99 ",
		fault.Status999:       "HTTP/1.1 999 ",
		fault.LengthTooShort:  "Content-Length: 2\r\n\r\n1234HTTP/1.1 200 OK\r\n",
	} {
		c, err := tls.Dial("tcp", s.Addr(), &tls.Config{ServerName: "a.test", InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(c, "GET /"+f.String()+" HTTP/1.1\r\nHost: a.test\r\n\r\n")
		var got []byte
		for err == nil && !strings.Contains(string(got), want) {
			var n int
			part := make([]byte, 4096)
			n, err = c.Read(part)
			got = append(got, part[:n]...)
		}
		_ = c.Close()
		if err != nil {
			t.Errorf("%v: %q, %v, want %q in it", f, got, err, want)
		}
	}
}

func TestFaultReset(t *testing.T) {
	s := crawltest.Serve(t)
	s.Host("a.test").Page("/", "body").Fault(fault.Reset)
	if _, err := (&http.Client{Transport: newTransport(t, s)}).Get("https://a.test/"); !errors.Is(err,
		syscall.ECONNRESET) {
		t.Errorf("%v, want a reset", err)
	}
}

// Serving a whole bomb takes hardly any memory on the server.
func TestBombServed(t *testing.T) {
	s := crawltest.Serve(t)
	for _, f := range []fault.Fault{fault.GzipBomb, fault.NestedGzipBomb} {
		s.Host(f.String()+".test").Page("/", "<p>").Fault(f)
	}
	c := &http.Client{Transport: newTransport(t, s)}
	for f, coding := range map[fault.Fault]string{fault.GzipBomb: "gzip", fault.NestedGzipBomb: "gzip, gzip"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		resp, err := c.Get("https://" + f.String() + ".test/")
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Content-Encoding"); got != coding {
			t.Errorf("%v: Content-Encoding %q, want %q", f, got, coding)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		runtime.ReadMemStats(&after)
		if err != nil || n == 0 || n > 2<<20 {
			t.Errorf("%v is %d bytes, %v", f, n, err)
		}
		if grown := int64(after.TotalAlloc) - int64(before.TotalAlloc); grown > 16<<20 {
			t.Errorf("%v allocated %d bytes", f, grown)
		}
	}
}
