package fetch

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sumi-ripple/ripple/crawl/media"
)

const (
	sniffBytes = 512
	chunkBytes = 32 << 10
	maxLimit   = 1 << 40  // keeps sums of limits in an int64
	drainBytes = 16 << 10 // read to keep a connection, rather than pay a handshake
)

// readBody reads what Accept grants into res.
func (c *Client) readBody(x *exchange, raw *http.Response, req *Request, res *Response) error {
	defer raw.Body.Close()
	body := bodyReader{client: c, exchange: x, raw: raw, res: res, chunks: chunks{buffer: req.Buffer}}
	defer body.close()
	if err := body.sniff(); err != nil {
		return body.explain(err)
	}
	limit := c.maxBytes
	if req.Accept != nil {
		limit = min(req.Accept(raw.StatusCode, raw.Header), maxLimit)
	}
	switch {
	case body.absent():
		return nil
	case limit <= 0:
		body.drain()
		return nil
	case raw.ContentLength > limit && !req.Cut && len(raw.Header["Content-Encoding"]) == 0:
		return tooLarge(limit)
	}
	if err := body.read(limit, req.Cut); err != nil {
		return body.explain(err)
	}
	return nil
}

func tooLarge(limit int64) *Error {
	return &Error{Cause: TooLarge, Op: "read body", Err: fmt.Errorf("more than %d bytes", limit)}
}

// A bodyReader reads one body, from the connection through the decoders into
// chunks, and from those into a slice of the right size.
type bodyReader struct {
	client   *Client
	exchange *exchange
	raw      *http.Response
	res      *Response
	wire     wire
	content  *content
	chunks   chunks
	ended    bool
}

// absent reports whether there is no body to read.
func (b *bodyReader) absent() bool {
	return b.raw.Body == http.NoBody || b.raw.Request != nil && b.raw.Request.Method == http.MethodHead
}

// open starts the clock and builds the chain of decoders.
func (b *bodyReader) open() error {
	if b.content != nil {
		return nil
	}
	b.exchange.readBody()
	b.wire = wire{r: b.raw.Body, exchange: b.exchange}
	b.chunks.pool = &b.client.decoders.chunks
	var err error
	b.content, err = b.client.decoders.open(b.raw.Header["Content-Encoding"], &b.wire, b.client.maxBytes)
	return err
}

// sniff sets the Content-Type of a 2xx that came without, or with what is none.
func (b *bodyReader) sniff() error {
	declared := media.Extract(b.raw.Header.Get("Content-Type"))
	if b.absent() || b.raw.StatusCode/100 != 2 || declared.Essence != "" {
		return nil
	}
	if err := b.open(); err != nil {
		return err
	}
	if err := b.fill(sniffBytes); err != nil {
		return err
	}
	if head := b.chunks.head(sniffBytes); len(head) > 0 {
		// The charset that comes with it is guessed of the first bytes alone.
		b.res.Sniffed, _, _ = strings.Cut(http.DetectContentType(head), ";")
		b.raw.Header.Set("Content-Type", b.res.Sniffed)
	}
	return nil
}

// fill reads until there are upTo bytes or the body has ended.
func (b *bodyReader) fill(upTo int64) error {
	if b.ended {
		return nil
	}
	err := b.chunks.fill(b.content, upTo)
	b.ended = err == io.EOF
	if b.ended {
		return nil
	}
	return err
}

// read fills the response with at most limit bytes, also when it errs.
func (b *bodyReader) read(limit int64, cut bool) error {
	if err := b.open(); err != nil {
		return err
	}
	b.content.limit = limit
	err := b.fill(limit + 1)
	over := b.chunks.size > limit
	b.res.Body = b.chunks.bytes(limit)
	switch {
	case err == nil && over && !cut:
		return tooLarge(limit)
	case over && cut:
		return nil
	}
	return err
}

// drain reads the little that may be left, so that the connection can serve
// again. HTTP/2 ends a stream without it.
func (b *bodyReader) drain() {
	if b.raw.ProtoMajor != 1 || b.raw.ContentLength > drainBytes {
		return
	}
	b.exchange.drain()
	io.CopyN(io.Discard, b.raw.Body, drainBytes+1) // its error is that the connection will not serve again
}

// explain names the cause of an error: a limit that was passed, what the
// connection said, or else what the decoder did.
func (b *bodyReader) explain(err error) error {
	if ended := b.exchange.ended(); ended != nil {
		return ended
	}
	if b.wire.err != nil {
		err = b.wire.err
	}
	return asError(err, bodyCause(err), "read body")
}

func (b *bodyReader) close() {
	b.res.Wire, b.res.Size = b.exchange.wire.Load(), int64(len(b.res.Body))
	b.chunks.release()
	if b.content != nil {
		b.content.close()
	}
}

// wire is the body as the connection delivers it. It keeps its error, which
// decoders replace by their own.
type wire struct {
	r        io.Reader
	exchange *exchange
	err      error
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.exchange.wire.Add(int64(n))
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// chunks collect a body of unknown size without copying it as it grows.
type chunks struct {
	pool   *sync.Pool // of *[chunkBytes]byte
	list   []*[chunkBytes]byte
	size   int64
	buffer []byte // for what bytes returns
}

// maxEmptyReads bounds a reader that returns neither bytes nor an error.
const maxEmptyReads = 100

// fill reads until there are upTo bytes, or to the error of r.
func (c *chunks) fill(r io.Reader, upTo int64) error {
	for empty := 0; c.size < upTo; {
		at := c.size % chunkBytes
		if c.size == int64(len(c.list))*chunkBytes {
			c.grow()
		}
		room := c.list[len(c.list)-1][at:]
		n, err := r.Read(room[:min(int64(len(room)), upTo-c.size)])
		c.size += int64(n)
		if err != nil {
			return err
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return io.ErrNoProgress
		}
	}
	return nil
}

func (c *chunks) grow() {
	chunk, ok := c.pool.Get().(*[chunkBytes]byte)
	if !ok {
		chunk = new([chunkBytes]byte)
	}
	c.list = append(c.list, chunk)
}

// head returns the first n bytes, or fewer; they are lent until release.
func (c *chunks) head(n int64) []byte {
	if len(c.list) == 0 {
		return nil
	}
	return c.list[0][:min(n, c.size, chunkBytes)]
}

// bytes returns a copy of the first n bytes, or fewer, in the buffer if it is
// large enough.
func (c *chunks) bytes(n int64) []byte {
	left := int(min(n, c.size))
	out := slices.Grow(c.buffer[:0], left)
	for i := 0; left > 0; i++ {
		piece := c.list[i][:min(left, chunkBytes)]
		out, left = append(out, piece...), left-len(piece)
	}
	return out
}

func (c *chunks) release() {
	for _, chunk := range c.list {
		c.pool.Put(chunk)
	}
	c.list, c.size = nil, 0
}
