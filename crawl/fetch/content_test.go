package fetch

import (
	"bytes"
	stdflate "compress/flate"
	stdgzip "compress/gzip"
	stdzlib "compress/zlib"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encode applies the encodings as a Content-Encoding header names them. "raw"
// is deflate without its zlib envelope.
func encode(t testing.TB, data []byte, encodings ...string) []byte {
	t.Helper()
	for _, name := range encodings {
		var out bytes.Buffer
		var w io.WriteCloser
		switch name {
		case "gzip", "x-gzip":
			w = stdgzip.NewWriter(&out)
		case "deflate":
			w = stdzlib.NewWriter(&out)
		case "raw":
			w, _ = stdflate.NewWriter(&out, 6)
		case "br":
			w = brotli.NewWriterLevel(&out, 5)
		case "zstd":
			w, _ = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
		default:
			continue
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		data = out.Bytes()
	}
	return data
}

// decode runs a body through the chain, to at most limit bytes and one.
func decode(d *decoders, header string, data []byte, limit int64) ([]byte, error) {
	c, err := d.open([]string{header}, bytes.NewReader(data), limit)
	defer c.close()
	if err != nil {
		return nil, err
	}
	all := chunks{pool: &d.chunks}
	defer all.release()
	if err = all.fill(c, limit+1); err == io.EOF {
		err = nil
	}
	return all.bytes(limit + 1), err
}

func sample(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<p>%x</p>\n", r.Uint32N(5000))
	}
	return b.Bytes()[:n]
}

func TestDecode(t *testing.T) {
	d := new(decoders)
	for _, size := range []int{0, 1, 511, chunkBytes, 300_000} {
		for header, applied := range map[string][]string{
			"":                      nil,
			"identity":              nil,
			"gzip":                  {"gzip"},
			"X-GZIP":                {"gzip"},
			"deflate":               {"deflate"},
			"deflate, identity":     {"raw"},
			"br":                    {"br"},
			"zstd":                  {"zstd"},
			"gzip, gzip":            {"gzip", "gzip"},
			"br,zstd , gzip":        {"br", "zstd", "gzip"},
			"identity, deflate, br": {"deflate", "br"},
		} {
			want := sample(size)
			for range 2 { // the second time with pooled decoders
				got, err := decode(d, header, encode(t, want, applied...), 1<<20)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%q of %d bytes: %d bytes, %v", header, size, len(got), err)
				}
			}
		}
	}
}

func TestDecodeOdd(t *testing.T) {
	d := new(decoders)
	gz := encode(t, []byte("hello"), "gzip")
	tests := []struct {
		name, header string
		data         []byte
		want         string
		cause        Cause
	}{
		{"two members", "gzip", append(gz[:len(gz):len(gz)], gz...), "hellohello", None},
		{"garbage behind", "gzip", append(gz[:len(gz):len(gz)], "\x00\x00trailing"...), "hello", None},
		{"one byte behind", "gzip", append(gz[:len(gz):len(gz)], '\n'), "hello", None},
		{"nothing at all", "br", nil, "", None},
		{"nothing at all", "gzip, br", nil, "", None},
		{"cut", "gzip", gz[:len(gz)-9], "", Truncated},
		{"cut in the header", "gzip", gz[:5], "", Truncated},
		{"cut", "deflate", encode(t, sample(9000), "deflate")[:2000], "", Truncated},
		{"cut", "br", encode(t, sample(9000), "br")[:2000], "", Truncated},
		{"cut", "zstd", encode(t, sample(9000), "zstd")[:2000], "", Truncated},
		{"wrong checksum", "gzip", append(gz[:len(gz)-8:len(gz)-8], "01234567"...), "", BadResponse},
		{"not gzip", "gzip", []byte("<html>plain text"), "", BadResponse},
		{"not brotli", "br", bytes.Repeat([]byte{0xff}, 99), "", BadResponse},
		{"not zstd", "zstd", []byte("<html>plain text"), "", BadResponse},
		{"not deflate", "deflate", bytes.Repeat([]byte{0xff}, 99), "", BadResponse},
		{"unknown", "compress", []byte("x"), "", BadResponse},
		{"too many", "gzip, gzip, gzip, gzip", gz, "", BadResponse},
		{"window of 1 GB", "zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa0, 1, 0, 0}, "", BadResponse},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.header, func(t *testing.T) {
			got, err := decode(d, tt.header, tt.data, 1<<20)
			if err == nil && tt.cause == None {
				if string(got) != tt.want {
					t.Errorf("%q, want %q", got, tt.want)
				}
			} else if err == nil || asError(err, bodyCause(err), "").Cause != tt.cause {
				t.Errorf("%q, %v; want %v", got, err, tt.cause)
			}
		})
	}
}

