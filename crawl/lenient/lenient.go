// Package lenient reads HTTP/1 answers as browsers do and hands them on in a form that
// net/http reads.
//
// A [Reader] sits between a connection and its transport. An answer without a fault passes
// byte for byte. Any other head is rewritten by these rules:
//
//	status line    up to 4 bytes before it are skipped           as Chromium; RFC 9112, 2.2
//	               any version is 1.1 or 1.0; unknown ones: 1.0  as Chromium; RFC 9110, 2.5
//	               lower case; several blanks; no reason         as Chromium; RFC 9112, 4
//	               no status: 200                                as Chromium
//	               digits and reason together                    as Chromium
//	               "ICY" for "HTTP/1.0"                          SHOUTcast
//	line           ends at LF or CR                              as Chromium; RFC 9112, 2.2
//	               without a colon, or with a name that is no
//	               token: skipped                                as Chromium
//	               blanks between name and colon: skipped        RFC 9112, 5.1
//	               folded: joined by one blank                   RFC 9112, 5.2
//	               with control characters: skipped, but for
//	               Location, which net/http refuses              RFC 9110, 5.5
//	head           up to 256 KiB                                 as Chromium
//	Transfer-      of 1.1, with "chunked" anywhere: chunked      as Chromium; RFC 9112, 6.3
//	Encoding       of 1.0: ignored                               RFC 9112, 6.1
//	               any other: ignored                            as Chromium
//	Content-       equal values: one of them                     RFC 9110, 8.6
//	Length         different values, and not chunked: refused    as Chromium; RFC 9112, 6.3
//	               no number: ignored, the body ends with the
//	               connection                                    as Chromium
//	               with chunked: ignored                         RFC 9112, 6.3
//	chunks         LF alone, blanks behind the size, extensions  as Chromium; RFC 9112, 7.1.1
//	               no end behind the last chunk                  the body is whole
//	trailers       skipped                                       RFC 9112, 7.1.2
//
// Where the framing is in doubt, the connection serves no other request: the head gets
// "Connection: close". Bytes behind an answer, or that nobody asked for, are never taken for
// the next answer: the connection ends there. What these rules do not explain passes as it
// came, and the transport refuses it.
package lenient

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"sync/atomic"
)

const (
	// MaxHead bounds the heads of one answer, interim ones included, in bytes.
	MaxHead = 256 << 10

	maxChunkLine = 4 << 10 // more than that is no size
)

// A Reader reads the answers of one connection. Read belongs to one goroutine; Expect may be
// called from another.
type Reader struct {
	in       *bufio.Reader
	expected atomic.Pointer[expectation]
	answer   *expectation // that is being read
	state    state
	head     []byte // read so far
	heads    int    // bytes of the heads of this answer
	out      []byte // to be handed on before anything else
	left     int64  // bytes to be handed on as they come, before the state counts
	quiet    bool   // the connection ends with this answer
}

// An expectation is a request whose answer has not begun.
type expectation struct {
	method string
	first  func()
}

// A state is what the next byte belongs to.
type state uint8

const (
	atHead    state = iota // the head of an answer
	inHead                 // the same, begun
	raw                    // whatever it is, up to the end of the connection
	atChunk                // the size of a chunk
	chunkEnd               // the line end behind a chunk
	inTrailer              // what follows the last chunk
	done                   // nothing: the answer is whole
	closed                 // nothing: the connection is not read any more
)

// NewReader returns a reader of the answers that come from r.
func NewReader(r io.Reader) *Reader { return &Reader{in: bufio.NewReaderSize(r, maxChunkLine)} }

// Expect announces an answer to a request, before the request is sent. The reader calls first
// when its first byte is there.
func (r *Reader) Expect(method string, first func()) {
	r.expected.Store(&expectation{method, first})
}

// Read hands on what the transport is to read.
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

// step brings the reader to a state in which there is something to hand on, or hands it on.
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

// finish follows the last byte of an answer. What the connection has brought beyond it is
// the answer to nothing.
func (r *Reader) finish() {
	r.state = atHead
	if r.quiet || r.in.Buffered() > 0 {
		r.state = closed
	}
}

// begin waits for an answer. One that nobody asked for ends the connection.
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

// readHead reads a head that has not come at once, or has faults.
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

// passOn gives up reading: what comes is handed on as it is.
func (r *Reader) passOn() { r.out, r.state = r.head, raw }

// enter starts the body after a head of size bytes.
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

// readSize reads the size of a chunk, and hands it on without its extensions.
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

// endChunk reads the end of the line behind a chunk.
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

// readTrailer skips trailers. They may be cut off: the body is whole.
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
