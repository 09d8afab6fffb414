package fetch

import (
	"bytes"
	"context"
	"net/http"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema/process"
)

// bomb returns about a megabyte that decodes to 1 GB of zeros, in many members.
func bomb(t testing.TB) []byte {
	return bytes.Repeat(encode(t, make([]byte, 10<<20), "gzip"), 100)
}

// A bomb costs neither time nor memory, however it is encoded.
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
			grown, start := growth(), process.CPUTime()
			res, err := do(c, context.Background(), Request{URL: url})
			if causeOf(t, err) != TooLarge || len(res.Body) > limit {
				t.Fatalf("%d bytes, %v", len(res.Body), err)
			}
			if n := grown(); n > 32<<20 && !process.Race {
				t.Errorf("grew by %d MiB", n>>20)
			}
			if took := process.CPUTime() - start; took > 5*time.Second && !process.Race {
				t.Errorf("took %v", took)
			}
		})
	}
}

// growth returns a function that returns the peak growth of the heap as the system sees it. The
// peak counts, because the heap gives memory pages back slowly.
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
	res, err := do(c, context.Background(), Request{URL: url})
	if causeOf(t, err) != TooLarge || len(res.Body) != 0 || res.Status != 200 {
		t.Fatalf("%d bytes, %v", len(res.Body), err)
	}
	if n := grown(); n > 32<<20 && !process.Race {
		t.Errorf("grew by %d MiB", n>>20)
	}
}

// Empty members decode to nothing forever, so the encoded size is limited too.
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
