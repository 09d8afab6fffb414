package fault

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	bombBytes = 1 << 30
	bombBlock = 1 << 20 // expanded size of the repeated part
)

// explode sends a bomb: the page, then spaces up to 1 GB. Only one block is compressed; the rest of the
// stream repeats it as the client reads.
func (f Fault) explode(to http.ResponseWriter, a Answer) {
	coding := "gzip"
	switch f {
	case BrotliBomb:
		coding = "br"
	case ZstdBomb:
		coding = "zstd"
	case NestedGzipBomb:
		coding = "gzip, gzip"
	}
	if f != GzipFileBomb {
		to.Header().Set("Content-Encoding", coding)
	}
	to.WriteHeader(a.Status)
	w := io.Writer(to)
	if f == NestedGzipBomb {
		outer := gzip.NewWriter(w)
		defer outer.Close()
		w = outer
	}
	_ = writeBomb(w, coding, a.Body, bombBytes) // fails when the client gives up
}

// A flusher is a compressor whose output after Flush ends at a whole byte.
type flusher interface {
	io.WriteCloser
	Flush() error
}

// writeBomb writes page and spaces, size bytes in total (rounded up to a whole block), as one valid
// stream. "gzip, gzip" writes the inner stream.
func writeBomb(w io.Writer, coding string, page []byte, size int64) error {
	blocks := max(1, (size-int64(len(page))+bombBlock-1)/bombBlock)
	switch coding {
	case "br":
		return repeat(w, func(w io.Writer) flusher { return brotli.NewWriterLevel(w, 1) }, page, blocks)
	case "zstd":
		return repeat(w, newZstdBomb, page, blocks)
	default:
		return gzipBomb(w, page, blocks)
	}
}

// newZstdBomb omits the checksum, which would require the whole expanded text.
func newZstdBomb(w io.Writer) flusher {
	// The constant options are valid, so there is no error.
	enc, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	return enc
}

// gzipBomb writes the gzip frame itself around raw deflate, which may be repeated. The trailer is the
// checksum of everything.
func gzipBomb(w io.Writer, page []byte, blocks int64) error {
	if _, err := w.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}); err != nil {
		return err
	}
	deflate := func(w io.Writer) flusher {
		enc, _ := flate.NewWriter(w, flate.BestCompression) // the level is valid
		return enc
	}
	if err := repeat(w, deflate, page, blocks); err != nil {
		return err
	}
	sum, block := crc32.ChecksumIEEE(page), spaces()
	for range blocks {
		sum = crc32.Update(sum, crc32.IEEETable, block)
	}
	trailer := binary.LittleEndian.AppendUint32(nil, sum)
	trailer = binary.LittleEndian.AppendUint32(trailer, uint32(int64(len(page))+blocks*bombBlock))
	_, err := w.Write(trailer)
	return err
}

func spaces() []byte { return []byte(strings.Repeat(" ", bombBlock)) }

// repeat writes page and the given number of blocks of spaces. From the third block on, the encoder's
// output is always the same, so it is kept and repeated.
func repeat(w io.Writer, encoder func(io.Writer) flusher, page []byte, blocks int64) error {
	var buf bytes.Buffer
	enc, block := encoder(&buf), spaces()
	encode := func(b []byte) []byte {
		buf.Reset()
		_, _ = enc.Write(b) // a bytes.Buffer takes everything
		_ = enc.Flush()
		return buf.Bytes()
	}
	_, err := w.Write(encode(page))
	for i := int64(0); i < blocks && err == nil; i++ {
		if i < 3 {
			_, err = w.Write(encode(block))
			continue
		}
		_, err = w.Write(buf.Bytes())
	}
	buf.Reset()
	_ = enc.Close()
	if err == nil {
		_, err = w.Write(buf.Bytes())
	}
	return err
}
