package kv

import (
	"errors"
	"fmt"
	"slices"
	"sync"

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

// What compresses, and what decompresses, some megabytes that are made when they are first used,
// are those of all stores of the process, of which there may be hundreds.
var (
	compressor = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(partSize))
	})
	decompressor = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	})
)

// zip writes a compressed field of at most so many bytes, which ends the value: its length
// and a zstd frame.
func zip(w *writer, text []byte, most int) error {
	if len(text) > most {
		return fmt.Errorf("%w: %d bytes in one value", ErrFull, len(text))
	}
	z, err := compressor()
	if err != nil {
		return err
	}
	w.number(len(text))
	w.b = z.EncodeAll(text, w.b)
	return nil
}

// unpacked returns how many bytes the field holds that unzip reads next.
func (r *reader) unpacked() uint64 {
	head := reader{b: r.b}
	return head.uint()
}

// unzip reads what zip wrote, into the memory of dst, which grows by no more than the field
// may hold.
func unzip(r *reader, dst []byte, most int) (text []byte, err error) {
	z, err := decompressor()
	if err != nil {
		return nil, err
	}
	n := r.narrow(uint64(most))
	if r.bad {
		return nil, errors.New("cannot be decoded, or holds more than it may")
	}
	text, err = z.DecodeAll(r.b, slices.Grow(dst[:0], int(n)+unzipSpare))
	if err != nil {
		return nil, fmt.Errorf("cannot be decompressed: %w", err)
	}
	if uint64(len(text)) != n {
		return nil, errors.New("decompressed to another length")
	}
	r.b = nil
	return text, nil
}
