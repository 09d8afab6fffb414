// Package lenient reads HTTP/1 answers as browsers do, and passes them on in a form that net/http accepts.
//
// A [Reader] sits between a connection and its transport. A valid answer passes byte for byte. Any other head
// is rewritten by these rules:
//
//	status line    up to 4 bytes before it are skipped           as Chromium; RFC 9112, 2.2
//	               any version is 1.1 or 1.0; unknown ones: 1.0  as Chromium; RFC 9110, 2.5
//	               lower case; several blanks; no reason         as Chromium; RFC 9112, 4
//	               no status: 200                                as Chromium
//	               digits and reason together                    as Chromium
//	               "ICY" for "HTTP/1.0"                          SHOUTcast
//	line           ends at LF or CR                              as Chromium; RFC 9112, 2.2
//	               without a colon, or with a name that is not
//	               a token: skipped                              as Chromium
//	               blanks between name and colon: skipped        RFC 9112, 5.1
//	               folded: joined by one blank                   RFC 9112, 5.2
//	               with control characters: skipped, except
//	               Location, which net/http refuses              RFC 9110, 5.5
//	head           up to 256 KiB                                 as Chromium
//	Transfer-      in 1.1, with "chunked" anywhere: chunked      as Chromium; RFC 9112, 6.3
//	Encoding       in 1.0: ignored                               RFC 9112, 6.1
//	               any other: ignored                            as Chromium
//	Content-       equal values: one of them                     RFC 9110, 8.6
//	Length         different values, and not chunked: refused    as Chromium; RFC 9112, 6.3
//	               not a number: ignored, the body ends with
//	               the connection                                as Chromium
//	               with chunked: ignored                         RFC 9112, 6.3
//	chunks         LF alone, blanks after the size, extensions   as Chromium; RFC 9112, 7.1.1
//	               no end after the last chunk                   the body is complete
//	trailers       skipped                                       RFC 9112, 7.1.2
//
// If the framing is in doubt, the connection serves no further request: the head gets "Connection: close".
// Bytes after an answer, or without a request, are never taken for the next answer: the connection ends
// there. Anything these rules do not cover passes unchanged, and the transport refuses it.
package lenient

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"sync/atomic"
)

const (
	// MaxHead limits the heads of one answer, including interim ones, in bytes.
	MaxHead = 256 << 10

	maxChunkLine = 4 << 10 // anything longer is not a chunk size
)

// A Reader reads the answers of one connection. Read belongs to one goroutine; Expect may be called from
// another.
type Reader struct {
	in       *bufio.Reader
	expected atomic.Pointer[expectation]
	answer   *expectation // being read
	state    state
	head     []byte // read so far
	heads    int    // bytes of the heads of this answer
	out      []byte // to be passed on first
	left     int64  // bytes to be passed on unchanged before the state applies
	quiet    bool   // the connection ends with this answer
}

// An expectation is a request whose answer has not begun.
type expectation struct {
	method string
	first  func()
}

// A state says what the next byte belongs to.
type state uint8

const (
	atHead    state = iota // the head of an answer
	inHead                 // the same, after its first byte
	raw                    // anything, until the end of the connection
	atChunk                // the size of a chunk
	chunkEnd               // the line end after a chunk
	inTrailer              // what follows the last chunk
	done                   // nothing: the answer is complete
	closed                 // nothing: the connection is no longer read
)

// NewReader returns a reader of the answers that come from r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, maxChunkLine)} }

// Expect announces a request, before it is sent. The reader calls first when the first byte of its answer
// arrives.
func (r *Reader) Expect(method string, first func()) {
	r.expected.Store(&expectation{method, first})
}

// Read returns the bytes for the transport.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		switch {
		case len(r.out) > 0:
			n := copy(p, r.out)
			if r.out = r.out[n:]; len(r.out) == 0 {
				r.out, r.head = nil, nil
			}
			return n, nil
		case r.left > 0:
			n, err := r.in.Read(p[:min(int64(len(p)), r.left)])
			r.left -= int64(n)
			return n, err
		}
		if n, err, handed := r.step(p); handed {
			return n, err
		}
	}
}

