package fetch

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"github.com/sumi-ripple/ripple/crawl/charset"
)

const (
	maxEncodings  = 5
	maxZstdWindow = 8 << 20 // RFC 9659
	decodedSlack  = 64 << 10
)

// decoders are reused for many bodies. The zero value is ready to use.
type decoders struct {
	buffers, flate, brotli, zstd, chunks sync.Pool

	sniffing sync.Mutex
}

// content is a decoded body. After slightly more than limit bytes it returns an error. Every stage
// before the last may read an eighth more, since compressed data is normally smaller. It must be
// closed once and not used afterwards.
type content struct {
	io.Reader
	limit int64
	pool  *decoders
	back  []func() // return decoders to the pool
}

// open builds the chain of decoders, for the last encoding first.
func (d *decoders) open(header []string, wire io.Reader, limit int64) (*content, error) {
	c := &content{Reader: wire, limit: limit, pool: d}
	names, err := encodingNames(header)
	if err != nil {
		return c, err
	}
	for i := len(names) - 1; i >= 0; i-- {
		in := c.buffered(&bounded{r: c.Reader, content: c})
		if _, err := in.Peek(1); err == io.EOF && i == len(names)-1 {
			c.Reader = in // an empty body is empty, whatever its encoding
			return c, nil
		}
		if c.Reader, err = c.stage(names[i], in); err != nil {
			return c, err
		}
	}
	return c, nil
}

// encodingNames parses Content-Encoding and omits names that mean no encoding. If a name is
// unknown, the body is passed on unchanged, as in Chromium: such bodies are usually not encoded.
func encodingNames(header []string) ([]string, error) {
	known := []string{"gzip", "deflate", "br", "zstd"}
	var names []string
	for _, line := range header {
		for name := range strings.SplitSeq(line, ",") {
			name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "x-")
			if isNone(name) {
				continue
			}
			if !slices.Contains(known, name) {
				return nil, nil
			}
			if names = append(names, name); len(names) > maxEncodings {
				return nil, errors.New("too many content encodings")
			}
		}
	}
	return names, nil
}

// isNone reports a name that means no encoding, or a character encoding, which many servers put there and
// browsers ignore.
func isNone(name string) bool {
	switch name {
	case "", "identity", "none", "binary", "7bit", "8bit":
		return true
	}
	_, ok := charset.Lookup(name)
	return ok
}

func (c *content) stage(name string, in *bufio.Reader) (io.Reader, error) {
	switch name {
	case "gzip":
		return c.gunzip(in)
	case "deflate":
		return c.inflate(in)
	case "br":
		return c.unbrotli(in), nil
	}
	return c.unzstd(in)
}

func (c *content) buffered(r io.Reader) *bufio.Reader {
	b, ok := c.pool.buffers.Get().(*bufio.Reader)
	if !ok {
		b = bufio.NewReader(nil)
	}
	b.Reset(r)
	c.onClose(func() { b.Reset(nil); c.pool.buffers.Put(b) })
	return b
}

func (c *content) gunzip(in *bufio.Reader) (io.Reader, error) {
	if err := skipHeader(in); err != nil {
		return nil, unexpected(err)
	}
	z, err := c.deflated(in)
	return &members{z: z, in: in}, err
}

// inflate decodes zlib, as the standard requires, or raw deflate, which some servers send.
func (c *content) inflate(in *bufio.Reader) (io.Reader, error) {
	head, err := in.Peek(2)
	if err != nil {
		return nil, unexpected(err)
	}
	if head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 && head[1]&0x20 == 0 {
		in.Discard(2)
	}
	return c.deflated(in)
}

func (c *content) deflated(in *bufio.Reader) (io.Reader, error) {
	z, ok := c.pool.flate.Get().(io.ReadCloser)
	if !ok {
		z = flate.NewReader(in)
	}
	c.onClose(func() { c.pool.flate.Put(z) })
	return z, z.(flate.Resetter).Reset(in, nil)
}

func (c *content) unbrotli(in *bufio.Reader) io.Reader {
	z, ok := c.pool.brotli.Get().(*brotli.Reader)
	if !ok {
		z = new(brotli.Reader)
	}
	z.Reset(in)
	c.onClose(func() { z.Reset(bytes.NewReader(nil)); c.pool.brotli.Put(z) })
	return &whole{r: z, beyond: func(err error) bool { return err.Error() == "brotli: excessive input" }}
}

func (c *content) unzstd(in *bufio.Reader) (io.Reader, error) {
	z, ok := c.pool.zstd.Get().(*zstd.Decoder)
	if !ok {
		var err error
		z, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
	}
	c.onClose(func() { z.Reset(nil); c.pool.zstd.Put(z) })
	return &whole{r: z, beyond: func(err error) bool { return errors.Is(err, zstd.ErrMagicMismatch) }}, z.Reset(in)
}

func (c *content) onClose(f func()) { c.back = append(c.back, f) }

func (c *content) close() {
	for _, f := range c.back {
		f()
	}
	c.back = nil
}

// stageLimit returns how many bytes a stage may read for a given limit on decoded bytes.
func stageLimit(limit int64) int64 { return limit + limit/8 + decodedSlack }

// bounded is the limited input of a stage: the connection or the previous stage.
type bounded struct {
	r       io.Reader
	content *content
	n       int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if limit := b.content.limit; b.n > stageLimit(limit) {
		return 0, tooLarge(limit)
	}
	n, err := b.r.Read(p)
	b.n += int64(n)
	return n, err
}

// A whole decodes a stream and ends where other data follows it. Browsers ignore such data.
type whole struct {
	r      io.Reader
	beyond func(error) bool
	some   bool // something has been decoded
}

func (w *whole) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.some = w.some || n > 0
	if err != nil && w.some && w.beyond(err) {
		err = io.EOF
	}
	return n, err
}

// members reads the consecutive members of a gzip file (RFC 1952). Like browsers, it ignores data after the
// last one, and the checksum and length of each: some servers send wrong ones, or none.
type members struct {
	z  io.Reader
	in *bufio.Reader
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil // the next read looks for another member
		}
		if _, err := m.in.Discard(8); err != nil {
			return 0, err
		}
		magic, err := m.in.Peek(2)
		if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
			return 0, cmp.Or(err, io.EOF)
		}
		if err := skipHeader(m.in); err != nil {
			return 0, unexpected(err)
		}
		if err := m.z.(flate.Resetter).Reset(m.in, nil); err != nil {
			return 0, err
		}
	}
}

var errNoGzip = errors.New("not gzip")

// skipHeader skips the header of a gzip member (RFC 1952 section 2.3).
func skipHeader(in *bufio.Reader) error {
	const (
		headerCRC = 1 << (iota + 1)
		extra
		name
		comment
	)
	var head [10]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		if head[0] != 0x1f {
			return errNoGzip
		}
		return err
	}
	if head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 {
		return errNoGzip
	}
	flags := head[3]
	if flags&extra != 0 {
		var size [2]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return err
		}
		if _, err := in.Discard(int(size[0]) | int(size[1])<<8); err != nil {
			return err
		}
	}
	for _, text := range []byte{name, comment} {
		for flags&text != 0 {
			c, err := in.ReadByte()
			if err != nil {
				return err
			}
			if c == 0 {
				break
			}
		}
	}
	if flags&headerCRC != 0 {
		_, err := in.Discard(2)
		return err
	}
	return nil
}

// unexpected turns io.EOF into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
