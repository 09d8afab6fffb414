package charset

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// decodeUTF16 decodes UTF-16. An unpaired surrogate is an error, as is a truncated end.
func decodeUTF16(b []byte, order binary.ByteOrder) []byte {
	text := make([]byte, 0, len(b))
	for len(b) >= 2 {
		r, size := rune(order.Uint16(b)), 2
		if utf16.IsSurrogate(r) {
			r, size = surrogates(r, b, order)
		}
		text = utf8.AppendRune(text, r)
		b = b[size:]
	}
	if len(b) > 0 {
		text = append(text, "\ufffd"...)
	}
	return text
}

// surrogates decodes the character that begins with r, at the start of b.
func surrogates(r rune, b []byte, order binary.ByteOrder) (rune, int) {
	isHigh := r < 0xdc00
	switch {
	case isHigh && len(b) < 4:
		return utf8.RuneError, len(b)
	case isHigh:
		if whole := utf16.DecodeRune(r, rune(order.Uint16(b[2:]))); whole != utf8.RuneError {
			return whole, 4
		}
	}
	return utf8.RuneError, 2
}
