package kv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// The most bytes that a compressed field may hold. What has more was written by nobody, and
// could fill the memory from a few bytes of the file.
const (
	maxUnzipped = 1 << 30 // a configuration with its lists
	maxRobots   = 1 << 20 // a robots.txt, of which 512,000 bytes are read
)

// unzipSpare is the room behind what is decompressed without which that takes longer.
const unzipSpare = 16

// A zipper compresses and decompresses fields. What it needs, some megabytes,
// it makes when it is first used.
type zipper struct {
	in  *zstd.Decoder
	out *zstd.Encoder
}

// pack writes a compressed field of at most so many bytes, which ends the value: its length
// and a zstd frame.
func (z *zipper) pack(w *writer, text []byte, most int) (err error) {
	if len(text) > most {
		return fmt.Errorf("%w: %d bytes in one value", ErrFull, len(text))
	}
	if z.out == nil {
		z.out, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(partSize))
		if err != nil {
			return err
		}
	}
	w.number(len(text))
	w.b = z.out.EncodeAll(text, w.b)
	return nil
}

// open makes what unpack needs, which several goroutines may call from then on.
func (z *zipper) open() (err error) {
	if z.in == nil {
		z.in, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(mostMakers), zstd.WithDecodeAllCapLimit(true))
	}
	return err
}

// unpacked returns how many bytes the field holds that unpack reads next.
func (r *reader) unpacked() uint64 {
	head := reader{b: r.b}
	return head.uint()
}

// unpack reads what pack wrote, into the memory of dst, which grows by no more than the field
// may hold.
func (z *zipper) unpack(r *reader, dst []byte, most int) (text []byte, err error) {
	if err := z.open(); err != nil {
		return nil, err
	}
	n := r.narrow(uint64(most))
	if r.bad {
		return nil, errors.New("cannot be decoded, or holds more than it may")
	}
	text, err = z.in.DecodeAll(r.b, slices.Grow(dst[:0], int(n)+unzipSpare))
	if err != nil {
		return nil, fmt.Errorf("cannot be decompressed: %w", err)
	}
	if uint64(len(text)) != n {
		return nil, errors.New("decompressed to another length")
	}
	r.b = nil
	return text, nil
}

func (z *zipper) close() {
	if z.out != nil {
		_ = z.out.Close()
	}
	if z.in != nil {
		z.in.Close()
	}
}
