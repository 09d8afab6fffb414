package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	maxWindow     = 32 << 20
	maxDictionary = 16 << 20

	dictionaryFrame = 0x184D2A5D // a skippable frame with a dictionary for all frames behind it
	maxBlockBytes   = 128 << 10  // RFC 8878 section 3.1.1.2
)

// isSkippable reports whether a Zstandard frame holds no data (RFC 8878 section 3.1.2).
func isSkippable(head []byte) bool {
	return len(head) >= 4 && binary.LittleEndian.Uint32(head)&^0xf == 0x184D2A50
}

// frames decompress the Zstandard frames of one file.
type frames struct {
	decoder *zstd.Decoder
	failed  error // why there is none
}

// next returns the first frame with data from an offset on, where it begins and where it ends. At the end of the file,
// the error is [io.EOF].
func (f *frames) next(file io.ReaderAt, offset, size int64) (frame io.Reader, begin, end int64, err error) {
	if err := f.init(file, size); err != nil {
		return nil, offset, 0, err
	}
	for offset < size {
		var head [zstd.HeaderMaxSize]byte
		n, err := file.ReadAt(head[:min(int64(len(head)), size-offset)], offset)
		if err != nil && err != io.EOF {
			return nil, offset, 0, err
		}
		if isSkippable(head[:n]) && n >= 8 {
			offset += 8 + int64(binary.LittleEndian.Uint32(head[4:]))
			continue
		}
		var h zstd.Header
		if err := h.Decode(head[:n]); err != nil {
			return nil, offset, 0, err
		}
		end, err = frameEnd(file, offset+int64(h.HeaderSize), size, h.HasCheckSum)
		if err == nil {
			err = f.decoder.Reset(io.NewSectionReader(file, offset, end-offset))
		}
		return f.decoder, offset, end, err
	}
	return nil, size, size, io.EOF
}

// init makes the decoder, with the dictionary that the file begins with if there is one.
func (f *frames) init(file io.ReaderAt, size int64) error {
	if f.decoder != nil || f.failed != nil {
		return f.failed
	}
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow)}
	text, err := dictionaryOf(file, size)
	if err == nil && text != nil {
		options = append(options, zstd.WithDecoderDicts(text))
	}
	if err == nil {
		f.decoder, err = zstd.NewReader(nil, options...)
	}
	f.failed = err
	return err
}

// dictionaryOf returns the dictionary that a file begins with; nil: there is none. It may be compressed itself.
func dictionaryOf(file io.ReaderAt, size int64) ([]byte, error) {
	var head [8]byte
	if size < 8 {
		return nil, nil
	}
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[4:]))
	switch {
	case binary.LittleEndian.Uint32(head[:]) != dictionaryFrame:
		return nil, nil
	case n > maxDictionary || n > size-8:
		return nil, errors.New("its dictionary is too long")
	}
	text := make([]byte, n)
	if _, err := file.ReadAt(text, 8); err != nil {
		return nil, err
	}
	if packing, _ := packingOf(io.NewSectionReader(file, 8, n)); packing != zstandard {
		return text, nil
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	if text, err = decoder.DecodeAll(text, nil); err != nil {
		return nil, fmt.Errorf("its dictionary: %w", err)
	}
	return text, nil
}

// frameEnd returns the offset behind a frame whose first block is at an offset (RFC 8878 section 3.1.1). It
// decompresses nothing.
func frameEnd(file io.ReaderAt, at, size int64, checksum bool) (int64, error) {
	for last := false; !last; {
		var head [3]byte
		if at > size-3 {
			return 0, io.ErrUnexpectedEOF
		}
		if _, err := file.ReadAt(head[:], at); err != nil {
			return 0, err
		}
		block := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
		last = block&1 != 0
		n := int64(block >> 3)
		switch kind := block >> 1 & 3; {
		case kind == 3 || n > maxBlockBytes:
			return 0, errors.New("an invalid block")
		case kind == 1: // one byte, repeated
			n = 1
		}
		at += 3 + n
	}
	if checksum {
		at += 4
	}
	if at > size {
		return 0, io.ErrUnexpectedEOF
	}
	return at, nil
}
