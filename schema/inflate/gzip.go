package inflate

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// Errors of gzip members.
var (
	ErrHeader   = errors.New("no gzip header")
	ErrChecksum = errors.New("the checksum of the gzip member is wrong")
)

// A Gzip decompresses gzip members, and verifies the checksums of what they hold, not those of their headers. The zero
// value is ready for [Gzip.Reset]. It belongs to one goroutine.
type Gzip struct {
	All bool // read all members, as one; otherwise one

	deflate Reader
	in      *bufio.Reader
	sum     uint32
	size    uint32
	err     error
}

// Reset reads the header of the member that in is at. If in is at its end, the error is [io.EOF].
func (z *Gzip) Reset(in *bufio.Reader) error {
	z.in, z.sum, z.size = in, 0, 0
	z.deflate.Reset(in)
	z.err = SkipHeader(in)
	return z.err
}

// The flags of a header (RFC 1952 section 2.3.1).
const (
	hasSum = 1 << (iota + 1)
	hasExtra
	hasName
	hasComment
)

// SkipHeader skips the header of a gzip member. It fails with [ErrHeader], [io.ErrUnexpectedEOF] or, if in is at its
// end, [io.EOF].
func SkipHeader(in *bufio.Reader) error {
	head, err := in.Peek(10)
	switch {
	case len(head) == 0:
		return err
	case !bytes.HasPrefix([]byte{0x1f, 0x8b, 8}, head[:min(len(head), 3)]):
		return ErrHeader
	case err != nil:
		return cutShort(err)
	}
	flags, rest := head[3], 10
	if flags&hasExtra != 0 {
		if head, err = in.Peek(12); err != nil {
			return cutShort(err)
		}
		rest += 2 + int(binary.LittleEndian.Uint16(head[10:]))
	}
	_, err = in.Discard(rest)
	for _, text := range []byte{hasName, hasComment} {
		for end := flags&text == 0; !end && err == nil; {
			var c byte
			c, err = in.ReadByte()
			end = c == 0
		}
	}
	if flags&hasSum != 0 && err == nil {
		_, err = in.Discard(2)
	}
	return cutShort(err)
}

// Read returns [io.EOF] behind the last member, once its checksum is verified.
func (z *Gzip) Read(p []byte) (n int, err error) {
	for n == 0 && z.err == nil && len(p) > 0 {
		n, z.err = z.deflate.Read(p)
		z.sum = crc32.Update(z.sum, crc32.IEEETable, p[:n])
		z.size += uint32(n)
		if z.err == io.EOF {
			z.err = z.trailer()
		}
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, z.err
}

// trailer verifies the end of a member. It returns nil if another one has begun.
func (z *Gzip) trailer() error {
	var end [8]byte
	if _, err := io.ReadFull(z.in, end[:]); err != nil {
		return cutShort(err)
	}
	if binary.LittleEndian.Uint32(end[:]) != z.sum || binary.LittleEndian.Uint32(end[4:]) != z.size {
		return ErrChecksum
	}
	if z.All {
		return z.Reset(z.in)
	}
	return io.EOF
}

func cutShort(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
