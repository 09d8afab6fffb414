package inflate

import "math/bits"

// An entry of a table says what a code means:
//
//	bits 0 to 7    bits of the code; in a subtable, those behind the root; in front of a subtable, those of the root
//	bits 8 to 11   extra bits that follow the code; in front of a subtable, bits of its index
//	bits 12 to 15  the kind; none: a length or a distance
//	bits 16 to 31  the literal, the base of the length or distance, or where the subtable begins
//
// The zero entry belongs to no code.
type entry uint32

const (
	literal entry = 1 << (12 + iota)
	subtable
	endOfBlock
	invalid
)

func (e entry) code() uint  { return uint(e & 0xff) }
func (e entry) extra() uint { return uint(e >> 8 & 0xf) }
func (e entry) value() int  { return int(e >> 16) }

const (
	mostCode   = 15 // bits
	literals   = 288
	distances  = 32
	literalTop = 11 // bits of the root of the table of literals and lengths
	distTop    = 9  // likewise, of distances
	lengthTop  = 7  // likewise, of code lengths, which have no longer codes
)

// A subtable has at least two codes.
type (
	literalTable  [1<<literalTop + literals/2<<(mostCode-literalTop)]entry
	distanceTable [1<<distTop + distances/2<<(mostCode-distTop)]entry
	lengthTable   [1 << lengthTop]entry
)

// build fills a table with canonical codes of the given lengths, each with its meaning (RFC 1951 section 3.2.2). It
// reports whether every sequence of bits has a meaning; a single code of one bit is accepted as well, and no code.
func build(table []entry, top uint, lengths []uint8, meanings []entry) bool {
	var count, next [mostCode + 1]int
	for _, n := range lengths {
		count[n]++
	}
	longest, code := uint(0), 0
	for n := uint(1); n <= mostCode; n++ {
		code <<= 1
		next[n] = code
		if code += count[n]; count[n] > 0 {
			longest = n
		}
		if code > 1<<n {
			return false
		}
	}
	clear(table[:1<<top])
	if longest == 0 || longest > 1 && code != 1<<mostCode {
		return longest == 0
	}
	free := 1 << top
	for symbol, n := range lengths {
		if n == 0 {
			continue
		}
		at := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		e := meanings[symbol] | entry(n)
		if uint(n) <= top {
			for i := at; i < 1<<top; i += 1 << n {
				table[i] = e
			}
			continue
		}
		sub := &table[at&(1<<top-1)]
		if *sub == 0 {
			*sub = entry(free)<<16 | subtable | entry(longest-top)<<8 | entry(top)
			clear(table[free : free+1<<(longest-top)])
			free += 1 << (longest - top)
		}
		for i := at >> top; i < 1<<sub.extra(); i += 1 << (uint(n) - top) {
			table[sub.value()+i] = e - entry(top)
		}
	}
	return true
}

// meanings are what the symbols of each kind of code mean (RFC 1951 section 3.2.5).
type meanings struct {
	literals  [literals]entry
	distances [distances]entry
	lengths   [19]entry
}

func newMeanings() *meanings {
	m := &meanings{}
	for i := range m.literals {
		switch extra := entry(max(i-261, 0) / 4); {
		case i < 256:
			m.literals[i] = entry(i)<<16 | literal
		case i == 256:
			m.literals[i] = endOfBlock
		case i < 265:
			m.literals[i] = entry(i-257+3) << 16
		case i < 285:
			m.literals[i] = (3+(4+entry(i-265)%4)<<extra)<<16 | extra<<8
		case i == 285:
			m.literals[i] = longestMatch << 16
		default:
			m.literals[i] = invalid
		}
	}
	for i := range m.distances {
		switch extra := entry(max(i-2, 0) / 2); {
		case i < 4:
			m.distances[i] = entry(i+1) << 16
		case i < 30:
			m.distances[i] = (1+(2+entry(i)%2)<<extra)<<16 | extra<<8
		default:
			m.distances[i] = invalid
		}
	}
	for i := range m.lengths {
		m.lengths[i] = entry(i) << 16
	}
	return m
}
