package warc

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func testPage(url, body string) *Page {
	return &Page{
		URL: url, At: time.Date(2026, 1, 15, 10, 30, 0, 5000, time.UTC), Address: "192.0.2.1", Status: 200,
		Request: []byte("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"), Body: []byte(body),
		Digest: sha256.Sum256([]byte(body)),
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Content-Encoding": {"gzip"},
			"X-Odd": {"a\r\nb"}},
	}
}

func sealed(t testing.TB, url, body string) *Sealed {
	t.Helper()
	s, err := new(Sealer).Seal(testPage(url, body))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, dir string, at Position) *Writer {
	t.Helper()
	w, err := Open(dir, "t", at, "test")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func appended(t testing.TB, w *Writer, url, body string) string {
	t.Helper()
	at, err := w.Append(sealed(t, url, body))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func wantPage(t testing.TB, dir, at, url, body string) {
	t.Helper()
	rec, err := NewReader(dir).Page(at)
	if err != nil {
		t.Fatal(err)
	}
	if rec.URL != url || string(rec.Body) != body || rec.Status != 200 ||
		rec.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("%s holds %s: %d %q, want %s: %q", at, rec.URL, rec.Status, rec.Body, url, body)
	}
	if rec.Header.Get("Content-Encoding") != "" || rec.Header.Get("X-Archive-Orig-Content-Encoding") != "gzip" ||
		rec.Header.Get("X-Odd") != "a  b" {
		t.Errorf("%s has the head %v", at, rec.Header)
	}
}

func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, Position{})
	places := map[string]string{}
	for i := range 6 {
		url := fmt.Sprintf("https://a.test/%d?q=1", 5-i)
		places[url] = appended(t, w, url, fmt.Sprintf("body %d", i/2))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		url := fmt.Sprintf("https://a.test/%d?q=1", 5-i)
		wantPage(t, dir, places[url], url, fmt.Sprintf("body %d", i/2))
	}
	index, err := os.ReadFile(filepath.Join(dir, "t-00001.cdxj"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(index)), "\n")
	if !slices.IsSorted(lines) || len(lines) != 6 ||
		!strings.HasPrefix(lines[0], `test,a)/0?q=1 20260115103000 {"url":"https://a.test/0?q=1","mime":"warc/revisit"`) {
		t.Errorf("the index is\n%s", index)
	}
}