// bomb makes 1 GB of zeros out of about a megabyte, member by member.
func bomb(t testing.TB) []byte {
	return bytes.Repeat(encode(t, make([]byte, 10<<20), "gzip"), 100)
}

// A bomb costs neither time nor memory, however it is packed.
func TestBomb(t *testing.T) {
	const limit = 10_000_000
	zeros := make([]byte, 64<<20)
	tests := map[string][]byte{
		"gzip":       bomb(t),
		"gzip, gzip": encode(t, bomb(t), "gzip"),
		"br":         encode(t, zeros, "br"),
		"zstd":       encode(t, zeros, "zstd"),
		"deflate":    encode(t, zeros, "deflate"),
		"zstd, br":   encode(t, zeros, "zstd", "br"),
	}
	zeros = nil
	for header, data := range tests {
		t.Run(header, func(t *testing.T) {
			if len(data) > 2_000_000 {
				t.Fatalf("no bomb: %d bytes", len(data))
			}
			c, url := serve(t, Config{Compress: true}, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Content-Encoding", header)
				w.Write(data)
			})
			grown, start := growth(), time.Now()
			res, err := c.Do(context.Background(), Request{URL: url})
			if causeOf(t, err) != TooLarge || len(res.Body) > limit {
				t.Fatalf("%d bytes, %v", len(res.Body), err)
			}
			if n := grown(); n > 32<<20 {
				t.Errorf("grew by %d MiB", n>>20)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// growth returns a function that tells by how much the heap has grown, as the
// system sees it: what was in use at most, since pages go back only slowly.
func growth() func() int64 {
	resident := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapSys - m.HeapReleased)
	}
	debug.FreeOSMemory()
	before := resident()
	return func() int64 { return resident() - before }
}

func TestEndlessBody(t *testing.T) {
	c, url := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	grown := growth()
	res, err := c.Do(context.Background(), Request{URL: url})
	if causeOf(t, err) != TooLarge || len(res.Body) != 10_000_000 || res.Status != 200 {
		t.Fatalf("%d bytes, %v", len(res.Body), err)
	}
	if n := grown(); n > 32<<20 {
		t.Errorf("grew by %d MiB", n>>20)
	}
}

// Empty members decode to nothing for ever; the wire has its limit too.
func TestEndlessEmptyMembers(t *testing.T) {
	empty := encode(t, nil, "gzip")
	read := 0
	source := readerFunc(func(p []byte) (int, error) {
		n := copy(p, empty)
		read += n
		return n, nil
	})
	c, err := new(decoders).open([]string{"gzip"}, source, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	if _, err := c.Read(make([]byte, 10)); causeOf(t, err) != TooLarge || read > 100_000 {
		t.Errorf("%v after %d bytes", err, read)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestAcceptAndCut(t *testing.T) {
	body := strings.Repeat("0123456789", 100)
	c, url := serve(t, Config{Compress: true}, func(w http.ResponseWriter, r *http.Request) {
		data := []byte(body)
		if r.URL.Path == "/gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			data = encode(t, data, "gzip")
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write(data)
	})
	tests := []struct {
		path  string
		limit int64
		cut   bool
		want  int
		cause Cause
	}{
		{"/", 1000, false, 1000, None},
		{"/", 999, false, 0, TooLarge}, // declared: not a byte is read
		{"/", 999, true, 999, None},
		{"/", 0, false, 0, None},
		{"/gzip", 1000, false, 1000, None},
		{"/gzip", 999, false, 999, TooLarge},
		{"/gzip", 999, true, 999, None},
	}
	for _, tt := range tests {
		limit := func(status int, h http.Header) int64 {
			if status != 200 || h.Get("Content-Type") != "text/html" {
				t.Errorf("asked with %d, %v", status, h)
			}
			return tt.limit
		}
		res, err := c.Do(context.Background(), Request{URL: url + tt.path, Accept: limit, Cut: tt.cut})
		if causeOf(t, err) != tt.cause || string(res.Body) != body[:tt.want] || res.Size != int64(tt.want) {
			t.Errorf("%+v: %d bytes, %v", tt, len(res.Body), err)
		}
	}
}

func TestSniff(t *testing.T) {
	tests := []struct {
		body, encoding, want string
		status               int
	}{
		{"<!doctype html><title>x</title>", "", "text/html; charset=utf-8", 200},
		{"<!doctype html>" + strings.Repeat("x", 99_999), "gzip", "text/html; charset=utf-8", 200},
		{"\x89PNG\r\n\x1a\n", "", "image/png", 200},
		{"", "", "", 200},
		{"<html>", "", "", 404},
	}
	for _, tt := range tests {
		c, url := serve(t, Config{Compress: true}, func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Content-Type"] = nil
			if tt.encoding != "" {
				w.Header().Set("Content-Encoding", tt.encoding)
			}
			w.WriteHeader(tt.status)
			w.Write(encode(t, []byte(tt.body), tt.encoding))
		})
		var asked string
		res, err := c.Do(context.Background(), Request{URL: url, Accept: func(_ int, h http.Header) int64 {
			asked = h.Get("Content-Type")
			return 1 << 20
		}})
		if err != nil || res.Sniffed != tt.want || asked != tt.want || string(res.Body) != tt.body {
			t.Errorf("%.20q: sniffed %q, asked %q, %d bytes, %v", tt.body, res.Sniffed, asked, len(res.Body), err)
		}
	}
}

func TestHead(t *testing.T) {
	c, url := serve(t, Config{Compress: true, KeepAlive: true}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", "1000000000")
	})
	res, err := c.Do(context.Background(), Request{Method: "HEAD", URL: url, Accept: func(int, http.Header) int64 { return 1 }})
	if err != nil || res.Status != 200 || len(res.Body) != 0 || res.Header.Get("Content-Length") != "1000000000" {
		t.Errorf("%+v, %v", res, err)
	}
}

// Whatever the bytes, no more than the limit and one come out; what the standard
// library reads as gzip reads the same here.
func FuzzDecode(f *testing.F) {
	for _, e := range []string{"gzip", "deflate", "raw", "br", "zstd"} {
		f.Add(strings.Replace(e, "raw", "deflate", 1), encode(f, sample(2000), e), uint16(1500))
	}
	f.Add("gzip, gzip", encode(f, sample(100), "gzip", "gzip"), uint16(100))
	d := new(decoders)
	f.Fuzz(func(t *testing.T, header string, data []byte, limit uint16) {
		got, err := decode(d, header, data, int64(limit))
		if len(got) > int(limit)+1 {
			t.Fatalf("%d bytes, limit %d", len(got), limit)
		}
		if header != "gzip" || len(data) == 0 {
			return
		}
		want, wantErr := gunzip(data, int64(limit)+1)
		if wantErr == nil && (err != nil || !bytes.Equal(got, want)) {
			t.Fatalf("%d bytes, %v; the standard library reads %d", len(got), err, len(want))
		}
	})
}

func gunzip(data []byte, n int64) ([]byte, error) {
	z, err := stdgzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, n))
}
