package fetch

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/crawl/media"
)

const (
	sniffBytes = 512
	maxLimit   = 1 << 40  // keeps sums of limits within an int64
	drainBytes = 16 << 10 // read to keep a connection, instead of paying for a handshake
)

// readBody reads the part of the body that Accept allows, still encoded, into res.
func (c *Client) readBody(x *exchange, raw *http.Response, req *Request, res *Response) error {
	defer raw.Body.Close()
	b := &bodyReader{exchange: x, raw: raw, body: newBody(c, raw.Header["Content-Encoding"], req)}
	wanted, err := b.choose(req, res)
	if err == nil && wanted {
		err = b.fill(b.most() + 1)
	}
	res.Waited = x.waited
	if err != nil || !wanted {
		b.release()
		return err
	}
	res.came = b.body
	return nil
}

func tooLarge(limit int64) *Error {
	return &Error{Cause: TooLarge, Op: "read body", Err: fmt.Errorf("more than %d bytes", limit)}
}

// A bodyReader reads one body from the connection. It decodes only the beginning, and only if a
// type must be detected. So a request that waits for its body occupies a chunk of memory and no
// decoder.
type bodyReader struct {
	*body
	exchange *exchange
	raw      *http.Response
	reading  bool
	settled  time.Time // when the claim was last reviewed
	had      int64     // bytes read by then
}

// choose calls Accept, and reports whether there is a body to read.
func (b *bodyReader) choose(req *Request, res *Response) (wanted bool, err error) {
	if err := b.sniff(res); err != nil {
		return false, err
	}
	if req.Accept != nil {
		b.limit = min(req.Accept(b.raw.StatusCode, b.raw.Header), maxLimit)
	}
	b.cut = b.cut || b.raw.StatusCode >= 400
	switch {
	case b.absent():
		return false, nil
	case b.limit <= 0:
		b.drain()
		return false, nil
	case b.raw.ContentLength > b.limit && !b.cut && b.plain:
		return false, tooLarge(b.limit)
	}
	_, err = encodingNames(b.encoding)
	return err == nil, b.explain(err)
}

// absent reports whether there is no body to read.
func (b *bodyReader) absent() bool {
	return b.raw.Body == http.NoBody || b.raw.Request != nil && b.raw.Request.Method == http.MethodHead
}

// sniff sets the Content-Type of a 2xx without a valid one.
func (b *bodyReader) sniff(res *Response) error {
	declared := media.Extract(b.raw.Header.Get("Content-Type"))
	if b.absent() || b.raw.StatusCode/100 != 2 || declared.Essence != "" {
		return nil
	}
	head, err := b.beginning()
	if err != nil {
		return err
	}
	if len(head) > 0 {
		// DetectContentType also guesses a charset, from the first bytes only.
		res.Sniffed, _, _ = strings.Cut(http.DetectContentType(head), ";")
		b.raw.Header.Set("Content-Type", res.Sniffed)
	}
	return nil
}

// beginning reads until the first bytes can be decoded, and returns them.
func (b *bodyReader) beginning() ([]byte, error) {
	for upTo := int64(sniffBytes); ; upTo *= 2 {
		if err := b.fill(upTo); err != nil {
			return nil, err
		}
		head, more, err := b.head()
		if !more || b.chunks.size > b.most() {
			return head, err
		}
	}
}

// fill reads until there are upTo bytes or the body has ended. Beyond the size that is free for every body,
// it waits until there is memory, with the body's clocks stopped.
func (b *bodyReader) fill(upTo int64) (err error) {
	if !b.reading {
		b.reading = true
		b.exchange.readBody()
	}
	for err == nil && !b.ended && b.chunks.size < upTo {
		if err = b.find(); err == nil {
			err = b.fillTo(min(upTo, b.chunks.size+chunkBytes))
		}
	}
	return b.explain(err)
}

func (b *bodyReader) fillTo(upTo int64) error {
	err := b.chunks.fill(readerFunc(b.read), upTo)
	if b.ended = err == io.EOF; b.ended {
		return nil
	}
	return err
}

// find gets memory for another chunk.
func (b *bodyReader) find() error {
	if b.slacken(); b.mayGrow() {
		return nil
	}
	defer b.settle()
	if b.reserve() {
		return nil
	}
	defer b.exchange.hold()()
	return b.await(b.exchange.ctx)
}

// slacken gives back the part of the claim that the body will not use in the next four windows, at
// the rate of the last one. Otherwise a few slow bodies would keep all others waiting for minutes.
func (b *bodyReader) slacken() {
	if b.claim.held == 0 || time.Since(b.settled) < b.exchange.limits.window {
		return
	}
	b.budget.shrink(&b.claim, b.chunks.size+4*(b.chunks.size-b.had)+chunkBytes)
	b.settle()
}

// settle restarts the measurement of the body's rate.
func (b *bodyReader) settle() { b.settled, b.had = time.Now(), b.chunks.size }

// read counts the bytes that come from the connection.
func (b *bodyReader) read(p []byte) (int, error) {
	n, err := b.raw.Body.Read(p)
	b.exchange.wire.Add(int64(n))
	return n, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// drain reads a small remainder, so that the connection can be reused. HTTP/2 needs no drain to end
// a stream.
func (b *bodyReader) drain() {
	if b.raw.ProtoMajor != 1 || b.raw.ContentLength > drainBytes {
		return
	}
	b.exchange.drain()
	io.CopyN(io.Discard, b.raw.Body, drainBytes+1) // after an error the connection will not be reused
}

// explain names the cause of an error: an exceeded limit, or the connection's own error.
func (b *bodyReader) explain(err error) error {
	if err == nil {
		return nil
	}
	if ended := b.exchange.ended(); ended != nil {
		return ended
	}
	return asError(err, bodyCause(err), "read body")
}
