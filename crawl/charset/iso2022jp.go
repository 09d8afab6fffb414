package charset

import "unicode/utf8"

// The escape sequences of ISO-2022-JP, which are also its states.
const (
	jisASCII    = "\x1b(B"
	jisRoman    = "\x1b(J"
	jisKatakana = "\x1b(I"
	jis0208     = "\x1b$B"
	jis0208Old  = "\x1b$@"
)

// decodeISO2022JP decodes ISO-2022-JP, in which an escape sequence changes the meaning of the bytes after it.
// Two in a row are an error, because they serve only to hide something.
func (e Encoding) decodeISO2022JP(b []byte) []byte {
	text := make([]byte, 0, len(b)+len(b)/2)
	kanji := newSequences(named(eucJPName))
	state, escaped := jisASCII, false
	for i := 0; i < len(b); {
		if next := escapeAt(b[i:]); next != "" {
			if escaped {
				text = append(text, "\ufffd"...)
			}
			state, escaped = next, true
			i += len(next)
			continue
		}
		char, size := kanji.shifted(b[i:], state)
		text = utf8.AppendRune(text, char)
		escaped = false
		i += size
	}
	return text
}

// escapeAt returns the state selected by an escape sequence at the start of b; empty: there is none.
func escapeAt(b []byte) string {
	if len(b) < len(jisASCII) || b[0] != 0x1b {
		return ""
	}
	switch string(b[:len(jisASCII)]) {
	case jisASCII:
		return jisASCII
	case jisRoman:
		return jisRoman
	case jisKatakana:
		return jisKatakana
	case jis0208, jis0208Old:
		return jis0208
	}
	return ""
}

// shifted reads a character in a state, and returns its size in bytes. s is EUC-JP, which has the same pairs
// with the high bits set.
func (s *sequences) shifted(b []byte, state string) (rune, int) {
	c := b[0]
	switch {
	case c == 0x0e || c == 0x0f || c == 0x1b || c >= utf8.RuneSelf:
		return utf8.RuneError, 1
	case state == jis0208:
		return s.kanji(b)
	case state == jisKatakana:
		if c < 0x21 || c > 0x5f {
			return utf8.RuneError, 1
		}
		return rune(c) - 0x21 + '\uff61', 1
	case state == jisRoman && c == '\\':
		return '¥', 1
	case state == jisRoman && c == '~':
		return '‾', 1
	}
	return rune(c), 1
}

// kanji reads a two-byte character. The second byte is part of an error, too, unless it begins an escape
// sequence.
func (s *sequences) kanji(b []byte) (rune, int) {
	switch {
	case b[0] < 0x21 || b[0] > 0x7e || len(b) == 1 || b[1] == 0x1b:
		return utf8.RuneError, 1
	case b[1] < 0x21 || b[1] > 0x7e:
		return utf8.RuneError, 2
	}
	lead := b[0] | 0x80
	r, _ := utf8.DecodeRuneInString(s.fill(&s.pairs[lead], lead)[b[1]|0x80])
	return r, 2 // for an empty string it is U+FFFD
}
