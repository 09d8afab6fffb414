package summary

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sumi-ripple/ripple/schema"
)

// maxText bounds a text from a peer in bytes.
const maxText = 300

// inert makes a text from a peer, or from the configuration, mean nothing but
// itself in Markdown: on one line, without control characters, and with every
// character that could begin markup escaped. Bare URLs stay readable; what a
// renderer may make of them leads where they say.
func inert(s string) string {
	cut := len(s) > maxText
	s = schema.Clean(strings.ToValidUTF8(s, "\uFFFD"), maxText)
	if cut {
		s += "..."
	}
	if !strings.ContainsAny(s, "\\`*_{}[]<>#+!|~&$^=-") {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch r {
		case '<':
			b.WriteString("&lt;")
			continue
		case '>':
			b.WriteString("&gt;")
			continue
		case '&':
			b.WriteString("&amp;")
			continue
		case '\\', '`', '*', '{', '}', '[', ']', '|', '~', '^', '$':
			b.WriteByte('\\')
		case '(':
			if i > 0 && s[i-1] == ']' {
				b.WriteByte('\\')
			}
		case '_', '!':
			if !between(s, i) {
				b.WriteByte('\\')
			}
		case '#', '+', '=', '-':
			if i == 0 {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// between reports whether a byte stands between letters or digits, where an
// underscore is no emphasis.
func between(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isWord(s[i-1]) && isWord(s[i+1])
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// count writes a number with thousands commas.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// counted writes a number with the word for what is counted.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// moment writes a time, or a dash for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// span writes a duration as hours, minutes and seconds: 4h 15m 23s.
func span(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	switch {
	case s >= 3600:
		return strconv.Itoa(s/3600) + "h " + strconv.Itoa(s/60%60) + "m " + strconv.Itoa(s%60) + "s"
	case s >= 60:
		return strconv.Itoa(s/60) + "m " + strconv.Itoa(s%60) + "s"
	}
	return strconv.Itoa(s) + "s"
}
