package archive

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// record returns an uncompressed record.
func record(kind, url, block string) []byte {
	return fmt.Appendf(nil, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: <%s>\r\nWARC-Date: 2015-03-01T00:00:00.5Z\r\n"+
		"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, len(block), block)
}

func page(n int) []byte {
	return record("response", fmt.Sprintf("https://a.test/%d", n),
		"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+strings.Repeat("page ", n*100))
}

func zipped(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for _, part := range parts {
		z.Write(part)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func framed(t testing.TB, part []byte, options ...zstd.EOption) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, append(options, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(part, nil)
}

// skippable returns a skippable frame with a dictionary.
func skippable(content []byte) []byte {
	head := binary.LittleEndian.AppendUint32(nil, dictionaryFrame)
	return append(binary.LittleEndian.AppendUint32(head, uint32(len(content))), content...)
}

// dictionary returns a trained dictionary.
func dictionary(t testing.TB) []byte {
	t.Helper()
	var samples [][]byte
	for n := range 50 {
		samples = append(samples, page(n))
	}
	d, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: bytes.Join(samples[40:], nil),
		Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// packed returns the same five records in every packing.
func packed(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	var records [][]byte
	for n := range 5 {
		records = append(records, page(n+1))
	}
	d := dictionary(t)
	all["plain"] = bytes.Join(records, nil)
	all["one gzip member"] = zipped(t, records...)
	all["one frame"] = framed(t, all["plain"])
	all["dictionary"] = skippable(d)
	all["compressed dictionary"] = skippable(framed(t, d))
	for _, one := range records {
		all["gzip"] = append(all["gzip"], zipped(t, one)...)
		all["frames"] = append(all["frames"], framed(t, one)...)
		for _, name := range []string{"dictionary", "compressed dictionary"} {
			all[name] = append(all[name], framed(t, one, zstd.WithEncoderDict(d))...)
		}
	}
	return all
}

// urls reads a file to its end, and returns the URLs of its whole records and the offsets of the damage.
func urls(t testing.TB, file []byte) (whole []string, damage []int64) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, []int64{0}
	}
	defer r.Close()
	r.OnDamage = func(at int64, _ error) { damage = append(damage, at) }
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return whole, damage
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.End() == nil {
			whole = append(whole, rec.URL)
		}
	}
}

func TestReader(t *testing.T) {
	for name, file := range packed(t) {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			r.OnDamage = func(at int64, err error) { t.Errorf("damage at %d: %v", at, err) }
			var places []Place
			for {
				rec, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil || rec.At.Nanosecond() == 0 {
					t.Fatal(rec, err)
				}
				places = append(places, rec.Place)
			}
			if len(places) != 5 {
				t.Fatalf("%d records", len(places))
			}
			for _, n := range []int{3, 0, 4, 1, 2} {
				if err := r.Seek(places[n]); err != nil {
					t.Fatal(err)
				}
				rec, err := r.Next()
				if err != nil {
					t.Fatal(err)
				}
				a, err := r.Answer(rec)
				if err == nil {
					err = r.Body(rec, a, 1<<20)
				}
				want := strings.Repeat("page ", (n+1)*100)
				if err != nil || rec.URL != fmt.Sprintf("https://a.test/%d", n+1) || string(a.Body) != want ||
					a.Status != 200 || a.Header.Get("Content-Type") != "text/html" {
					t.Errorf("record %d: %s with %d bytes, %v", n, rec.URL, len(a.Body), err)
				}
			}
		})
	}
}