// TestOnlyWhatIsCommittedCounts reopens a store at a committed position, whatever was written after it and
// however much of that arrived.
func TestOnlyWhatIsCommittedCounts(t *testing.T) {
	for cut := range 40 {
		dir := t.TempDir()
		w := open(t, dir, Position{})
		w.max = 1200 // some pages per segment
		r := rand.New(rand.NewPCG(1, uint64(cut)))
		var urls, places []string
		page := func(i int) {
			url := fmt.Sprintf("https://a.test/%d", i)
			urls, places = append(urls, url), append(places, appended(t, w, url, "body "+url))
		}
		for i := range 1 + r.IntN(5) {
			page(i)
		}
		at, err := w.Sync()
		if err != nil {
			t.Fatal(err)
		}
		counted := len(urls)
		for i := range r.IntN(4) {
			page(100 + i)
		}
		if cut%2 == 0 { // killed: the tail is torn at any point
			w.shut()
			tail := w.segmentPath(w.at.Segment)
			if stat, err := os.Stat(tail); err == nil && w.at.Segment == at.Segment && stat.Size() > at.Offset {
				if err := os.Truncate(tail, at.Offset+r.Int64N(stat.Size()-at.Offset)); err != nil {
					t.Fatal(err)
				}
			}
			if cut%4 == 0 {
				_ = os.Truncate(w.indexPath(at.Segment), r.Int64N(100))
			}
		} else if err := w.Close(); err != nil {
			t.Fatal(err)
		}

		w = open(t, dir, at)
		w.max = 1200
		urls, places = urls[:counted], places[:counted]
		again := appended(t, w, "https://a.test/again", "body https://a.test/0")
		page(7)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range urls {
			wantPage(t, dir, places[i], urls[i], "body "+urls[i])
		}
		wantPage(t, dir, again, "https://a.test/again", "body https://a.test/0")
		if rec, err := NewReader(dir).at(must(parsePlace(again))(t)); err != nil || rec.Type != "revisit" {
			t.Errorf("cut %d: a body that is there is stored again (%v)", cut, err)
		}
		total := 0
		for n := 1; n <= w.at.Segment; n++ {
			stat, err := os.Stat(w.segmentPath(n))
			if err != nil {
				t.Fatal(err)
			}
			entries, end := readEntries(w.indexPath(n), stat.Size())
			if total += len(entries); end != stat.Size() {
				t.Errorf("cut %d: the index of segment %d ends at %d of %d", cut, n, end, stat.Size())
			}
		}
		if total != len(urls)+1 {
			t.Errorf("cut %d: the indexes name %d pages, want %d", cut, total, len(urls)+1)
		}
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A store leaves files of other names alone, and continues if its last segment is gone.
func TestLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "u-00001.warc.gz")
	if err := os.WriteFile(other, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := open(t, dir, Position{})
	appended(t, w, "https://a.test/", "a")
	at := must(w.Sync())(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.segmentPath(1)); err != nil {
		t.Fatal(err)
	}
	w = open(t, dir, at)
	place := appended(t, w, "https://a.test/", "a")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantPage(t, dir, place, "https://a.test/", "a")
	if text, err := os.ReadFile(other); err != nil || string(text) != "mine" {
		t.Errorf("the other's file holds %q (%v)", text, err)
	}
	if !strings.HasPrefix(place, "t-00002") {
		t.Errorf("the page is at %s", place)
	}
}

func TestPlacesStayInTheFolder(t *testing.T) {
	r := NewReader(t.TempDir())
	for _, at := range []string{"", "x", "../t-00001.warc.gz#0", "/etc/passwd#0", "a/b.warc.gz#0", "..warc.gz#1",
		"t-00001.warc.gz#-1", ".warc.gz#1", "t.warc.gz#x"} {
		if _, err := r.Page(at); !errors.Is(err, ErrRecord) {
			t.Errorf("Page(%q) = %v, want %v", at, err, ErrRecord)
		}
	}
}

// TestIndependentReader reads the store with a program that shares no code with it.
func TestIndependentReader(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("RIPPLE_CI") == "1" {
			t.Fatal("python3 is missing")
		}
		t.Skip("python3 is not installed")
	}
	dir := t.TempDir()
	w := open(t, dir, Position{})
	w.max = 3000
	for i := range 20 {
		appended(t, w, fmt.Sprintf("https://a.test/%d", i), strings.Repeat(fmt.Sprintf("line %d\r\n", i%7), 40))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "testdata/read_warc.py", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := strings.TrimSpace(string(out)); got != "20 requests, 7 responses, 13 revisits, 20 index lines" {
		t.Errorf("the independent reader found %s", got)
	}
}

// FuzzRecord checks the reader's limits, and that it reads what was written.
func FuzzRecord(f *testing.F) {
	s := must(new(Sealer).Seal(testPage("https://a.test/", "<p>body")))(f)
	f.Add(s.response, "https://a.test/", []byte("x"))
	f.Add([]byte("WARC/1.1\r\nContent-Length: 99999999999\r\n\r\n"), "https://b.test/\r\nX: y",
		[]byte("\r\n\r\nWARC/1.1"))
	f.Fuzz(func(t *testing.T, raw []byte, url string, body []byte) {
		_, _ = new(memberReader).read(bufio.NewReader(bytes.NewReader(raw)))
		_, _ = readRecord(bufio.NewReader(bytes.NewReader(raw)))
		_, _, _ = parseEntry(raw)
		p := testPage(url, string(body))
		s, err := new(Sealer).Seal(p)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := new(memberReader).read(bufio.NewReader(bytes.NewReader(s.response)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(rec.Body, body) || rec.Status != 200 || rec.Type != "response" {
			t.Errorf("read back %s %d %q, want %q", rec.Type, rec.Status, rec.Body, body)
		}
		e := entryOf(rec, "t-00001.warc.gz")
		e.Offset, e.Length = "5", "6"
		line, err := e.line()
		if err != nil {
			t.Fatal(err)
		}
		if _, end, ok := parseEntry(bytes.TrimSuffix(line, []byte("\n"))); !ok || end != 11 ||
			bytes.Count(line, []byte("\n")) != 1 {
			t.Errorf("the index line %q is not read back", line)
		}
	})
}

// Stores of earlier versions have digests in base 32.
func TestDigest(t *testing.T) {
	const hex = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	for text, want := range map[string]string{
		hex: hex, "SHA256:" + strings.ToUpper(hex[7:]): hex, digestText(sha256.Sum256([]byte("hello"))): hex,
		"sha256:FTZE3OS7WCRQ4JXIHMVMLOPCTYNRMHS4D6TUEXTTAQZWFE4LTASA":     hex,
		"sha256:FTZE3OS7WCRQ4JXIHMVMLOPCTYNRMHS4D6TUEXTTAQZWFE4LTASA====": hex,
		"sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N":                           "sha1:aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
		"md5:XUFAKrxLKna5cZ2REBfFkg==":                                    "md5:XUFAKrxLKna5cZ2REBfFkg", "": ":",
	} {
		if got := Digest(text); got != want {
			t.Errorf("Digest(%q) = %q, want %q", text, got, want)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	sealer := new(Sealer)
	p := testPage("https://a.test/", strings.Repeat("<p>A paragraph of some words, as pages have them.</p>\n", 600))
	b.SetBytes(int64(len(p.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sealer.Seal(p); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSegmentIsLost removes or truncates the segment being written: later data is never reported as durable.
func TestSegmentIsLost(t *testing.T) {
	for name, spoil := range map[string]func(segment string) error{
		"removed": os.Remove,
		"moved":   func(segment string) error { return os.Rename(segment, segment+".old") },
		"cut":     func(segment string) error { return os.Truncate(segment, 100) },
		"replaced": func(segment string) error {
			return errors.Join(os.Remove(segment), os.WriteFile(segment, nil, 0o600))
		},
	} {
		dir := t.TempDir()
		w := open(t, dir, Position{})
		appended(t, w, "https://a.test/", "one")
		if _, err := w.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := spoil(w.segmentPath(1)); err != nil {
			t.Fatal(err)
		}
		appended(t, w, "https://a.test/2", "two")
		if at, err := w.Sync(); err == nil {
			t.Errorf("%s: Sync = %v", name, at)
		}
	}
}
