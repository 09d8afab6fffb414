package fetch

import (
	"bytes"
	stdflate "compress/flate"
	stdgzip "compress/gzip"
	stdzlib "compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encode applies encodings in the order of a Content-Encoding header. "raw" is deflate without its zlib
// envelope.
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

// decode decodes a body, up to limit bytes plus one.
func decode(d *decoders, header string, data []byte, limit int64) ([]byte, error) {
	c, err := d.open([]string{header}, bytes.NewReader(data), limit)
	defer c.close()
	if err != nil {
		return nil, err
	}
	all, err := appendFrom(nil, c, limit+1)
	if err == io.EOF {
		err = nil
	}
	return all, err
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
		{"wrong checksum", "gzip", append(gz[:len(gz)-8:len(gz)-8], "01234567"...), "hello", None},
		{"no checksum", "gzip", gz[:len(gz)-8], "hello", None},
		{"half of a checksum", "gzip", gz[:len(gz)-5], "hello", None},
		{"garbage behind", "br", append(encode(t, []byte("hello"), "br"), "\r\n"...), "hello", None},
		{"garbage behind", "zstd", append(encode(t, []byte("hello"), "zstd"), "garbage"...), "hello", None},
		{"garbage behind", "deflate", append(encode(t, []byte("hello"), "deflate"), "garbage"...), "hello", None},
		{"name, comment, extra field, checksum", "gzip", append([]byte("\x1f\x8b\x08\x1e\x00\x00\x00\x00\x00\x03"+
			"\x03\x00abcname\x00comment\x00\x01\x02"), gz[10:]...), "hello", None},
		{"not gzip", "gzip", []byte("<html>plain text"), "", BadResponse},
		{"not brotli", "br", bytes.Repeat([]byte{0xff}, 99), "", BadResponse},
		{"not zstd", "zstd", []byte("<html>plain text"), "", BadResponse},
		{"not deflate", "deflate", bytes.Repeat([]byte{0xff}, 99), "", BadResponse},
		{"unknown", "compress", []byte("x"), "x", None},
		{"unknown", "text/html", []byte("x"), "x", None},
		{"unknown", "gzip, foo", []byte("x"), "x", None},
		{"unknown", "foo, gzip", []byte("x"), "x", None},
		{"that of the characters", "UTF-8", []byte("hello"), "hello", None},
		{"that of the characters, too", "gzip, iso-8859-1", gz, "hello", None},
		{"none", "None", []byte("hello"), "hello", None},
		{"too many", "gzip, gzip, gzip, gzip, gzip, gzip", gz, "", BadResponse},
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

// FuzzDecode checks that any input gives at most limit bytes plus one, and that valid gzip decodes
// as with the standard library.
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
