package page

import (
	"bytes"
	"iter"
)

// An attr is an attribute with a meaning for links or for the page.
type attr uint8

const (
	attrHref attr = iota
	attrSrc
	attrRel
	attrType
	attrAlt
	attrName
	attrContent
	attrHTTPEquiv
	attrDownload
	attrXlinkHref
	attrRole
	attrFont // color, face, size: a <font> with one of these ends SVG and MathML
	attrNone
)

// attributes holds the attributes of one start tag; the first of each name counts. Values are as written,
// with entities.
type attributes struct {
	has         uint16
	selfClosing bool
	all         int // number of attributes of the tag
	values      [attrNone][]byte
}

// get returns the value of an attribute and whether the tag has it.
func (a *attributes) get(name attr) ([]byte, bool) {
	if a.has&(1<<name) == 0 {
		return nil, false
	}
	return a.values[name], true
}

// reset forgets the attributes of the previous tag.
func (a *attributes) reset() { a.has, a.selfClosing, a.all = 0, false, 0 }

func (a *attributes) set(name attr, value []byte) {
	if name == attrNone || a.has&(1<<name) != 0 {
		return
	}
	a.has |= 1 << name
	a.values[name] = value
}

// attrOf recognizes a name, ignoring case.
func attrOf(name []byte) attr {
	var low [10]byte
	if len(name) < 3 || len(name) > len(low) {
		return attrNone
	}
	switch string(lower(low[:0], name)) {
	case "href":
		return attrHref
	case "src":
		return attrSrc
	case "rel":
		return attrRel
	case "alt":
		return attrAlt
	case "role":
		return attrRole
	case "name":
		return attrName
	case "type":
		return attrType
	case "content":
		return attrContent
	case "http-equiv":
		return attrHTTPEquiv
	case "download":
		return attrDownload
	case "color", "face", "size":
		return attrFont
	case "xlink:href":
		return attrXlinkHref
	}
	return attrNone
}

// readAttributes reads from i, after a tag's name, to after its ">". It returns the position there, or -1 if
// the page ends first. It stores all known attributes in s.attrs if keep is set, and otherwise only the role.
func (s *scanner) readAttributes(i int, keep bool) int {
	s.attrs.reset()
	last := 0 // end of the previous value
	for {
		i = s.skipSpace(i)
		if i == len(s.src) {
			return -1
		}
		if s.src[i] == '>' {
			s.attrs.selfClosing = s.src[i-1] == '/' && last != i
			return i + 1
		}
		s.attrs.all++
		nameEnd := s.attrNameEnd(i)
		from, to, next := s.readValue(nameEnd)
		if next < 0 {
			return -1
		}
		if keep || nameEnd-i == len("role") && s.src[i]|0x20 == 'r' {
			s.attrs.set(attrOf(s.src[i:nameEnd]), s.src[from:to])
		}
		last, i = to, next
	}
}

// eachAttribute yields all attributes of the last start tag, as written.
func (s *scanner) eachAttribute() iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := s.skipSpace(s.nameTo); i < len(s.src) && s.src[i] != '>'; i = s.skipSpace(i) {
			nameEnd := s.attrNameEnd(i)
			from, to, next := s.readValue(nameEnd)
			if next < 0 || !yield(s.src[i:nameEnd], s.src[from:to]) {
				return
			}
			i = next
		}
	}
}

// attrNameEnd returns the end of the attribute name that begins at i. A leading equals sign belongs to the
// name; a slash is an empty name.
func (s *scanner) attrNameEnd(i int) int {
	from := i
	for ; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '>' || c == '/' || isSpace(c) || c == '=' && i > from:
			return i
		}
	}
	return i
}

// readValue reads the value after an attribute's name, which ends at i. It returns the value s.src[from:to],
// empty if there is none, and the position after it, or -1 if the page ends first.
func (s *scanner) readValue(i int) (from, to, next int) {
	at := s.skipSpace(i)
	if at == len(s.src) {
		return i, i, -1
	}
	switch s.src[at] {
	case '/':
		return i, i, at + 1
	case '=':
	default:
		return i, i, at
	}
	if at = s.skipSpace(at + 1); at == len(s.src) {
		return i, i, -1
	}
	switch quote := s.src[at]; quote {
	case '>':
		return i, i, at
	case '"', '\'':
		n := bytes.IndexByte(s.src[at+1:], quote)
		if n < 0 {
			return i, i, -1
		}
		return at + 1, at + 1 + n, at + n + 2
	}
	from = at
	for at++; at < len(s.src); at++ {
		if c := s.src[at]; c == '>' || isSpace(c) {
			return from, at, at
		}
	}
	return i, i, -1
}

func (s *scanner) skipSpace(i int) int {
	for i < len(s.src) && isSpace(s.src[i]) {
		i++
	}
	return i
}

// lower returns name with its ASCII letters in lower case: name itself if there are no others, or else appended to dst,
// which is empty.
func lower(dst, name []byte) []byte {
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			return appendLower(append(dst, name[:i]...), name[i:])
		}
	}
	return name
}

func appendLower(dst, name []byte) []byte {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
