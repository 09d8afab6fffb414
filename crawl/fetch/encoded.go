package fetch

import (
	"context"
	"errors"
	"io"
)

// largeBytes is the size up to which the text of a large body gets all its memory at once.
const largeBytes = 16 << 20

// usualRatio is how many times as large the text of a page is as it is compressed.
const usualRatio = 5

// ErrCrowded says that there is no memory for a large body just now.
var ErrCrowded = errors.New("no memory for a body")

// A body is what came off a connection, as the server encoded it.
type body struct {
	decoders *decoders
	url      string
	encoding []string // Content-Encoding
	plain    bool     // nothing is encoded
	limit    int64    // decoded bytes
	cut      bool     // it may end there
	chunks   chunks
	ended    bool // there is no more than the chunks
	budget   *Budget
	free     int64 // bytes of body for which nothing is claimed
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

// most is how many bytes may come off the connection.
func (b *body) most() int64 {
	if b.plain {
		return b.limit
	}
	return stageLimit(b.limit)
}

// head decodes the first bytes. More says that too little has come for that.
func (b *body) head() (head []byte, more bool, err error) {
	b.decoders.sniffing.Lock() // a decoder may take megabytes
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

// decode appends the decoded body to out, and a byte more if that is beyond its limit.
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

// release lets go of what came, and of the memory that was reserved.
func (b *body) release() {
	b.chunks.release()
	b.giveBack()
}

// A source reads a body from its first byte on.
type source struct {
	body *body
	at   int64
	dry  bool // what has not come yet was asked for
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

// Decode undoes the encodings of the body, which Body is from then on. It waits for
// nobody, so that few at a time may do it however many requests are open. Where
// buffer is large enough, Body lies in its memory. After [ErrCrowded] Reserve waits
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

// Reserve waits for memory for the body, which is there as soon as other bodies have
// been released. Whoever decodes must not be kept from it meanwhile.
func (r *Response) Reserve(ctx context.Context) error { return r.came.await(ctx) }

// Release says that the body is used no longer. Every response is released once.
func (r *Response) Release() {
	if r.came != nil {
		r.came.release()
		r.came = nil
	}
}
