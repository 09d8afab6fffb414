package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// reversal inverts an encoding: it maps each character to the first bytes that decode to it, except in
// decode-only rows.
func (e Encoding) reversal() map[rune]string {
	reverse := make(map[rune]string, 128)
	if e.isSingle() {
		table := e.table()
		for c := len(table) - 1; c >= utf8.RuneSelf; c-- {
			reverse[table[c]] = string([]byte{byte(c)})
		}
		delete(reverse, utf8.RuneError)
		return reverse
	}
	codes := e.codes()
	for i, text := range bytes.Split(e.Decode(bytes.Join(codes, []byte{'\n'})), []byte{'\n'}) {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError || size < len(text) {
			continue
		}
		if _, known := reverse[r]; !known || e.name == big5Name && strings.ContainsRune(lastInBig5, r) {
			reverse[r] = string(codes[i])
		}
	}
	return reverse
}

// lastInBig5 are the characters encoded as the last of their two codes.
const lastInBig5 = "═╞╡╪十卅"

// codes returns the byte sequences that may be used to encode Big5 or Shift_JIS, in order.
func (e Encoding) codes() [][]byte {
	var codes [][]byte
	for c := 0x80; c <= 0xfe; c++ {
		lead := byte(c)
		switch {
		case e.name == big5Name && lead < 0xa1: // added for Hong Kong
			continue
		case e.name == shiftJISName && (lead == 0x80 || 0xa1 <= lead && lead <= 0xdf):
			codes = append(codes, []byte{lead})
			continue
		case e.name == shiftJISName && (lead == 0xed || lead == 0xee || 0xf0 <= lead && lead <= 0xf9):
			// doubles, private use
			continue
		}
		for trail := 0x40; trail <= 0xfe; trail++ {
			codes = append(codes, []byte{lead, byte(trail)})
		}
	}
	return codes
}
