package page

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// attributeValue decodes a value as written: entities as in an attribute, line ends to "\n", NUL to U+FFFD.
func attributeValue(raw string) string {
	raw = strings.ReplaceAll(raw, "\r\n", "\n")
	raw = strings.ReplaceAll(raw, "\r", "\n")
	raw = strings.ReplaceAll(raw, "\x00", "\ufffd")
	if strings.IndexByte(raw, '&') < 0 {
		return raw
	}
	return unescapeAttribute(raw)
}

// means reports whether a value as written is word, ignoring case.
func means(raw []byte, word string) bool {
	const longest = len("&#x0000;") // likely longest spelling of one letter
	return len(word) <= len(raw) && len(raw) <= longest*len(word) &&
		strings.EqualFold(attributeValue(string(raw)), word)
}

// asWritten is the inverse of attributeValue.
func asWritten(value string) []byte { return []byte(strings.ReplaceAll(value, "&", "&amp;")) }

// unescapeAttribute decodes entities according to the rules for attributes, where "&copy=1" and "&copyright"
// are not copyright signs. [html.UnescapeString] follows the rules for text, so it gets one complete entity
// at a time.
func unescapeAttribute(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := entityLength(s)
		b.WriteString(unescapeEntity(s[:n], s[n:]))
		s = s[n:]
	}
}

// entityLength returns the length of a possible entity at the start of s, which begins with "&".
func entityLength(s string) int {
	i := 1
	if i < len(s) && s[i] == '#' {
		i++
	}
	for i < len(s) && (isLetter(s[i]) || '0' <= s[i] && s[i] <= '9') {
		i++
	}
	if i < len(s) && s[i] == ';' {
		i++
	}
	return i
}

// unescapeEntity returns the characters of an entity, or the text itself if it is not one.
func unescapeEntity(entity, rest string) string {
	const longestBare = len("&Aacute") // of entities without a semicolon
	switch bare := !strings.HasSuffix(entity, ";"); {
	case entity == "&amp;":
		return "&"
	case len(entity) < len("&lt"):
		return entity
	case entity[1] == '#':
		return html.UnescapeString(entity)
	case bare && (len(entity) > longestBare || strings.HasPrefix(rest, "=")):
		return entity
	case bare:
		// A name that merely begins with an entity's name yields more than one rune.
		if s := html.UnescapeString(entity); utf8.RuneCountInString(s) == 1 {
			return s
		}
		return entity
	}
	// For an unknown entity, the result retains the semicolon.
	if s := html.UnescapeString(entity); !strings.HasSuffix(s, ";") || entity == "&semi;" {
		return s
	}
	return entity
}

// unescapeText decodes the entities of a piece of text; it reads at most max bytes, not counting leading
// white space.
func unescapeText(raw []byte, max int) []byte {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n\f"); len(raw)-len(trimmed) > 1 {
		raw = raw[len(raw)-len(trimmed)-1:] // one is kept, since it separates words
	}
	if len(raw) > max {
		raw = raw[:max]
	}
	if bytes.IndexByte(raw, '&') < 0 {
		return raw
	}
	return []byte(html.UnescapeString(string(raw)))
}
