package warc

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// captured reads all places of one segment, in the given order, and returns the URLs of those that can be read.
func captured(t *testing.T, dir string, places []string) (urls []string) {
	t.Helper()
	var s *Segment
	for _, at := range places {
		file, offset, err := ParsePlace(at)
		if err != nil {
			t.Fatal(err)
		}
		if s == nil {
			s = must(NewReader(dir).Segment(file))(t)
			defer s.Close()
		}
		c, err := s.Page(offset)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Errorf("%s: %v", at, err)
			}
			continue
		}
		requireCapture(t, dir, at, c)
		urls = append(urls, strings.TrimPrefix(c.URL, "https://a.test/"))
	}
	return urls
}

// requireCapture compares a capture with the page that the store holds: it is a response with the same body and head.
func requireCapture(t *testing.T, dir, at string, c *Capture) {
	t.Helper()
	want := must(NewReader(dir).Page(at))(t)
	in := t.TempDir()
	if err := os.WriteFile(filepath.Join(in, "t-00001.warc.gz"), c.Response, 0o600); err != nil {
		t.Fatal(err)
	}
	got := must(NewReader(in).Page("t-00001.warc.gz#0"))(t)
	if got.Type != "response" || got.URL != want.URL || got.Status != want.Status || !got.At.Equal(want.At) ||
		!bytes.Equal(got.Body, want.Body) || !bytes.Equal(got.head, want.head) {
		t.Errorf("%s: %+v, want %+v", at, got, want)
	}
	block := slices.Concat(got.head, got.Body)
	for name, text := range map[string]string{
		"WARC-Record-ID":      want.Fields.Get("WARC-Record-ID"),
		"WARC-Payload-Digest": want.Fields.Get("WARC-Payload-Digest"),
		"WARC-Block-Digest":   digestText(sha256.Sum256(block)),
		"WARC-Protocol":       "h2 tls/1.3",
		"WARC-IP-Address":     "192.0.2.1",
	} {
		if value := strings.Join(got.Fields.Values(name), " "); value != text {
			t.Errorf("%s: %s is %q, want %q", at, name, value, text)
		}
	}
	line := string(must(c.Line("x.warc.gz", 7))(t))
	if e, end, ok := parseEntry([]byte(line)); !ok || e.URL != c.URL || e.Mime != "text/html" || e.Offset != "7" ||
		e.Filename != "x.warc.gz" || end != int64(7+len(c.Response)+len(c.Conversion)) {
		t.Errorf("%s: %s", at, line)
	}
}

// A segment is read in any order, with the requests where they stand before their pages; a revisit becomes a response.
func TestSegment(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Position{})
	var places []string
	for i := range 6 {
		p := testPage(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("body %d", i%4))
		p.Protocols = []string{"h2", "tls/1.3"}
		if i%2 == 1 {
			p.Rendered = &Rendered{DOM: []byte("<p>shown")}
		}
		places = append(places, must(w.Append(must(new(Sealer).Seal(p))(t)))(t))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := captured(t, dir, places); len(got) != 6 {
		t.Errorf("read %q", got)
	}
	slices.Reverse(places)
	if got := captured(t, dir, places); len(got) != 6 {
		t.Errorf("read %q in reverse", got)
	}

	s := must(NewReader(dir).Segment("t-00001.warc.gz"))(t)
	defer s.Close()
	text := must(os.ReadFile(filepath.Join(dir, "t-00001.warc.gz")))(t)
	if info, err := s.Info(); err != nil || !bytes.HasPrefix(text, info) {
		t.Errorf("it begins with %q, %v", info, err)
	}
	whole := int64(0)
	for i, at := range slices.Backward(places) {
		_, offset, _ := ParsePlace(at)
		c := must(s.Page(offset))(t)
		if len(c.Request) == 0 || len(c.Conversion) > 0 != (i%2 == 0) {
			t.Errorf("%s: request of %d bytes, conversion of %d", at, len(c.Request), len(c.Conversion))
		}
		whole = offset
	}
	if _, err := s.Page(whole + 1); !errors.Is(err, ErrRecord) {
		t.Errorf("between records: %v", err)
	}
	for _, name := range []string{"", "../t-00001.warc.gz", "t-00001.cdxj"} {
		if _, err := NewReader(dir).Segment(name); !errors.Is(err, ErrRecord) {
			t.Errorf("Segment(%q): %v", name, err)
		}
	}
}

// Whatever is damaged, the other pages are read.
func TestDamagedSegment(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Position{})
	var places []string
	for i := range 5 {
		p := testPage(fmt.Sprintf("https://a.test/%d", i), fmt.Sprintf("body %d", i))
		p.Protocols = []string{"h2", "tls/1.3"}
		places = append(places, must(w.Append(must(new(Sealer).Seal(p))(t)))(t))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "t-00001.warc.gz")
	text := must(os.ReadFile(path))(t)
	for at := 0; at < len(text); at += 23 {
		torn := slices.Clone(text)
		copy(torn[at:], "\x00\x00\x00\x00")
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := captured(t, dir, places); len(got) < 4 {
			t.Errorf("damaged at %d: read %q", at, got)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, tt := range [][2]string{
		{"https://www.a.test/A/b?z=1&a=%20x&b=a+b", "test,a)/a/b?a=%20x&b=a+b&z=1"},
		{"https://www2.x.test:8443/", "test,x:8443)/"},
		{"http://www.test/", "test)/"}, // as players have it
		{"http://wwwide.test/", "test,wwwide)/"},
		{"http://a.test:80/%7Eu/?q=%C3%A9", "test,a)/%7eu/?q=%c3%a9"},
		{"https://a.test/?", "test,a)/"},
		{"https://a.test/?a&b=&a", "test,a)/?a&a&b="},
		{"http://192.0.2.1/", "1,2,0,192)/"},
		{"http://[2001:db8::1]:8080/x", "[2001:db8::1]:8080)/x"},
	} {
		if got := keyOf(tt[0]); got != tt[1] {
			t.Errorf("keyOf(%q) = %q, want %q", tt[0], got, tt[1])
		}
	}
}