// Records beside a damaged one are read.
func TestDamage(t *testing.T) {
	long := record("response", "https://a.test/long", strings.Repeat("x", 1000))
	claims := func(length string) []byte {
		return bytes.Replace(page(1), []byte("Content-Length: "), []byte("Content-Length: "+length), 1)
	}
	for name, bad := range map[string][]byte{
		"no version": []byte("WARC/9\r\n\r\n"), "no length": []byte("WARC/1.0\r\nWARC-Date: 2015-01-01T00:00:00Z\r\n\r\n"),
		"no date": []byte("WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n"), "cut": long[:500],
		"longer than the file": claims("99999999999"), "negative": claims("-"), "too long a number": claims("9999999999999999999"),
		"shorter than its block": bytes.Replace(long, []byte("1000"), []byte("0010"), 1),
		"endless header":         append([]byte("WARC/1.0\r\nX: "), bytes.Repeat([]byte("y"), 1<<20)...),
	} {
		plain := slices.Concat(page(1), bad, []byte("\r\n"), page(2))
		whole, damage := urls(t, plain)
		if !slices.Equal(whole, []string{"https://a.test/1", "https://a.test/2"}) || len(damage) == 0 {
			t.Errorf("%s, plain: %q, damage at %d", name, whole, damage)
		}
		for kind, pack := range map[string]func([]byte) []byte{
			"gzip":   func(b []byte) []byte { return zipped(t, b) },
			"frames": func(b []byte) []byte { return framed(t, b) },
		} {
			file := slices.Concat(pack(page(1)), pack(bad), pack(page(2)))
			whole, damage := urls(t, file)
			long := name == "longer than the file" // which is not known of compressed ones
			if !slices.Equal(whole, []string{"https://a.test/1", "https://a.test/2"}) || len(damage) == 0 && !long {
				t.Errorf("%s, %s: %q, damage at %d", name, kind, whole, damage)
			}
		}
	}
	for _, name := range []string{"gzip", "frames"} {
		file := packed(t)[name]
		at := bytes.Index(file[50:], file[:4]) + 50 // the second member
		file[at+40] ^= 0xff
		whole, damage := urls(t, file)
		if len(whole) != 4 || whole[0] != "https://a.test/1" || len(damage) != 1 || damage[0] != int64(at) {
			t.Errorf("a flipped byte of %s: %q, damage at %d, want %d", name, whole, damage, at)
		}
	}
}

// If a member with several records is damaged, the records before the damage and those of the next member are read.
func TestDamageInMember(t *testing.T) {
	first, last := zipped(t, page(1), page(2)), zipped(t, page(3), page(4))
	var records [][]byte
	for n := range 4 {
		noise := make([]byte, 100_000) // which is not compressed, so that a place in the member is one in the records
		rand.NewChaCha8([32]byte{byte(n)}).Read(noise)
		records = append(records, record("resource", fmt.Sprintf("https://a.test/noise%d", n), string(noise)))
	}
	middle := zipped(t, records...)
	cut := middle[:len(middle)*5/8] // in the third record
	want := []string{"https://a.test/1", "https://a.test/2", "https://a.test/noise0", "https://a.test/noise1",
		"https://a.test/3", "https://a.test/4"}
	for name, damaged := range map[string][]byte{
		"cut": cut, "zeros": append(slices.Clone(cut), make([]byte, len(middle)-len(cut))...),
		"no record": zipped(t, records[0], records[1], []byte("no record\r\n\r\n"), records[2]),
	} {
		whole, damage := urls(t, slices.Concat(first, damaged, last))
		if !slices.Equal(whole, want) || !slices.Equal(damage, []int64{int64(len(first))}) {
			t.Errorf("%s: %q, damage at %d; want %q at %d", name, whole, damage, want, len(first))
		}
	}
}

