package sanitize

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// AppendXML appends text escaped for an element or a quoted attribute.
func AppendXML(b []byte, s string) []byte {
	if common(s) {
		return append(b, s...)
	}
	s = Text(s)
	for {
		i := strings.IndexAny(s, `&<>"'`)
		if i < 0 {
			return append(b, s...)
		}
		b = append(append(b, s[:i]...), entity(s[i])...)
		s = s[i+1:]
	}
}

// common reports whether no format has to escape s: it is printable ASCII without quotes, backslashes
// and XML's special characters.
func common(s string) bool {
	for i := range len(s) {
		if !commonByte[s[i]] {
			return false
		}
	}
	return true
}

var commonByte = func() (is [256]bool) {
	for c := ' '; c <= '~'; c++ {
		is[c] = !strings.ContainsRune(`&<>"'\`, c)
	}
	return is
}()

func entity(c byte) string {
	switch c {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '"':
		return "&quot;"
	}
	return "&#39;"
}

// AppendQuoted appends text in double quotes, valid in both JSON and DOT. Only quotes and backslashes
// need escaping, because Text has replaced control characters.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	if common(s) {
		return append(append(b, s...), '"')
	}
	s = Text(s)
	for {
		i := strings.IndexAny(s, `"\`)
		if i < 0 {
			return append(append(b, s...), '"')
		}
		b = append(append(b, s[:i]...), '\\', s[i])
		s = s[i+1:]
	}
}

// AppendCell appends text as a CSV cell (RFC 4180). A cell that a spreadsheet could take for a formula
// gets a leading apostrophe.
func AppendCell(b []byte, s string) []byte {
	s = Text(s)
	if formula(s) {
		s = "'" + s
	}
	if !strings.ContainsAny(s, `,";`) && strings.TrimSpace(s) == s {
		return append(b, s...)
	}
	b = append(b, '"')
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return append(append(b, s...), '"')
		}
		b = append(append(b, s[:i]...), '"', '"')
		s = s[i+1:]
	}
}

// formula reports whether a spreadsheet could read the cell as a formula. It ignores leading white
// space, characters without width, and quotes.
func formula(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("\uFFFD\"'", r)
	})
	r, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@|%\uff1d\uff0b\uff0d\uff20", r) && s != ""
}

// JSON escapes characters of a JSON text that are dangerous to display, without changing its meaning.
// Line breaks between tokens stay.
func JSON(text []byte) []byte {
	i := bytes.IndexFunc(text, escaped)
	if i < 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)+64), text[:i]...)
	for _, r := range string(text[i:]) {
		switch {
		case !escaped(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			out = appendEscape(appendEscape(out, 0xd800+(r-0x10000)>>10), 0xdc00+(r-0x10000)&0x3ff)
		default:
			out = appendEscape(out, r)
		}
	}
	return out
}

// escaped reports whether JSON has to escape r: it is dangerous and neither escaped already nor white
// space between tokens.
func escaped(r rune) bool { return r > '~' && dangerOf(r) != none && r != utf8.RuneError }

func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
