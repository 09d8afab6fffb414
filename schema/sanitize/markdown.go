package sanitize

import (
	"strings"
	"unicode/utf8"
)

// Markdown makes text safe for a line of Markdown by escaping every character that could begin markup.
// The text has at most most bytes before escaping; a longer one ends in "...". Bare URLs stay readable:
// if a renderer links them, the link leads where the text says.
func Markdown(s string, most int) string {
	cut := len(s) > most
	s = Line(s, most)
	if cut {
		s += "..."
	}
	if !strings.ContainsAny(s, "\\`*_{}[]<>#+!|~&$^=-.)") {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '<' || r == '>' || r == '&':
			b.WriteString(entity(byte(r)))
			continue
		case begins(s, i, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// begins reports whether the character at position i could begin markup.
func begins(s string, i int, r rune) bool {
	switch r {
	case '\\', '`', '*', '{', '}', '[', ']', '|', '~', '^', '$':
		return true
	case '(':
		return i > 0 && s[i-1] == ']'
	case '_', '!':
		return !between(s, i)
	case '#', '+', '=', '-':
		return i == 0
	case '.', ')': // after a number they begin a list
		return i > 0 && strings.Trim(s[:i], "0123456789") == "" && strings.HasPrefix(s[i+1:]+" ", " ")
	}
	return false
}

// between reports whether the byte at i is between letters or digits, where an underscore does not mark
// emphasis.
func between(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isWord(s[i-1]) && isWord(s[i+1])
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}
