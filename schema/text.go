package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from a peer fit for a log, a terminal or the store: valid
// UTF-8 without control characters, line breaks or direction overrides, white
// space folded, at most max bytes.
func Clean(s string, max int) string {
	if len(s) <= max && plain(s) {
		return s
	}
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r == utf8.RuneError || unicode.IsControl(r) || hidden(r):
			continue
		}
		if space {
			if b.Len()+1+utf8.RuneLen(r) > max {
				break
			}
			b.WriteByte(' ')
			space = false
		}
		if b.Len()+utf8.RuneLen(r) > max {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain reports whether s is printable ASCII with single inner spaces.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < ' ' || c > '~' {
			return false
		}
		if c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

// hidden reports the direction marks, overrides and non-characters that could
// make text read otherwise than it is.
func hidden(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff, r == 0x061c:
		return true
	}
	return r&0xfffe == 0xfffe
}
