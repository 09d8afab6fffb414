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

// usualRatio is how many times as long as its frame a text is at most, unless it is of a rare kind.
const usualRatio = 64

// What compresses, and what decompresses, serves all stores of the process, of which there may be
// hundreds: some megabytes once they are used. It is made with the process, as its channels must
// belong to nobody's test alone (package testing/synctest).
var (
	compressor   = newCompressor()
	decompressor = newDecompressor()
)

func newCompressor() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(partSize))
	if err != nil {
		panic(err) // an option is wrong
	}
	z.EncodeAll(nil, nil) // which makes the channel
	return z
}

func newDecompressor() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // an option is wrong
	}
	return z
}

// zip writes a compressed field of at most so many bytes, which ends the value: its length
// and a zstd frame.
func zip(w *writer, text []byte, most int) error {
	if len(text) > most {
		return fmt.Errorf("%w: %d bytes in one value", ErrFull, len(text))
	}
	w.number(len(text))
	w.b = compressor.EncodeAll(text, w.b)
	return nil
}

// unpacked returns how many bytes the field holds that unzip reads next.
func (r *reader) unpacked() uint64 {
	head := reader{b: r.b}
	return head.uint()
}

// unzip reads what zip wrote, into the memory of dst, which grows by no more than the field
// may hold, and by little where a short field only says that it holds much.
func unzip(r *reader, dst []byte, most int) (text []byte, err error) {
	n := int(r.narrow(uint64(most)))
	if r.bad {
		return nil, errors.New("cannot be decoded, or holds more than it may")
	}
	for room := min(n, usualRatio*len(r.b)); ; room = min(n, 8*room) {
		text, err = decompressor.DecodeAll(r.b, slices.Grow(dst[:0], room+unzipSpare))
		if room == n || !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot be decompressed: %w", err)
	}
	if len(text) != n {
		return nil, errors.New("decompressed to another length")
	}
	r.b = nil
	return text, nil
}
