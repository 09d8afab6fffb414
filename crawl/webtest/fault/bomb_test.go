package fault

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

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

func decoder(coding string, r io.Reader) (io.Reader, error) {
	switch coding {
	case "br":
		return brotli.NewReader(r), nil
	case "zstd":
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		return d, err
	default:
		return gzip.NewReader(r)
	}
}