// Memory is bounded whatever a file holds, and the records behind it are read.
func TestHostile(t *testing.T) {
	const size = 1 << 30
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	fmt.Fprintf(z, "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2015-01-01T00:00:00Z\r\nContent-Length: %d\r\n\r\n", size)
	zeros := make([]byte, 1<<20)
	for range size / len(zeros) {
		z.Write(zeros)
	}
	io.WriteString(z, "\r\n\r\n")
	z.Close()
	window := framed(t, record("response", "https://a.test/window", strings.Repeat("x", 1<<10)))
	wide := slices.Clone(window[:4])
	wide = append(wide, 0x00, (31-10)<<3) // a window of 2 GB, and no content size
	wide = append(wide, window[5:]...)
	tail := zipped(t, page(2))
	for name, file := range map[string][]byte{
		"bomb":            append(bomb.Bytes(), tail...),
		"window":          slices.Concat(framed(t, page(1)), wide, framed(t, page(2))),
		"false signs":     slices.Concat(zipped(t, page(1)), bytes.Repeat(gzipped.begin(), 200_000), tail),
		"long dictionary": append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, dictionaryFrame), 1<<31), 0),
		"endless lengths": bytes.Repeat([]byte("WARC/1.0\r\nWARC-Date: 2015-01-01T00:00:00Z\r\nContent-Length: 9999\r\n\r\n"), 1000),
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		whole, _ := urls(t, file)
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 256 { // in total, most of it garbage
			t.Errorf("%s: %d MB were allocated", name, got)
		}
		last := name == "bomb" || name == "window"
		if last != slices.Contains(whole, "https://a.test/2") {
			t.Errorf("%s: %q", name, whole)
		}
	}
}

// Archives differ in what they keep of the framing and the encoding of a body.
func TestBodies(t *testing.T) {
	for _, tt := range []struct{ name, head, body, want string }{
		{"chunks", "Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n", "hello"},
		{"chunks that are none", "Transfer-Encoding: chunked", "<p>hello", "<p>hello"},
		{"chunks cut short", "Transfer-Encoding: chunked", "5\r\nhello\r\n9\r\nwor", "hellowor"},
		{"gzip that is none", "Content-Encoding: gzip", "<p>hello", "<p>hello"},
		{"long", "X: y", strings.Repeat("z", 100), strings.Repeat("z", 50)},
		{"folded and without colon", "X: y\r\n z\r\nnothing", "b", "b"},
	} {
		file := record("response", "https://a.test/", "HTTP/1.0 200\r\n"+tt.head+"\r\n\r\n"+tt.body)
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		a, err := r.Answer(rec)
		if err == nil {
			err = r.Body(rec, a, 50)
		}
		if err != nil || string(a.Body) != tt.want || a.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: %q, %v", tt.name, a.Body, err)
		}
	}
}

// What Wget writes is read.
func TestWget(t *testing.T) {
	wget, err := exec.LookPath("wget")
	if err != nil && os.Getenv("RIPPLE_CI") != "1" {
		t.Skip("wget is not installed, so none of its archives is read; .ci/run installs it")
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<a href="/two">two</a>`+strings.Repeat("text ", 10_000))
	}))
	defer s.Close()
	dir := t.TempDir()
	cmd := exec.Command(wget, "-q", "-r", "-l", "1", "-e", "robots=off", "--warc-file="+filepath.Join(dir, "w"), s.URL+"/")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file, err := os.ReadFile(filepath.Join(dir, "w.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	whole, damage := urls(t, file)
	if !slices.Contains(whole, s.URL+"/") || !slices.Contains(whole, s.URL+"/two") || len(damage) != 0 {
		t.Errorf("%q, damage at %d", whole, damage)
	}
}

// Every file is read to its end, and each whole record can be found again by its place.
func FuzzReader(f *testing.F) {
	for _, file := range packed(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		defer r.Close()
		var found []Record
		for len(found) < 100 {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if a, err := r.Answer(rec); err == nil {
				_ = r.Body(rec, a, 1<<16) // it may be damaged
			}
			if r.End() == nil {
				found = append(found, *rec)
			}
		}
		for _, want := range found {
			if err := r.Seek(want.Place); err != nil {
				t.Fatalf("seek %v: %v", want.Place, err)
			}
			rec, err := r.Next()
			if err != nil || rec.Place != want.Place || rec.URL != want.URL || rec.Length != want.Length {
				t.Fatalf("%v is %v now, %v", want, rec, err)
			}
		}
	})
}
