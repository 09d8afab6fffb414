// Package simhash computes the SimHash of a text, as described by Charikar ("Similarity Estimation Techniques
// from Rounding Algorithms", 2002) and used for web pages by Manku, Jain and Sarma ("Detecting Near-Duplicates
// for Web Crawling", 2007): every phrase is hashed to 64 bits, and each bit of the result is the one that most
// of the phrases have.
//
// A phrase is three words in a row, each a run of letters, digits and marks, ignoring case. Scripts that write
// no spaces between words have phrases of five letters. Both count in the same way, so that a text may mix them.
// A text of less than 50 words and less than 250 such letters has no SimHash.
//
// A [Hasher] reads a text in pieces and needs the same little memory for any text. It has no locks. The value
// of a text is part of the state file: any change here makes pages look changed.
package simhash

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/schema"
)

// The least text that has a SimHash.
const (
	leastWords   = 50
	leastLetters = 250
)

const gramLetters = 5

// Words of the vocabulary.
const (
	mostVocabulary = 100
	leastLength    = 4
)

// Odd constants with as many ones as zeros, from the fraction of pi.
const (
	mixA = 0x243f6a8885a308d3
	mixB = 0x13198a2e03707345
	mixC = 0xa4093822299f31d1
)

// A Hasher computes the SimHash of one text after the other. The zero value is ready for the first one.
type Hasher struct {
	Quoted bool // the words are not the text's own: they do not count for its vocabulary

	word   uint64 // hash of the complete groups of eight bytes of the current word
	tail   uint64 // its bytes since then
	length int    // number of its bytes
	plain  byte   // 0x40 if none of them is a digit
	words  int
	before [2]uint64 // hashes of the last two words, the latest first

	letters int
	gram    [gramLetters - 1]uint64 // the last letters, the latest first

	votes tally

	vocabulary []uint32
}

// Reset begins a new text.
func (h *Hasher) Reset() { *h = Hasher{} }

// Vocabulary returns hashes of the first words of the text, with repetitions: at most 100, each of four letters or
// more and without digits. In scripts that write no spaces, every two letters in a row count as a word.
func (h *Hasher) Vocabulary() []uint32 { return h.vocabulary }

// learn adds a word to the vocabulary.
func (h *Hasher) learn(word uint64) {
	if h.vocabulary == nil {
		h.vocabulary = make([]uint32, 0, mostVocabulary)
	}
	if len(h.vocabulary) < mostVocabulary && !h.Quoted {
		h.vocabulary = append(h.vocabulary, uint32(word>>32))
	}
}

// Write adds a piece of the text in UTF-8. A word may continue in the next piece, but not a character.
func (h *Hasher) Write(text []byte) {
	for len(text) > 0 {
		size := 1
		switch c := text[0]; {
		case folded[c] != 0:
			size = h.run(text)
		case c >= utf8.RuneSelf:
			var r rune
			r, size = utf8.DecodeRune(text)
			h.rune(r)
		default:
			h.Break()
		}
		text = text[size:]
	}
}

// run adds ASCII letters and digits at the beginning of a text to the current word: all of them, or the first eight.
// The first byte is one. It returns their number.
func (h *Hasher) run(text []byte) int {
	if h.length == 0 {
		h.plain = 0x40
	}
	if n := 0; len(text) < 8 || h.length&7 != 0 {
		for ; n < len(text) && folded[text[n]] != 0; n++ {
			h.byte(folded[text[n]])
			h.plain &= folded[text[n]]
		}
		return n
	}
	group := binary.LittleEndian.Uint64(text)
	letters, digits := inRange(group|each*0x20, 'a', 'z'), inRange(group, '0', '9')
	n := bits.TrailingZeros64(^(letters|digits)&(each<<7)) / 8
	rest := uint(64 - 8*n)
	if digits<<rest != 0 {
		h.plain = 0
	}
	h.tail, h.length = bits.ReverseBytes64(group|each*0x20)>>rest, h.length+n
	if n == 8 {
		h.word, h.tail = mix(h.word^h.tail, mixB), 0
	}
	return n
}

// each has a one as the lowest bit of each byte.
const each = 0x0101010101010101

// inRange sets the highest bit of each byte of group that is from one ASCII character to another, and no other bits.
func inRange(group uint64, from, to byte) uint64 {
	low := group &^ (each << 7)
	return (low + each*uint64(0x80-from)) &^ (low + each*uint64(0x7f-to)) &^ group & (each << 7)
}

// Break ends the current word.
func (h *Hasher) Break() {
	if h.length == 0 {
		return
	}
	word := mix(h.word^h.tail, mixA+uint64(h.length))
	if h.length >= leastLength && h.plain != 0 {
		h.learn(word)
	}
	h.word, h.tail, h.length, h.plain = 0, 0, 0, 0
	if h.words++; h.words >= 3 {
		h.votes.add(mix(word^mixB, mix(h.before[0]^mixC, h.before[1]^mixA)))
	}
	h.before[1], h.before[0] = h.before[0], word
}

// Sum returns the SimHash of the text so far, or 0 if that is too short.
func (h *Hasher) Sum() schema.SimHash {
	h.Break()
	if h.words < leastWords && h.letters < leastLetters {
		return 0
	}
	return schema.SimHash(h.votes.majority())
}

// Words returns the number of words of the text so far. In scripts that write no spaces, five letters count as one.
func (h *Hasher) Words() int {
	h.Break()
	return h.words + h.letters/gramLetters
}

// byte adds a byte to the current word.
func (h *Hasher) byte(c byte) {
	if h.length == 0 {
		h.plain = 0x40
	}
	h.tail = h.tail<<8 | uint64(c)
	if h.length++; h.length&7 == 0 {
		h.word, h.tail = mix(h.word^h.tail, mixB), 0
	}
}

// rune adds a character outside ASCII.
func (h *Hasher) rune(r rune) {
	switch {
	case !unicode.In(r, unicode.L, unicode.N, unicode.M):
		h.Break()
	case isUnspaced(r):
		h.Break()
		h.letter(uint64(r))
	default:
		var b [utf8.UTFMax]byte
		for _, c := range b[:utf8.EncodeRune(b[:], unicode.ToLower(r))] {
			h.byte(c)
		}
	}
}

// letter adds a letter of a script without spaces.
func (h *Hasher) letter(r uint64) {
	if h.letters++; h.letters >= gramLetters {
		hash := uint64(mixA)
		for _, l := range h.gram {
			hash = hash<<21 ^ hash>>43 ^ l
		}
		h.votes.add(mix(hash^mixC, r^mixB))
	}
	h.learn(mix(h.gram[0]^mixA, r))
	copy(h.gram[1:], h.gram[:])
	h.gram[0] = r
}

// mix returns a hash of two values.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^mixC, b^mixB)
	return hi ^ lo
}

// folded maps the ASCII letters and digits to themselves in lower case, and all other bytes to 0.
var folded = func() (t [256]byte) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z':
			t[c] = byte(c)
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c) | 0x20
		}
	}
	return t
}()

// isUnspaced reports whether a letter, digit or mark is of a script without spaces between words.
func isUnspaced(r rune) bool {
	switch {
	case r < 0x0E00: // before Thai
		return false
	case 0x3041 <= r && r <= 0x30FF, 0x4E00 <= r && r <= 0x9FFF:
		return true
	case r == 0xFF70: // the halfwidth mark of a long vowel, which has no script
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Le, unicode.New_Tai_Lue,
		unicode.Tai_Tham, unicode.Javanese, unicode.Balinese)
}
