package inflate

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// ErrCorrupt reports data that is no DEFLATE stream.
var ErrCorrupt = errors.New("corrupt DEFLATE stream")

const (
	window       = 32 << 10 // bytes behind the end of the output that a match may refer to
	longestMatch = 258
	slack        = longestMatch + 8 // bytes that must be free for a symbol: a copy may write 7 bytes too many
)

// A Reader decompresses one stream at a time. The zero value is ready for [Reader.Reset]. It belongs to one goroutine.
type Reader struct {
	in     *bufio.Reader
	ahead  []byte // what in has buffered, and
	pos    int    // how much of it was taken
	bits   uint64 // taken, but not decoded; those above n are bits of ahead[pos:], or zero
	n      uint
	out    [3*window + slack]byte
	r, w   int   // what is decoded, but not read
	err    error // behind that
	state  blockState
	last   bool // the block is the last one
	stored int  // bytes of it that are still to be copied

	literals  literalTable
	distances distanceTable
	lengths   lengthTable
	meanings  *meanings
}

// A blockState is where a Reader is.
type blockState uint8

const (
	atHead  blockState = iota // in front of a block
	inBytes                   // in a block without compression
	inCodes
)

// Reset begins with the stream that in is at.
func (f *Reader) Reset(in *bufio.Reader) {
	if f.meanings == nil {
		f.meanings = newMeanings()
	}
	f.in, f.ahead, f.pos, f.bits, f.n = in, nil, 0, 0, 0
	f.r, f.w, f.err, f.state, f.last = 0, 0, nil, atHead, false
}

// Read returns [io.EOF] behind the last block, [io.ErrUnexpectedEOF] if the input ends before, and [ErrCorrupt].
func (f *Reader) Read(p []byte) (int, error) {
	for f.r == f.w {
		if f.err != nil {
			return 0, f.err
		}
		if f.w > window {
			copy(f.out[:window], f.out[f.w-window:f.w])
			f.r, f.w = window, window
		}
		for f.err == nil && f.w+slack <= len(f.out) {
			f.err = f.step()
		}
		if f.err == io.EOF && !(f.state == atHead && f.last) {
			f.err = io.ErrUnexpectedEOF
		}
	}
	n := copy(p, f.out[f.r:f.w])
	f.r += n
	return n, nil
}

// step decodes as much of a block as there is room for.
func (f *Reader) step() error {
	switch {
	case f.state == inCodes:
		return f.symbols()
	case f.state == atHead && f.last:
		f.giveBack()
		return io.EOF
	case f.state == atHead:
		return f.head()
	case f.stored == 0:
		f.state = atHead
		return nil
	}
	n, err := f.in.Read(f.out[f.w:][:min(len(f.out)-slack-f.w+1, f.stored)])
	f.w += n
	f.stored -= n
	return err
}

