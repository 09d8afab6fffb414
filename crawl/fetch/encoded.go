package fetch

import (
	"context"
	"errors"
	"io"
)

// largeBytes is the largest decoded size for which a large body gets all its memory at once.
const largeBytes = 16 << 20

// usualRatio is the typical compression ratio of a page.
const usualRatio = 5

// ErrCrowded reports that there is currently no memory for a large body.
var ErrCrowded = errors.New("no memory for a body")

// A body is the body as the server encoded it.
type body struct {
	decoders *decoders
	url      string
	encoding []string // Content-Encoding
	plain    bool     // it is not encoded
	limit    int64    // decoded bytes
	cut      bool     // it is cut at the limit instead of being an error
	chunks   chunks
	ended    bool // all of it is in chunks
	budget   *Budget
	free     int64 // bytes that need no claim
	claim    claim
}

func newBody(c *Client, encoding []string, req *Request) *body {
	names, err := encodingNames(encoding)
	return &body{
		decoders: c.decoders, url: req.URL, encoding: encoding, plain: err == nil && len(names) == 0, limit: c.maxBytes,
		cut: req.Cut, chunks: chunks{pool: &c.decoders.chunks}, budget: c.budget,
		free: c.free,
	}
}

// most returns how many bytes may be read from the connection.
func (b *body) most() int64 {
	if b.plain {
		return b.limit
	}
	return stageLimit(b.limit)
}

// head decodes the first bytes. more reports that too little has arrived for that.
func (b *body) head() (head []byte, more bool, err error) {
	b.decoders.sniffing.Lock() // because a decoder may take megabytes
	defer b.decoders.sniffing.Unlock()
	from := source{body: b}
	c, err := b.decoders.open(b.encoding, &from, b.limit)
	defer c.close()
	if err == nil {
		head, err = appendFrom(nil, c, sniffBytes)
	}
	if err == nil || err == io.EOF {
		return head, false, nil
	}
	return nil, from.dry, asError(err, bodyCause(err), "read body")
}

// decode appends the decoded body to out, plus one byte if the body exceeds its limit.
func (b *body) decode(out []byte) ([]byte, error) {
	switch {
	case b.plain && b.chunks.size > b.limit && !b.cut:
		return out, tooLarge(b.limit)
	case b.plain:
		return b.chunks.moveTo(out), nil
	}
	out = grow(out, min(usualRatio*b.chunks.size, b.limit+1, freeBytes))
	c, err := b.decoders.open(b.encoding, &source{body: b}, b.limit)
	defer c.close()
	if err != nil {
		return out, err
	}
	out, err = appendFrom(out, c, min(b.limit+1, freeBytes))
	if err == nil && b.limit >= freeBytes {
		if !b.reserve() {
			return nil, ErrCrowded
		}
		out, err = appendFrom(grow(out, min(b.limit+1, largeBytes)), c, b.limit+1)
	}
	switch {
	case err == io.EOF:
		return out, nil
	case err == nil && int64(len(out)) > b.limit && !b.cut:
		err = tooLarge(b.limit)
	}
	return out, err
}

// release releases the chunks, and the memory that was reserved.
func (b *body) release() {
	b.chunks.release()
	b.giveBack()
}

// A source reads a body from its first byte.
type source struct {
	body *body
	at   int64
	dry  bool // a read went beyond the data that has arrived
}

func (s *source) Read(p []byte) (int, error) {
	piece := s.body.chunks.from(s.at)
	switch {
	case len(piece) > 0:
		n := copy(p, piece)
		s.at += int64(n)
		return n, nil
	case s.body.ended:
		return 0, io.EOF
	}
	s.dry = true
	return 0, io.ErrUnexpectedEOF
}

// Decode decodes the body into Body. It does not wait, so that a few goroutines can decode for any number of
// open requests. Body uses the memory of buffer if that is large enough. After [ErrCrowded], Reserve waits
// until it is worth trying again; any other error is an [*Error].
func (r *Response) Decode(buffer []byte) error {
	b := r.came
	if b == nil || r.Body != nil {
		return nil
	}
	out, err := b.decode(buffer[:0])
	if err == ErrCrowded {
		return err
	}
	b.chunks.release()
	r.Body = out[:min(int64(len(out)), b.limit)]
	r.Size = int64(len(r.Body))
	if err == nil {
		return nil
	}
	e := *asError(err, bodyCause(err), "read body")
	e.URL = b.url
	return &e
}

// Reserve waits for memory for the body, which becomes available when other bodies are released. Decoding
// must not be blocked meanwhile.
func (r *Response) Reserve(ctx context.Context) error { return r.came.await(ctx) }

// Release releases the body. It must be called once for every response.
func (r *Response) Release() {
	if r.came != nil {
		r.came.release()
		r.came = nil
	}
}
