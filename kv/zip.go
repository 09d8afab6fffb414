package kv

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// maxUnzipped is the most bytes that one compressed field may hold.
const maxUnzipped = 1 << 30

// A zipper compresses and decompresses fields. What it needs, some megabytes,
// it makes when it is first used.
type zipper struct {
	in  *zstd.Decoder
	out *zstd.Encoder
}

// pack writes a compressed field, which ends the value: its length and a zstd frame.
func (z *zipper) pack(w *writer, text []byte) (err error) {
	if len(text) > maxUnzipped {
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
		z.in, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(mostMakers), zstd.WithDecoderMaxMemory(maxUnzipped))
	}
	return err
}

// unpack reads what pack wrote, into the memory of dst.
func (z *zipper) unpack(r *reader, dst []byte) (text []byte, err error) {
	if err := z.open(); err != nil {
		return nil, err
	}
	n := r.narrow(maxUnzipped)
	if r.bad {
		return nil, errors.New("cannot be decoded")
	}
	text, err = z.in.DecodeAll(r.b, dst)
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
