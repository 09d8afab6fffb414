package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// isMulti reports an encoding whose characters have one to four bytes.
func (e Encoding) isMulti() bool {
	switch e.name {
	case gbkName, gb18030Name, big5Name, eucJPName, eucKRName, shiftJISName:
		return true
	}
	return false
}

// decodeMulti decodes such an encoding. Text that the library decodes without error is correct; otherwise the
// bytes are decoded again, with errors according to the standard.
func (e Encoding) decodeMulti(b []byte) []byte {
	if e.isChinese() && hasFalseQuadruple(b) {
		return newSequences(e).decode(b)
	}
	text, err := e.library().NewDecoder().Bytes(b)
	if err != nil || e.isDoubtful(text) {
		return newSequences(e).decode(b)
	}
	return text
}

// hasFalseQuadruple reports what may be a four-byte sequence whose second byte is not a digit but one of the
// six characters after "9", which the library accepts.
func hasFalseQuadruple(b []byte) bool {
	for i := 1; i+2 < len(b); i++ {
		if c := b[i]; '9' < c && c < '@' && isLead(b[i-1]) && isLead(b[i+1]) && isDigit(b[i+2]) {
			return true
		}
	}
	return false
}

// library returns the library's encoding for decoding e: GBK is decoded as its successor.
func (e Encoding) library() encoding.Encoding {
	if e.name == gbkName {
		return simplifiedchinese.GB18030
	}
	return e.text
}

func (e Encoding) isChinese() bool { return e.name == gbkName || e.name == gb18030Name }

// isDoubtful reports text that may contain errors, or the one character that the library decodes differently.
func (e Encoding) isDoubtful(text []byte) bool {
	return bytes.Contains(text, []byte("\ufffd")) || e.isChinese() && bytes.Contains(text, []byte("\u1e3f"))
}

// sequences maps the sequences of an encoding to characters, as decoded one by one by the library.
type sequences struct {
	Encoding
	decoder *encoding.Decoder // the library's
	ones    row
	pairs   [256]row // by first byte
	triples [256]row // of EUC-JP, by the byte after 0x8f
}

// A row maps the last byte of a sequence to nothing, one character or two. It is filled on first use.
type row []string

func newSequences(e Encoding) *sequences {
	s := &sequences{Encoding: e, decoder: e.library().NewDecoder()}
	s.fill(&s.ones)
	return s
}

func (s *sequences) decode(b []byte) []byte {
	text := make([]byte, 0, 2*len(b))
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			text = append(text, b[i])
			i++
			continue
		}
		char, size := s.next(b[i:])
		if char == "" {
			char = "\ufffd"
		}
		text = append(text, char...)
		i += size
	}
	return text
}

// next decodes the sequence at the start of b, whose first byte is not ASCII. It returns the characters,
// empty for an error, and the length. An ASCII byte in place of the last byte of a pair is not consumed.
func (s *sequences) next(b []byte) (string, int) {
	lead := b[0]
	if char := s.ones[lead]; char != "" {
		return char, 1
	}
	switch {
	case len(b) == 1 || !s.isLead(lead):
		return "", 1
	case s.isChinese() && isDigit(b[1]):
		return s.quadruple(b)
	case lead == 0x8f && s.name == eucJPName && isJIS(b[1]):
		return s.triple(b)
	}
	pairs := s.pairs[lead]
	if pairs == nil {
		pairs = s.fill(&s.pairs[lead], lead)
	}
	return pairs[b[1]], sizeOf(pairs[b[1]], b[:2])
}

// sizeOf returns the length consumed by a sequence; an error does not consume a last byte that is ASCII.
func sizeOf(char string, b []byte) int {
	if char == "" && b[len(b)-1] < utf8.RuneSelf {
		return len(b) - 1
	}
	return len(b)
}

// triple decodes a character of JIS X 0212; b has at least two bytes.
func (s *sequences) triple(b []byte) (string, int) {
	if len(b) == 2 {
		return "", 2
	}
	char := s.fill(&s.triples[b[1]], b[:2]...)[b[2]]
	return char, sizeOf(char, b[:3])
}

// quadruple decodes a four-byte character; b has at least two bytes. A truncated sequence is one error; if
// the third or fourth byte is invalid, only the first byte is consumed.
func (s *sequences) quadruple(b []byte) (string, int) {
	switch {
	case len(b) > 2 && !isLead(b[2]) || len(b) > 3 && !isDigit(b[3]):
		return "", 1
	case len(b) < 4:
		return "", len(b)
	}
	if string(b[:4]) == quadrupleE7C7 {
		return "\ue7c7", 4
	}
	var char [utf8.UTFMax]byte
	n, _, _ := s.decoder.Transform(char[:], b[:4], true) // char has room for it
	if r, _ := utf8.DecodeRune(char[:n]); r == utf8.RuneError && string(b[:4]) != "\x84\x31\xa4\x37" {
		return "", 4
	}
	return string(char[:n]), 4
}

// fill returns the row of the sequences that begin with prefix.
func (s *sequences) fill(r *row, prefix ...byte) row {
	if *r != nil {
		return *r
	}
	*r = make(row, 256)
	const first = '@' // first possible last byte
	var codes []byte
	for c := first; c <= 0xff; c++ {
		codes = append(append(codes, prefix...), byte(c), '\n')
	}
	text, _ := s.decoder.Bytes(codes) // never fails
	rest := string(text)
	for c := first; c <= 0xff; c++ {
		var char string
		if char, rest, _ = strings.Cut(rest, "\n"); !strings.Contains(char, "\ufffd") {
			(*r)[c] = char
		}
	}
	s.amend(*r, prefix)
	return *r
}

// amend adds the pairs that the library does not decode.
func (s *sequences) amend(r row, prefix []byte) {
	switch {
	case len(prefix) != 1:
	case s.isChinese():
		for c, char := range r {
			if two := pair2022(prefix[0], byte(c)); char == "" && two != 0 {
				r[c] = string(two)
			}
		}
	case s.name == shiftJISName && 0xf0 <= prefix[0] && prefix[0] <= 0xf9:
		private := '\ue000' + rune(prefix[0]-0xf0)*188
		for c := 0x40; c <= 0xfc; c++ {
			if c != 0x7f {
				r[c] = string(private)
				private++
			}
		}
	}
}

// isLead reports the first byte of a multi-byte sequence.
func (s *sequences) isLead(c byte) bool {
	switch s.name {
	case eucJPName:
		return c == 0x8e || c == 0x8f || isJIS(c)
	case shiftJISName:
		return 0x81 <= c && c <= 0x9f || 0xe0 <= c && c <= 0xfc
	}
	return isLead(c)
}

func isLead(c byte) bool  { return 0x81 <= c && c <= 0xfe }
func isJIS(c byte) bool   { return 0xa1 <= c && c <= 0xfe }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