// head reads the head of a block.
func (f *Reader) head() error {
	if err := f.need(3); err != nil {
		return err
	}
	f.last = f.take(1) == 1
	switch f.take(2) {
	case 0:
		f.take(f.n % 8)
		f.giveBack()
		f.state = inBytes
		var size [4]byte
		if _, err := io.ReadFull(f.in, size[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint16(size[:])
		if n != ^binary.LittleEndian.Uint16(size[2:]) {
			return ErrCorrupt
		}
		f.stored = int(n)
		return nil
	case 1:
		f.state = inCodes
		var lengths [literals + distances]uint8
		for i := range lengths {
			switch {
			case i < 144, i >= 280 && i < literals:
				lengths[i] = 8
			case i < 256:
				lengths[i] = 9
			case i < 280:
				lengths[i] = 7
			default:
				lengths[i] = 5
			}
		}
		return f.build(lengths[:literals], lengths[literals:])
	case 2:
		f.state = inCodes
		return f.readCodes()
	}
	f.state = inCodes
	return ErrCorrupt
}

func (f *Reader) build(literals, distances []uint8) error {
	if !build(f.literals[:], literalTop, literals, f.meanings.literals[:]) ||
		!build(f.distances[:], distTop, distances, f.meanings.distances[:]) {
		return ErrCorrupt
	}
	return nil
}

// order is the order in which the lengths of the codes for code lengths come.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the codes of a block (RFC 1951 section 3.2.7).
func (f *Reader) readCodes() error {
	if err := f.need(14); err != nil {
		return err
	}
	nLiterals, nDistances, nLengths := f.take(5)+257, f.take(5)+1, f.take(4)+4
	if nLiterals > 286 || nDistances > 30 {
		return ErrCorrupt
	}
	var of [19]uint8
	for _, symbol := range order[:nLengths] {
		if err := f.need(3); err != nil {
			return err
		}
		of[symbol] = uint8(f.take(3))
	}
	if !build(f.lengths[:], lengthTop, of[:], f.meanings.lengths[:]) {
		return ErrCorrupt
	}
	var lengths [literals + distances]uint8
	for i, all := 0, nLiterals+nDistances; i < all; {
		e, err := f.symbol(f.lengths[:], lengthTop)
		if err != nil {
			return err
		}
		if e.value() < 16 {
			lengths[i] = uint8(e.value())
			i++
			continue
		}
		repeat := [...]struct {
			extra uint
			base  int
		}{{2, 3}, {3, 3}, {7, 11}}[e.value()-16]
		if err := f.need(repeat.extra); err != nil {
			return err
		}
		end := i + repeat.base + f.take(repeat.extra)
		if end > all || e.value() == 16 && i == 0 {
			return ErrCorrupt
		}
		for length := uint8(0); i < end; i++ {
			if e.value() == 16 {
				length = lengths[i-1]
			}
			lengths[i] = length
		}
	}
	return f.build(lengths[:nLiterals], lengths[nLiterals:nLiterals+nDistances])
}

// symbols decodes until the block, the input ahead or the room for the output ends.
func (f *Reader) symbols() error {
	out, in, w, pos, bits, n := &f.out, f.ahead, f.w, f.pos, f.bits, f.n
	for pos+16 <= len(in) && w+slack+2 <= len(out) { // enough for two literals and a match
		bits |= binary.LittleEndian.Uint64(in[pos:]) << n
		pos += int(63-n) / 8
		n |= 56
		e := f.literals[bits%(1<<literalTop)]
		if e&literal != 0 {
			out[w] = byte(e >> 16)
			w++
			bits >>= e & 63
			n -= e.code()
			if e = f.literals[bits%(1<<literalTop)]; e&literal != 0 {
				out[w] = byte(e >> 16)
				w++
				bits >>= e & 63
				n -= e.code()
				e = f.literals[bits%(1<<literalTop)]
			}
		}
		if e&literal == 0 { // a match needs at most 48 bits
			bits |= binary.LittleEndian.Uint64(in[pos:]) << n
			pos += int(63-n) / 8
			n |= 56
			if e&subtable != 0 {
				bits >>= literalTop
				n -= literalTop
				e = f.literals[e.value()+int(bits&(1<<e.extra()-1))]
			}
		}
		bits >>= e & 63
		n -= e.code()
		if e&literal != 0 {
			out[w] = byte(e >> 16)
			w++
			continue
		}
		if e == 0 || e&(endOfBlock|invalid) != 0 {
			f.w, f.pos, f.bits, f.n = w, pos, bits, n
			return f.end(e)
		}
		length := e.value() + int(bits&(1<<e.extra()-1))
		bits >>= e.extra()
		n -= e.extra()
		if e = f.distances[bits%(1<<distTop)]; e&subtable != 0 {
			bits >>= distTop
			n -= distTop
			e = f.distances[e.value()+int(bits&(1<<e.extra()-1))]
		}
		bits >>= e & 63
		n -= e.code()
		distance := e.value() + int(bits&(1<<e.extra()-1))
		bits >>= e.extra()
		n -= e.extra()
		if e == 0 || e&invalid != 0 || distance > w {
			return ErrCorrupt
		}
		w = repeat(out, w, distance, length)
	}
	f.w, f.pos, f.bits, f.n = w, pos, bits, n
	if w+slack > len(out) {
		return nil
	}
	return f.oneSymbol()
}

// repeat appends the length bytes that begin distance bytes before w to out[:w], and returns the new end. Up to 7 bytes
// behind it change as well.
func repeat(out *[3*window + slack]byte, w, distance, length int) int {
	from, end := w-distance, w+length
	if distance < 8 {
		for ; w < end; w, from = w+1, from+1 {
			out[w] = out[from]
		}
		return end
	}
	for ; w < end; w, from = w+8, from+8 {
		binary.LittleEndian.PutUint64(out[w:], binary.LittleEndian.Uint64(out[from:]))
	}
	return end
}

// oneSymbol decodes a literal, a match or the end of the block where the input ahead may end.
func (f *Reader) oneSymbol() error {
	e, err := f.symbol(f.literals[:], literalTop)
	if err != nil {
		return err
	}
	if e&literal != 0 {
		f.out[f.w] = byte(e >> 16)
		f.w++
		return nil
	}
	if e&(endOfBlock|invalid) != 0 {
		return f.end(e)
	}
	if err := f.need(e.extra()); err != nil {
		return err
	}
	length := e.value() + f.take(e.extra())
	if e, err = f.symbol(f.distances[:], distTop); err != nil {
		return err
	}
	if err := f.need(e.extra()); err != nil {
		return err
	}
	distance := e.value() + f.take(e.extra())
	if e&invalid != 0 || distance > f.w {
		return ErrCorrupt
	}
	f.w = repeat(&f.out, f.w, distance, length)
	return nil
}

// end ends a block if the entry says so.
func (f *Reader) end(e entry) error {
	if e&endOfBlock == 0 {
		return ErrCorrupt
	}
	f.state = atHead
	return nil
}

// symbol decodes the next code of a table.
func (f *Reader) symbol(table []entry, top uint) (entry, error) {
	for {
		e, root := table[f.bits&(1<<top-1)], uint(0)
		if e&subtable != 0 {
			root = top
			e = table[e.value()+int(f.bits>>top&(1<<e.extra()-1))]
		}
		switch {
		case e != 0 && root+e.code() <= f.n:
			f.take(root + e.code())
			return e, nil
		case f.n >= mostCode:
			return 0, ErrCorrupt
		}
		if err := f.need(f.n + 1); err != nil {
			return 0, err
		}
	}
}

// need takes input until there are n bits. If the input ends before, the error is [io.EOF].
func (f *Reader) need(n uint) error {
	for f.n < n {
		if f.pos == len(f.ahead) {
			held := int(f.n / 8)
			f.giveBack()
			if _, err := f.in.Peek(held + 1); err != nil {
				return err
			}
			f.ahead, _ = f.in.Peek(f.in.Buffered())
		}
		f.bits |= uint64(f.ahead[f.pos]) << f.n
		f.pos++
		f.n += 8
	}
	return nil
}

func (f *Reader) take(n uint) int {
	v := int(f.bits & (1<<n - 1))
	f.bits >>= n
	f.n -= n
	return v
}

// giveBack leaves in behind the last byte of which a bit was decoded.
func (f *Reader) giveBack() {
	_, _ = f.in.Discard(f.pos - int(f.n/8)) // they are buffered
	f.n %= 8
	f.bits &= 1<<f.n - 1
	f.ahead, f.pos = nil, 0
}
