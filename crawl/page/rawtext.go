package page

import "bytes"

// rawEnd returns the end of the text of a raw element that begins at i: its end tag, or the end of the page.
func (s *scanner) rawEnd(i int, name []byte) int {
	switch s.tag {
	case tagPlaintext:
		return len(s.src)
	case tagScript:
		return s.scriptEnd(i)
	}
	for {
		n := bytes.Index(s.src[i:], []byte("</"))
		if n < 0 {
			return len(s.src)
		}
		if i += n; s.named(i+2, name) {
			return i
		}
		i += 2
	}
}

// named reports whether the tag name at i is name, ignoring case.
func (s *scanner) named(i int, name []byte) bool {
	end := i + len(name)
	if end >= len(s.src) || !bytes.EqualFold(s.src[i:end], name) {
		return false
	}
	c := s.src[end]
	return c == '>' || c == '/' || isSpace(c)
}

// scriptEnd returns the end of the script that begins at i. An end tag counts outside and inside comments,
// but in a comment not between the start tag of another script and its end tag.
func (s *scanner) scriptEnd(i int) int {
	for {
		n := bytes.IndexByte(s.src[i:], '<')
		if n < 0 {
			return len(s.src)
		}
		i += n
		switch rest := s.src[i+1:]; {
		case s.endsScript(i):
			return i
		case bytes.HasPrefix(rest, []byte("!--")):
			var ended bool
			if i, ended = s.scriptComment(i + len("<!--")); ended {
				return i
			}
		default:
			i++
		}
	}
}

func (s *scanner) endsScript(i int) bool {
	return i+1 < len(s.src) && s.src[i+1] == '/' && s.named(i+2, []byte("script"))
}

// scriptComment reads a comment in a script; its text begins at i. It returns the end of the comment, or of
// the script if that ends first.
//
// Outside an inner script, a "<" before anything but a letter or a slash ends the comment: that is not in the
// standard, but what x/net/html does.
func (s *scanner) scriptComment(i int) (next int, ended bool) {
	inner, dashes := false, 2
	for ; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '-':
			dashes++
			continue
		case c == '>' && dashes >= 2:
			return i + 1, false
		case c != '<' || i+1 == len(s.src):
		case inner:
			inner = !s.endsScript(i)
		case s.endsScript(i):
			return i, true
		case s.named(i+1, []byte("script")):
			inner = true
		case s.src[i+1] != '/' && !isLetter(s.src[i+1]):
			return i + 1, false
		}
		dashes = 0
	}
	return len(s.src), true
}
