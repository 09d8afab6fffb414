package charset

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/width"
)

// Query returns a function that encodes the query of a link on a page in this encoding, before
// percent-encoding ("percent-encode after encoding" in the URL standard). A character that the encoding lacks
// becomes a character reference, "&#8364;", already escaped. Query returns nil for encodings whose pages have
// queries in UTF-8. The function has state and belongs to one goroutine.
func (e Encoding) Query() func(query string) string {
	switch e.name {
	case "", utf8Name, utf16beName, utf16leName, replacement:
		return nil
	case iso2022JPName:
		return (&writer{Encoding: named(eucJPName)}).iso2022JP
	}
	return (&writer{Encoding: e}).query
}

// reference returns the reference for a character that an encoding lacks.
func reference(r rune) []byte {
	return append(strconv.AppendInt([]byte("%26%23"), int64(r), 10), "%3B"...)
}

// A writer encodes queries. It follows the standard where the library's encoder does not. It sets itself up
// at the first non-ASCII character.
type writer struct {
	Encoding
	encoder *encoding.Encoder
	reverse map[rune]string // replaces the encoder if that departs from the standard
	in      [utf8.UTFMax]byte
	out     [8]byte
}

func (w *writer) query(query string) string {
	if isASCII(query) {
		return query
	}
	var out []byte
	for _, r := range query {
		encoded, ok := w.encode(r)
		if !ok {
			encoded = reference(r)
		}
		out = append(out, encoded...)
	}
	return string(out)
}

// encode returns the bytes of a character, valid until the next call, and whether the encoding has it.
func (w *writer) encode(r rune) ([]byte, bool) {
	switch {
	case r < utf8.RuneSelf:
		return append(w.out[:0], byte(r)), true
	case w.isChinese():
		return w.chinese(r)
	case w.name == shiftJISName || w.name == eucJPName:
		return w.japanese(r)
	case w.name == eucKRName:
		return w.library(r)
	}
	return w.reversed(r)
}

func (w *writer) library(r rune) ([]byte, bool) {
	if w.encoder == nil {
		w.encoder = w.text.NewEncoder()
	}
	w.encoder.Reset()
	n, _, err := w.encoder.Transformer.Transform(w.out[:], utf8.AppendRune(w.in[:0], r), true)
	return w.out[:n], err == nil && n > 0
}

func (w *writer) reversed(r rune) ([]byte, bool) {
	if w.reverse == nil {
		w.reverse = w.reversal()
	}
	code, ok := w.reverse[r]
	return append(w.out[:0], code...), ok
}

func (w *writer) chinese(r rune) ([]byte, bool) {
	switch {
	case r == '\ue5e5':
		return nil, false
	case r == '€' && w.name == gbkName:
		return append(w.out[:0], 0x80), true
	}
	if code := code2022(r); code != 0 {
		return append(w.out[:0], byte(code>>8), byte(code)), true
	}
	if r == '\ue7c7' && w.name == gb18030Name {
		return append(w.out[:0], quadrupleE7C7...), true
	}
	return w.library(r)
}

func (w *writer) japanese(r rune) ([]byte, bool) {
	switch r {
	case '¥':
		return append(w.out[:0], '\\'), true
	case '‾':
		return append(w.out[:0], '~'), true
	case '−':
		r = '－'
	}
	if w.name == shiftJISName {
		return w.reversed(r)
	}
	encoded, ok := w.library(r)
	return encoded, ok && len(encoded) <= 2 // three bytes are JIS X 0212, which is decode-only
}

// iso2022JP encodes a query in ISO-2022-JP, which begins and ends in ASCII.
func (w *writer) iso2022JP(query string) string {
	if isASCII(query) && !strings.ContainsAny(query, "\x0e\x0f\x1b") {
		return query
	}
	var out []byte
	state := jisASCII
	for _, r := range query {
		encoded, next, ok := w.shifted(r, state)
		if next != state {
			out, state = append(out, next...), next
		}
		if !ok {
			encoded = reference(orReplacement(r))
		}
		out = append(out, encoded...)
	}
	if state != jisASCII {
		out = append(out, jisASCII...)
	}
	return string(out)
}

// shifted returns the bytes of a character and the state they belong to. A character without bytes leaves the
// two-byte state.
func (w *writer) shifted(r rune, state string) (encoded []byte, next string, ok bool) {
	single := state
	if state == jis0208 {
		single = jisASCII
	}
	switch {
	case r == '\x0e' || r == '\x0f' || r == '\x1b':
		return nil, single, false
	case r == '¥' || r == '‾':
		encoded, _ = w.encode(r)
		return encoded, jisRoman, true
	case r == '\\' || r == '~':
		return append(w.out[:0], byte(r)), jisASCII, true
	case r < utf8.RuneSelf:
		return append(w.out[:0], byte(r)), single, true
	}
	encoded, ok = w.encode(fullwidth(r))
	if !ok || len(encoded) != 2 {
		return nil, single, false
	}
	encoded[0], encoded[1] = encoded[0]&0x7f, encoded[1]&0x7f
	return encoded, jis0208, true
}

// fullwidth returns the full-width katakana that ISO-2022-JP uses for a half-width one.
func fullwidth(r rune) rune {
	switch {
	case r == '\uff9e':
		return '\u309b'
	case r == '\uff9f':
		return '\u309c'
	case r < '\uff61' || r > '\uff9f':
		return r
	}
	wide, _ := utf8.DecodeRuneInString(width.Widen.String(string(r)))
	return wide
}

// orReplacement returns the character for the reference of an error. Bytes that would switch the state are
// replaced.
func orReplacement(r rune) rune {
	if r < utf8.RuneSelf {
		return utf8.RuneError
	}
	return r
}
