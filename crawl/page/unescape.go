package page

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// attributeValue is what a value as written says: entities read as in an
// attribute, line ends brought to "\n", NUL to U+FFFD.
func attributeValue(raw string) string {
	raw = strings.ReplaceAll(raw, "\r\n", "\n")
	raw = strings.ReplaceAll(raw, "\r", "\n")
	raw = strings.ReplaceAll(raw, "\x00", "\ufffd")
	if strings.IndexByte(raw, '&') < 0 {
		return raw
	}
	return unescapeAttribute(raw)
}

// means reports whether a value as written says word, in any case.
func means(raw []byte, word string) bool {
	const longest = len("&#x0000;") // that one letter is likely written with
	return len(word) <= len(raw) && len(raw) <= longest*len(word) &&
		strings.EqualFold(attributeValue(string(raw)), word)
}

// asWritten is how a value could be written; attributeValue reads it back.
func asWritten(value string) []byte { return []byte(strings.ReplaceAll(value, "&", "&amp;")) }

// unescapeAttribute reads entities as the standard wants it in attributes, where
// "&copy=1" and "&copyright" are no copyright signs: [html.UnescapeString] reads
// them as in text, so it is given one whole entity at a time.
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

// entityLength is the length of what may be an entity at the start of s, which
// begins with "&".
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

// unescapeEntity returns what an entity stands for, or the entity if it is none.
func unescapeEntity(entity, rest string) string {
	const longestBare = len("&Aacute") // of those without a semicolon
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
		// A name that only begins with an entity's leaves more than its one rune.
		if s := html.UnescapeString(entity); utf8.RuneCountInString(s) == 1 {
			return s
		}
		return entity
	}
	// Here it leaves the semicolon.
	if s := html.UnescapeString(entity); !strings.HasSuffix(s, ";") || entity == "&semi;" {
		return s
	}
	return entity
}

// unescapeText reads the entities of a piece of text, of which at most max bytes
// are looked at, white space at its start not counted.
func unescapeText(raw []byte, max int) []byte {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n\f"); len(raw)-len(trimmed) > 1 {
		raw = raw[len(raw)-len(trimmed)-1:] // one is kept, it separates words
	}
	if len(raw) > max {
		raw = raw[:max]
	}
	if bytes.IndexByte(raw, '&') < 0 {
		return raw
	}
	return []byte(html.UnescapeString(string(raw)))
}
