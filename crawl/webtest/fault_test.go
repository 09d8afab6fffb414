package webtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a fault that has no end is borne.
const patience = 60 * time.Millisecond

// A sighting is what a client of Go sees of a fault.
type sighting struct {
	head string // part of the error of the request, or "" for an answer
	read string // part of the error of reading at most 4 MB, "" for none, "more" if 4 MB did not end it
}

func faultsSeen() map[Fault]sighting {
	return map[Fault]sighting{

		HeaderDrip:        {head: "canceled"},
		EndlessHeader:     {head: "server response headers exceeded"},
		ControlLocation:   {head: "malformed MIME header"},
		Status99:          {head: "malformed HTTP status code"},
		Status999:         {},
		Garbage:           {head: "malformed HTTP"},
		CloseAtOnce:       {head: "EOF"},
		Reset:             {head: "connection reset"},
		ResetMidBody:      {read: "connection reset"},
		Truncated:         {read: "unexpected EOF"},
		TruncatedChunks:   {read: "unexpected EOF"},
		BadChunk:          {read: "invalid byte in chunk length"},
		LengthTooLong:     {read: "canceled"},
		LengthTooShort:    {},
		Silence:           {head: "canceled"},
		BigHeader:         {head: "header"},
		EndlessEarlyHints: {head: "header list too large"},
		ManyCookies:       {},
		BodyDrip:          {read: "canceled"},
		EndlessBody:       {read: "more"},
		GzipBomb:          {},
		BrotliBomb:        {},
		ZstdBomb:          {},
		NestedGzipBomb:    {},
		GzipFileBomb:      {},
	}
}

// Every fault must be what it says.
func TestFaults(t *testing.T) {
	s := newServer(t)
	body := "<title>t</title>" + strings.Repeat("<p>text</p>", 100)
	for _, f := range Faults() {
		s.Host(f.String()+".test").Page("/", body).Fault(f).Every(time.Millisecond)
	}
	tests := faultsSeen()
	c := newClient(t, s)
	c.Transport.(*http.Transport).DisableCompression = true
	c.Transport.(*http.Transport).MaxResponseHeaderBytes = 256 << 10
	for _, f := range Faults() {
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

// The faults that a client of Go smooths over, as they are on the wire.
func TestFaultBytes(t *testing.T) {
	s := newServer(t)
	h := s.Host("a.test")
	for _, f := range []Fault{ControlLocation, Status99, Status999, LengthTooShort} {
		h.Page("/"+f.String(), "1234").Fault(f)
	}
	for f, want := range map[Fault]string{
		ControlLocation: "Location: https://a.test/\x01\x7f\x1b[31m\x00\r",
		Status99:        "HTTP/1.1 99 ",
		Status999:       "HTTP/1.1 999 ",
		LengthTooShort:  "Content-Length: 2\r\n\r\n1234HTTP/1.1 200 OK\r\n",
	} {
		c, err := tls.Dial("tcp", s.Addr(), &tls.Config{ServerName: "a.test", InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(5 * time.Second))
		say(c, "GET /"+f.String()+" HTTP/1.1\r\nHost: a.test\r\n\r\n")
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

func TestFaultStatusInLog(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "x").Fault(Status999)
	s.Host("b.test").Page("/", "x").Fault(Silence)
	c := newClient(t, s)
	get(t, c, "https://a.test/")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.Do(request(t, ctx, "https://b.test/")); err == nil {
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

// HEAD meets an honest header where the fault is in the body.
func TestFaultHead(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "body").Fault(ResetMidBody)
	s.Host("b.test").Page("/", "body").Fault(CloseAtOnce)
	c := newClient(t, s)
	if got := ask(t, c, http.MethodHead, "https://a.test/"); got.StatusCode != 200 || got.ContentLength != 4 {
		t.Errorf("HEAD = %d, length %d", got.StatusCode, got.ContentLength)
	}
	if _, err := c.Head("https://b.test/"); !errors.Is(err, io.EOF) {
		t.Errorf("HEAD of a page that closes: %v, want EOF", err)
	}
}

func TestFaultReset(t *testing.T) {
	s := newServer(t)
	s.Host("a.test").Page("/", "body").Fault(Reset)
	if _, err := newClient(t, s).Get("https://a.test/"); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, want a reset", err)
	}
}

// A bomb must be a valid stream of the promised size that starts with the page.
func TestWriteBomb(t *testing.T) {
	const size = 24 << 20
	for _, coding := range []string{"gzip", "br", "zstd"} {
		var buf bytes.Buffer
		if err := writeBomb(&buf, coding, []byte("<title>b</title>"), size); err != nil {
			t.Fatal(err)
		}
		packed := buf.Len()
		r, err := decoder(coding, &buf)
		if err != nil {
			t.Fatal(err)
		}
		start := make([]byte, 16)
		if _, err := io.ReadFull(r, start); err != nil || string(start) != "<title>b</title>" {
			t.Errorf("%s begins with %q, %v", coding, start, err)
		}
		rest := &spaceCounter{}
		if n, err := io.Copy(rest, r); err != nil || n+16 < size || rest.other > 0 {
			t.Errorf("%s: %d bytes, %d of them no space, %v", coding, n, rest.other, err)
		}
		if packed > size/500 {
			t.Errorf("%s packs %d bytes into %d: no bomb", coding, size, packed)
		}
	}
}

type spaceCounter struct{ other int }

func (c *spaceCounter) Write(b []byte) (int, error) {
	c.other += len(b) - bytes.Count(b, []byte{' '})
	return len(b), nil
}

// Serving a whole bomb costs the server no memory to speak of.
func TestBombServed(t *testing.T) {
	s := newServer(t)
	for _, f := range []Fault{GzipBomb, NestedGzipBomb} {
		s.Host(f.String()+".test").Page("/", "<p>").Fault(f)
	}
	c := newClient(t, s)
	c.Transport.(*http.Transport).DisableCompression = true
	for f, coding := range map[Fault]string{GzipBomb: "gzip", NestedGzipBomb: "gzip, gzip"} {
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
