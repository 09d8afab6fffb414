package page

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// mostShown is how much text is compared, in bytes. Longer pages are compared by SimHash.
const mostShown = 64 << 10

// shown collects what a page shows.
type shown struct {
	text  []byte
	low   []byte // text in lower case
	words []byte // of low, with a space after each
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

// sum returns the hash of the page's visible text and its title, with its own address masked; 0 if there is too much
// text.
func (s *shown) sum(title, pathQuery string) schema.Shown {
	if s.over {
		return 0
	}
	s.low = append(append(s.low[:0], strings.ToLower(title)...), '\n')
	s.low = appendLowered(s.low, s.text)
	s.words = appendWords(s.words[:0], missing.NewMask(pathQuery).Replace(s.low))
	return schema.Shown(max(xxh3.Hash(s.words), 1))
}

// appendWords appends the words of text to dst, each with a space after it. What is volatile becomes "0".
func appendWords(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		from, digits := i, byte(0)
		for ; i < len(text) && shownClass[text[i]] <= classDigit; i++ {
			digits |= shownClass[text[i]]
		}
		space := 1
		if i < len(text) && text[i] >= utf8.RuneSelf {
			i, space = nextSpace(text, i)
			digits = classDigit // perhaps
		}
		switch word := text[from:i]; {
		case len(word) == 0:
		case digits != 0 && isVolatile(word):
			dst = append(dst, '0', ' ')
		default:
			dst = append(append(dst, word...), ' ')
		}
		i += space
	}
	return dst
}

// nextSpace returns where the next white space from i on begins, and its length; the end of the text if there is none.
func nextSpace(text []byte, i int) (at, length int) {
	for i < len(text) {
		r, size := utf8.DecodeRune(text[i:])
		if unicode.IsSpace(r) {
			return i, size
		}
		i += size
	}
	return i, 0
}

// The classes of bytes in what a page shows. Those up to classDigit are part of a word.
const (
	classOther byte = iota
	classDigit
	classSpace
	classUnicode
)

var shownClass = func() (t [256]byte) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9':
			t[c] = classDigit
		case c >= utf8.RuneSelf:
			t[c] = classUnicode
		case unicode.IsSpace(rune(c)):
			t[c] = classSpace
		}
	}
	return t
}()

// appendLowered appends text to dst in lower case and without entities.
func appendLowered(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		for ; i+8 <= len(text); i += 8 {
			group, plain := lowerGroup(binary.LittleEndian.Uint64(text[i:]))
			if !plain {
				break
			}
			dst = binary.LittleEndian.AppendUint64(dst, group)
		}
		if i == len(text) {
			break
		}
		switch c := text[i]; {
		case c == '&':
			n := 1 + entityTail(text[i+1:])
			dst = append(dst, strings.ToLower(html.UnescapeString(string(text[i:i+n])))...)
			i += n
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[i:])
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
			i += size
		case 'A' <= c && c <= 'Z':
			dst = append(dst, c+'a'-'A')
			i++
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// lowerGroup returns eight bytes with the ASCII letters in lower case, and whether they are plain: ASCII, and no "&".
func lowerGroup(group uint64) (lower uint64, plain bool) {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	amps := group ^ ones*'&'
	capitals := (group + ones*(0x80-'A')) &^ (group + ones*(0x7f-'Z')) & tops
	return group | capitals>>2, (group|(amps-ones)&^amps)&tops == 0
}

// isVolatile reports whether a word changes with every request: a time, a date, a duration, or the number of the
// request.
func isVolatile(word []byte) bool {
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
	case bytes.IndexByte(word, ':') >= 0 || bytes.Count(word, []byte("-")) == 2: // a time or a date
		return digits >= 3
	case bytes.IndexByte(word, '.') >= 0: // a duration
		_, fraction, _ := bytes.Cut(word, []byte("."))
		return letters == 0 && len(fraction) > 3
	}
	return digits >= 9 || letters > 0 && digits+letters >= 12
}
