package robots

import (
	"bytes"
	"strings"
)

// A rule is one Allow or Disallow. It holds offsets into [Rules].text instead of strings, so that a file of
// 50,000 rules stays small and free of pointers.
type rule struct {
	lineAt, lineEnd       uint32
	patternAt, patternEnd uint32 // normalised; runs of "*" are one, a final "*" or "$" is omitted
	length                int32  // in octets, normalised, including "*" and "$": determines which rule wins
	lineNo                int32
	allow                 bool
	anchored              bool // the pattern must reach the end
	wild                  bool // the pattern contains a "*"
}

// normalize appends the pattern of a rule's value and sets the other fields.
func (r *rule) normalize(dst []byte, value string) []byte {
	r.anchored = strings.HasSuffix(value, "$")
	value = strings.TrimSuffix(value, "$")
	var stars int
	dst, stars = appendNormal(dst, value, spelling{wildcards: true, plainQuery: true})
	r.length = int32(len(dst) + stars)
	if r.anchored {
		r.length++
	}
	if n := len(dst); n > 0 && dst[n-1] == '*' {
		dst, r.anchored = dst[:n-1], false
	}
	r.wild = bytes.IndexByte(dst, '*') >= 0
	return dst
}

// place appends a rule's line and pattern to a text and stores their positions. The pattern is usually part
// of the line.
func (r *rule) place(text []byte, l line, pattern string) []byte {
	r.lineAt = uint32(len(text))
	text = append(text, l.text...)
	r.lineEnd = uint32(len(text))
	if strings.HasPrefix(l.value, pattern) && strings.HasSuffix(l.text, l.value) {
		r.patternAt = r.lineEnd - uint32(len(l.value))
		r.patternEnd = r.patternAt + uint32(len(pattern))
		return text
	}
	r.patternAt = r.lineEnd
	text = append(text, pattern...)
	r.patternEnd = uint32(len(text))
	return text
}

// A target is the path and query that rules are matched against.
type target struct {
	form
	other form // the same with encoded "/" and "?" of the query kept; empty if there are none
}

// A form is one spelling of a target.
type form struct {
	path  string
	grams *grams // nil if not worthwhile
}

func newTarget(pathQuery string) target {
	pathQuery, _, _ = strings.Cut(pathQuery, "#")
	if !strings.HasPrefix(pathQuery, "/") {
		pathQuery = "/" + pathQuery
	}
	if isNormal(pathQuery) {
		return target{form: form{path: pathQuery}}
	}
	plain, _ := appendNormal(nil, pathQuery, spelling{plainQuery: true})
	kept, _ := appendNormal(nil, pathQuery, spelling{})
	t := target{form: form{path: string(plain)}}
	if string(kept) != t.path {
		t.other.path = string(kept)
	}
	return t
}

// index prepares the target for many wildcard rules.
func (t *target) index() {
	t.grams = newGrams(t.path)
	t.other.grams = newGrams(t.other.path)
}

// matches reports whether a rule matches the target. Both forms are tried: in a rule that begins with "*", a
// "%2F" may be in a path, where it differs from "/", or in a query, where it does not.
func (t *target) matches(pattern string, r *rule) bool {
	return t.form.matches(pattern, r) || t.other.path != "" && t.other.matches(pattern, r)
}

// matches matches from the left, with the first occurrence of each part between two "*". A later occurrence
// never helps, so there is no backtracking.
func (f *form) matches(pattern string, r *rule) bool {
	path := f.path
	if !r.wild {
		return strings.HasPrefix(path, pattern) && (!r.anchored || len(path) == len(pattern))
	}
	star := strings.IndexByte(pattern, '*')
	if !strings.HasPrefix(path, pattern[:star]) || f.grams.excludes(pattern, star) {
		return false
	}
	rest := path[star:]
	for pattern = pattern[star+1:]; ; {
		part, after, more := strings.Cut(pattern, "*")
		if !more && r.anchored {
			return strings.HasSuffix(rest, part)
		}
		i := strings.Index(rest, part)
		if i < 0 || !more {
			return i >= 0
		}
		rest, pattern = rest[i+len(part):], after
	}
}

// A spelling determines how appendNormal writes what has two spellings.
type spelling struct {
	wildcards  bool // "*" is a wildcard; otherwise it is a literal character, written %2A
	plainQuery bool // "/" and "?" in a query are written unencoded, even if they were encoded
}

// appendNormal appends s in the spelling in which rules and paths are compared (RFC 9309, section 2.2.2):
// what needs no encoding is decoded, everything else is encoded with upper-case digits. An encoded "/" in a
// path stays distinct from a plain one. Runs of wildcards become one; dropped counts those removed.
func appendNormal(dst []byte, s string, how spelling) (_ []byte, dropped int) {
	query := false
	for i := 0; i < len(s); i++ {
		c, encoded := s[i], false
		if v, ok := hexByte(s[i:]); ok {
			c, encoded = v, true
			i += 2
		}
		switch {
		case isPlain(c), !encoded && isDelimiter(c), how.plainQuery && query && (c == '/' || c == '?'):
			dst = append(dst, c)
		case c == '*' && !encoded && how.wildcards:
			if n := len(dst); n > 0 && dst[n-1] == '*' {
				dropped++
				continue
			}
			dst = append(dst, c)
		default:
			dst = append(dst, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
		}
		query = query || c == '?' && !encoded
	}
	return dst, dropped
}

// isNormal reports that appendNormal would not change a path.
func isNormal(s string) bool {
	for i := range len(s) {
		if !isPlain(s[i]) && !isDelimiter(s[i]) {
			return false
		}
	}
	return true
}

// isPlain reports a character that means the same whether encoded or not.
func isPlain(c byte) bool {
	return isAlphanumeric(c) || strings.IndexByte("-._~:@!'(),", c) >= 0
}

// isDelimiter reports a character allowed in a URL that means something else when encoded.
func isDelimiter(c byte) bool { return strings.IndexByte("/?&=+;", c) >= 0 }

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// hexByte decodes an escape such as "%41" at the start of s.
func hexByte(s string) (byte, bool) {
	if len(s) < 3 || s[0] != '%' {
		return 0, false
	}
	high, low := unhex(s[1]), unhex(s[2])
	return high<<4 | low, high < 16 && low < 16
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}
