package snapshot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/sumi-ripple/ripple/crawl/cluster/strictjson"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	again   = 200 * time.Millisecond // between two questions for the state of a copy
	patient = 2 * time.Minute        // for the readers of an earlier copy
	tries   = 3                      // of a question to a machine that has answered before
	rest    = time.Second            // between them
)

// A Fetcher reads copies.
type Fetcher struct {
	// Ask sends a question to the machine of the shard, and returns its answer.
	Ask func(ctx context.Context, question []byte) ([]byte, error)
	// Fits returns an error if there is no room for a file of this size.
	Fits func(size int64) error
	// See is called with the progress in bytes; it may be nil.
	See func(done, total int64)
}

// Fetch writes a copy of a shard's file, and reports whether the shard was being crawled. The error of the last
// question is returned if the machine does not answer.
func (f *Fetcher) Fetch(ctx context.Context, to *os.File) (live bool, err error) {
	p := &parcel{Fetcher: f, ctx: ctx, reader: rand.Text()}
	s, err := p.ready()
	if err != nil {
		return false, err
	}
	if err := f.Fits(s.Size); err != nil {
		return false, err
	}
	p.size = s.Packed
	z, err := zstd.NewReader(p, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return false, err
	}
	defer z.Close()
	n, err := io.Copy(to, io.LimitReader(z, s.Size+1))
	switch {
	case p.err != nil:
		return false, p.err
	case err != nil:
		return false, fmt.Errorf("%w: %w", errAnswer, err)
	case n != s.Size:
		return false, fmt.Errorf("%w: it has another size than was stated", errAnswer)
	}
	_, _ = p.ask(question{p.reader, p.size}) // otherwise the copy is removed half a minute later
	return s.Live, nil
}

// A parcel is a copy that is being read. It is the reader of its compressed bytes.
type parcel struct {
	*Fetcher
	ctx    context.Context
	reader string // its name
	size   int64  // compressed
	offset int64  // of the next chunk
	chunk  []byte // what is left of the last one
	err    error  // of a question
	heard  bool   // the machine has answered
}

// ready waits until the copy was made.
func (p *parcel) ready() (s state, err error) {
	for begun := time.Now(); ; {
		text, err := p.ask(question{p.reader, -1})
		if err != nil {
			return s, err
		}
		if s = (state{}); len(text) > maxState || strictjson.Decode(text, &s) != nil || s.Size < 0 {
			return s, errAnswer
		}
		switch {
		case s.Failed != "":
			return s, fmt.Errorf("%w: %s", ErrFailed, schema.Clean(s.Failed, maxFailure))
		case s.Packed >= 0:
			return s, nil
		case s.Busy && time.Since(begun) > patient:
			return s, ErrBusy
		}
		if err := sleep(p.ctx, again); err != nil {
			return s, err
		}
	}
}

// Read implements [io.Reader].
func (p *parcel) Read(b []byte) (int, error) {
	if len(p.chunk) == 0 {
		if p.offset == p.size {
			return 0, io.EOF
		}
		if p.chunk, p.err = p.ask(question{p.reader, p.offset}); p.err != nil {
			return 0, p.err
		}
		if int64(len(p.chunk)) != min(MaxChunk, p.size-p.offset) {
			return 0, errors.New("a part of it is missing")
		}
		p.offset += int64(len(p.chunk))
		if p.See != nil {
			p.See(p.offset, p.size)
		}
	}
	n := copy(b, p.chunk)
	p.chunk = p.chunk[n:]
	return n, nil
}

// ask asks a question, and repeats it a few times if the machine has answered before.
func (p *parcel) ask(q question) (answer []byte, err error) {
	for try := 1; ; try++ {
		answer, err = p.Ask(p.ctx, strictjson.Encode(q))
		if p.heard = p.heard || err == nil; err == nil || !p.heard || try == tries {
			return answer, err
		}
		if err := sleep(p.ctx, rest); err != nil {
			return nil, err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
