package page

import (
	"bytes"
	"strings"

	"github.com/zeebo/xxh3"
	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// mostShown is how much text is compared, in bytes. Pages with more of it are told apart by their SimHash.
const mostShown = 64 << 10

// shown collects what a page shows.
type shown struct {
	text  []byte
	words []byte // that are hashed next, to hash many at once
	over  bool
}

func (s *shown) reset() { s.text, s.over = s.text[:0], false }

// add adds text, or the address of an image.
func (s *shown) add(text []byte) {
	if s.over = s.over || len(s.text)+len(text) > mostShown; !s.over {
		s.text = append(s.text, text...)
	}
}

// separate ends a word.
func (s *shown) separate() {
	if n := len(s.text); n > 0 && s.text[n-1] != ' ' {
		s.text = append(s.text, ' ')
	}
}

// addShown adds text, or the address of an image, to what the page shows. Asides, which are often advertisements, do
// not count.
func (e *Extractor) addShown(text []byte) {
	if e.nesting.place() != schema.PlaceAside && e.scan.foreign.count[elementTemplate] == 0 {
		e.shown.add(text)
	}
}

// hashedAtOnce is the number of bytes of words from which on they are hashed. Word by word, hashing takes four times as
// long.
const hashedAtOnce = 4096

// sum returns the hash of what the page with a path and query shows under a title; 0: too much.
func (s *shown) sum(title, pathQuery string) schema.Shown {
	if s.over {
		return 0
	}
	text := strings.ToLower(title) + "\n" + lowered(s.text)
	text = missing.NewMask(pathQuery).Replace(text)
	var h xxh3.Hasher
	for word := range strings.FieldsSeq(text) {
		if isVolatile(word) {
			word = "0"
		}
		if s.words = append(append(s.words, word...), ' '); len(s.words) >= hashedAtOnce {
			h.Write(s.words)
			s.words = s.words[:0]
		}
	}
	h.Write(s.words)
	s.words = s.words[:0]
	return schema.Shown(max(h.Sum64(), 1))
}

// lowered returns text in lower case, without entities.
func lowered(text []byte) string {
	if bytes.IndexByte(text, '&') >= 0 {
		return strings.ToLower(html.UnescapeString(string(text)))
	}
	return string(bytes.ToLower(text))
}

// isVolatile reports whether a word changes with every request: a time, a date, a duration, or the number of the
// request.
func isVolatile(word string) bool {
	digits, letters, signs := 0, 0, 0
	for i := range len(word) {
		switch c := word[i]; {
		case '0' <= c && c <= '9':
			digits++
		case 'a' <= c && c <= 'f':
			letters++
		case c == ':' || c == '.' || c == '-' || c == 't' || c == 'z' || c == '+' || c == ',':
			signs++
		default:
			if i < len(word)-1 || c != ')' && c != ']' {
				return false
			}
		}
	}
	switch {
	case digits == 0:
		return false
	case strings.Contains(word, ":") || strings.Count(word, "-") == 2: // a time or a date
		return digits >= 3
	case strings.Contains(word, "."): // a duration
		_, fraction, _ := strings.Cut(word, ".")
		return letters == 0 && len(fraction) > 3
	}
	return digits >= 9 || letters > 0 && digits+letters >= 12
}
