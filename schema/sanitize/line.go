package sanitize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes text safe for one line of a terminal, a log or a page, and for the store. Dangerous
// characters are removed, except that an invalid byte shows as U+FFFD. White space is folded. The
// result has at most most bytes.
func Line(s string, most int) string {
	if len(s) <= most && plain(s) {
		return s
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = b.Len() > 0
			continue
		}
		if d := dangerOf(r); d != none && d != unread {
			continue
		}
		if space {
			if b.Len()+1+utf8.RuneLen(r) > most {
				break
			}
			b.WriteByte(' ')
			space = false
		}
		if b.Len()+utf8.RuneLen(r) > most {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain reports whether s is printable ASCII with single inner spaces.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return printable(s)
}