// step advances the state until there is something to pass on, or passes it on.
func (r *Reader) step(p []byte) (n int, err error, handed bool) {
	switch r.state {
	case raw:
		n, err = r.in.Read(p)
		return n, err, true
	case closed:
		return 0, io.EOF, true
	case done:
		r.finish()
	case atHead:
		err = r.begin()
	case inHead:
		err = r.readHead()
	case atChunk:
		err = r.readSize()
	case chunkEnd:
		err = r.endChunk()
	case inTrailer:
		r.readTrailer()
	}
	return 0, err, err != nil
}

// finish handles the end of an answer. If the connection has already delivered more, that is not the answer
// to a request.
func (r *Reader) finish() {
	r.state = atHead
	if r.quiet || r.in.Buffered() > 0 {
		r.state = closed
	}
}

// begin waits for an answer. An unexpected one ends the connection.
func (r *Reader) begin() error {
	if _, err := r.in.Peek(1); err != nil {
		return err
	}
	if r.answer = r.expected.Swap(nil); r.answer == nil {
		r.state = closed
		return nil
	}
	if r.answer.first != nil {
		r.answer.first()
	}
	r.heads, r.state = 0, inHead
	whole, _ := r.in.Peek(r.in.Buffered())
	if end := headEnd(whole); end > 0 {
		if f, ok := plainHead(whole[:end]); ok {
			r.left = int64(end)
			r.enter(f, end)
		}
	}
	return nil
}

// readHead reads a head that did not arrive at once, or that is invalid.
func (r *Reader) readHead() error {
	line, err := r.in.ReadSlice('\n')
	r.head = append(r.head, line...)
	switch {
	case err == bufio.ErrBufferFull && r.heads+len(r.head) <= MaxHead:
		return nil
	case err != nil || r.heads+len(r.head) > MaxHead:
		r.passOn()
		return nil
	case len(bytes.TrimLeft(r.head, "\r\n")) == 0 && len(r.head) <= maxSlop:
		return nil // blank lines before the status line
	case !endsHead(r.head):
		return nil
	}
	f, ok := plainHead(r.head)
	if ok {
		r.out = r.head
	} else if r.out, f, ok = mended(r.head); !ok {
		r.passOn()
		return nil
	}
	r.enter(f, len(r.head))
	return nil
}

// passOn stops parsing: all further bytes pass unchanged.
func (r *Reader) passOn() { r.out, r.state = r.head, raw }

// enter starts the body after a head of the given size in bytes.
func (r *Reader) enter(f framing, size int) {
	r.heads += size
	r.quiet = f.close
	switch {
	case f.status == 101:
		r.state = raw
	case f.status/100 == 1:
		r.state = inHead
	case r.answer.method == "HEAD" || f.status == 204 || f.status == 304:
		r.state = done
	case f.chunked:
		r.state = atChunk
	case f.length >= 0:
		r.left += f.length
		r.state = done
	default:
		r.state = raw
	}
}

// readSize reads the size of a chunk, and passes it on without extensions.
func (r *Reader) readSize() error {
	line, err := r.in.ReadSlice('\n')
	size, _, _ := bytes.Cut(line, []byte(";"))
	n, bad := strconv.ParseUint(string(bytes.TrimRight(size, " \t\r\n")), 16, 62)
	if err != nil || bad != nil {
		r.head = bytes.Clone(line)
		r.passOn()
		return nil
	}
	r.out = append(strconv.AppendUint(nil, n, 16), "\r\n"...)
	r.left, r.state = int64(n), chunkEnd
	if n == 0 {
		r.state = inTrailer
	}
	return nil
}

// endChunk reads the line end after a chunk.
func (r *Reader) endChunk() error {
	line, err := r.in.ReadSlice('\n')
	if err != nil || len(bytes.TrimRight(line, "\r\n")) > 0 {
		r.head = bytes.Clone(line)
		r.passOn()
		return nil
	}
	r.out, r.state = []byte("\r\n"), atChunk
	return nil
}

// readTrailer skips trailers. They may be truncated: the body is complete.
func (r *Reader) readTrailer() {
	line, err := r.in.ReadSlice('\n')
	r.heads += len(line)
	long := err == bufio.ErrBufferFull
	switch {
	case err != nil && !long, r.heads > MaxHead:
		r.quiet = true
	case long || len(bytes.TrimRight(line, "\r\n")) > 0:
		return
	}
	r.out, r.state = []byte("\r\n"), done
}
