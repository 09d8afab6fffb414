package graph

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// clean makes any bytes text: a line break or tab becomes a space, and what is no
// character, or changes how others read, U+FFFD.
func clean(s string) string {
	if printable(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029:
			return ' '
		case r < ' ' || r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// printable reports whether s is printable ASCII.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// appendXML appends text as it stands in an element or between double quotes.
func appendXML(b []byte, s string) []byte {
	s = clean(s)
	for {
		i := strings.IndexAny(s, `&<>"'`)
		if i < 0 {
			return append(b, s...)
		}
		b = append(b, s[:i]...)
		switch s[i] {
		case '&':
			b = append(b, "&amp;"...)
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '"':
			b = append(b, "&quot;"...)
		default:
			b = append(b, "&#39;"...)
		}
		s = s[i+1:]
	}
}

// appendQuoted appends text between double quotes as JSON and DOT read it alike:
// only quotes and backslashes are escaped, there is nothing else to escape.
func appendQuoted(b []byte, s string) []byte {
	s = clean(s)
	b = append(b, '"')
	for {
		i := strings.IndexAny(s, `"\`)
		if i < 0 {
			return append(append(b, s...), '"')
		}
		b = append(append(b, s[:i]...), '\\', s[i])
		s = s[i+1:]
	}
}

// AppendCell appends text as a cell of CSV (RFC 4180). What a spreadsheet could
// take for a formula begins with an apostrophe.
func AppendCell(b []byte, s string) []byte {
	s = clean(s)
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

// formula reports whether a cell could be read as one.
func formula(s string) bool {
	s = strings.TrimLeft(s, " \u00a0\u3000\uFFFD\ufeff\"'")
	r, _ := utf8.DecodeRuneInString(s)
	return strings.ContainsRune("=+-@|%\uff1d\uff0b\uff0d\uff20", r) && s != ""
}

// appendReal spells a number as XML Schema does.
func appendReal(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "INF"...)
	case math.IsInf(f, -1):
		return append(b, "-INF"...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}
