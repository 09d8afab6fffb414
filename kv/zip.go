package kv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Limits on the content of compressed fields in bytes. No release writes more, and a few bytes of the file
// could otherwise fill the memory.
const (
	maxUnzipped = 1 << 30 // a configuration with its lists
	maxRobots   = 1 << 20 // a robots.txt, of which 512,000 bytes are read
)

// unzipSpare is spare room after the output, without which decompression is slower.
const unzipSpare = 16

// usualRatio is a compression ratio that few texts exceed.
const usualRatio = 64

// All stores of the process, possibly hundreds, share one compressor and one decompressor, of some megabytes
// once used. They are created with the process, because their channels must not belong to a single test
// (package testing/synctest).
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
	z.EncodeAll(nil, nil) // creates the channel
	return z
}

func newDecompressor() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // an option is wrong
	}
	return z
}

// zip writes a compressed field of at most most bytes, which ends the value: its length and a zstd frame.
func zip(w *writer, text []byte, most int) error {
	if len(text) > most {
		return fmt.Errorf("%w: %d bytes in one value", ErrFull, len(text))
	}
	w.number(len(text))
	w.b = compressor.EncodeAll(text, w.b)
	return nil
}

// unpacked returns the decompressed size of the field that unzip reads next.
func (r *reader) unpacked() uint64 {
	head := reader{b: r.b}
	return head.uint()
}

// unzip reads a field written by zip into the memory of dst. This grows by no more than the size of the
// field, and by little if a short field only claims to be large.
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
