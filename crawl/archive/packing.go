package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// A packing is how the records of a file are compressed.
type packing uint8

const (
	plain packing = iota
	gzipped
	zstandard
)

// begin returns the bytes with which a member begins.
func (p packing) begin() []byte {
	return [...][]byte{[]byte("\n" + magic), {0x1f, 0x8b, 8}, {0x28, 0xb5, 0x2f, 0xfd}}[p]
}

// packingOf detects the packing of a file.
func packingOf(file io.ReaderAt) (packing, error) {
	head := make([]byte, len(magic))
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	switch head = head[:n]; {
	case string(head) == magic || n == 0:
		return plain, nil
	case bytes.HasPrefix(head, gzipped.begin()):
		return gzipped, nil
	case bytes.HasPrefix(head, zstandard.begin()), isSkippable(head):
		return zstandard, nil
	}
	return 0, fmt.Errorf("%w: the file begins with % x, and is no WARC file", ErrRecord, head)
}

// A member is what is decompressed at one time: a gzip member, a Zstandard frame, or, without compression, the rest of
// the file.
type member struct {
	raw   *bufio.Reader // of the file
	count counter       // the bytes that raw has taken
	begun int64         // offset at which raw began
	gzip  *gzip.Reader
	zstd  *frames
	end   int64 // zstandard: the offset behind the frame
	probe *bufio.Reader
}

// at returns the offset in the file up to which raw was read.
func (m *member) at() int64 { return m.begun + m.count.n - int64(m.raw.Buffered()) }

// rewind makes raw begin at an offset, unless it is there.
func (m *member) rewind(file io.ReaderAt, size, offset int64) {
	if m.count.r != nil && m.at() == offset {
		return
	}
	m.begun, m.count = offset, counter{r: io.NewSectionReader(file, offset, size-offset)}
	m.raw.Reset(&m.count)
}

// openMember begins to read at place. Members without content are passed over.
func (r *Reader) openMember() error {
	for {
		if r.place.Offset >= r.size {
			return io.EOF
		}
		if err := r.unpack(); err != nil {
			return err
		}
		_, err := r.in.Peek(1)
		if err == nil {
			r.open = true
			return nil
		}
		if err != io.EOF {
			return fmt.Errorf("%w: %w", ErrRecord, err)
		}
		r.nextMember()
	}
}

// unpack makes in read the member at place.
func (r *Reader) unpack() (err error) {
	m := &r.member
	switch r.pack {
	case plain:
		m.rewind(r.file, r.size, r.place.Offset)
		r.in = m.raw
		return nil
	case gzipped:
		m.rewind(r.file, r.size, r.place.Offset)
		if m.gzip == nil {
			m.gzip = new(gzip.Reader)
		}
		if err = m.gzip.Reset(m.raw); err == nil {
			m.gzip.Multistream(false)
			r.unpacked.Reset(m.gzip)
		}
	case zstandard:
		var frame io.Reader
		if frame, r.place.Offset, m.end, err = m.zstd.next(r.file, r.place.Offset, r.size); err == nil {
			r.unpacked.Reset(frame)
		}
	}
	r.in = r.unpacked
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return err
}

// nextMember moves place behind the member that was read.
func (r *Reader) nextMember() {
	r.open = false
	switch r.pack {
	case plain:
		r.place = Place{Offset: r.size}
	case gzipped:
		r.place = Place{Offset: r.member.at()}
	case zstandard:
		r.place = Place{Offset: r.member.end}
	}
}

const (
	findBytes  = 1 << 20
	maxGuesses = 1 << 16 // apparent members that are none, before the rest of a file is given up
	mostWasted = 4       // bytes read again because of damage, per byte of the file, before its rest is given up
)

// errGivenUp reports a file in which too much looks like a record.
var errGivenUp = errors.New("the rest of the file is passed over: too much in it looks like a record and is none")

// find returns the first offset from one on at which a record begins; size: there is none.
func (r *Reader) find(from int64) (int64, error) {
	sign := r.pack.begin()
	if r.pack == plain {
		from-- // the line end before it
	}
	buf := make([]byte, findBytes)
	for from < r.size {
		n, err := r.file.ReadAt(buf[:min(findBytes, r.size-from)], from)
		if err != nil && err != io.EOF {
			return 0, err
		}
		for at := 0; ; at++ {
			i := bytes.Index(buf[at:n], sign)
			if i < 0 {
				break
			}
			at += i
			if r.pack == plain {
				return from + int64(at) + 1, nil
			}
			if r.beginsRecord(from + int64(at)) {
				return from + int64(at), nil
			}
			if r.guesses++; r.guesses > maxGuesses {
				r.report(errGivenUp)
				return r.size, nil
			}
		}
		if n < len(sign) {
			break
		}
		from += int64(n - len(sign) + 1)
	}
	return r.size, nil
}

// beginsRecord reports whether a member at an offset begins with a record.
func (r *Reader) beginsRecord(offset int64) bool {
	begin := make([]byte, len(magic))
	switch r.pack {
	case gzipped:
		r.member.probe.Reset(io.NewSectionReader(r.file, offset, min(r.size-offset, 4<<10)))
		if err := r.member.gzip.Reset(r.member.probe); err != nil {
			return false
		}
		r.member.count.r = nil // gzip has left raw
		_, err := io.ReadFull(r.member.gzip, begin)
		return err == nil && string(begin) == magic
	default:
		frame, at, _, err := r.member.zstd.next(r.file, offset, r.size)
		if err != nil || at != offset {
			return false
		}
		_, err = io.ReadFull(frame, begin)
		return err == nil && string(begin) == magic
	}
}
