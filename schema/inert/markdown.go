package inert

import (
	"strings"
	"unicode/utf8"
)

// Markdown makes text fit for a line of Markdown, at most so many bytes before it
// is escaped: every character that could begin markup is. Bare URLs stay readable;
// what a renderer may make of them leads where they say.
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

// begins reports whether the character at a place could begin markup.
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
	case '.', ')': // behind a number they begin a list
		return i > 0 && strings.Trim(s[:i], "0123456789") == "" && strings.HasPrefix(s[i+1:]+" ", " ")
	}
	return false
}

// between reports whether a byte stands between letters or digits, where an
// underscore is no emphasis.
func between(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isWord(s[i-1]) && isWord(s[i+1])
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}
