package page

import "bytes"

// A token is the result of [scanner.next].
type token uint8

const (
	tokenEOF   token = iota
	tokenText        // scanner.text; only while scanner.keepText
	tokenStart       // scanner.tag with scanner.attrs
	tokenEnd         // scanner.tag
)

// A scanner splits a page into tags like the tokenizer of golang.org/x/net/html, without copying: it skips
// text by searching for the next "<" and quoted values by searching for their end. Its slices are parts of
// src.
//
// It differs from that tokenizer where a parser would overrule it: the content of <noscript> is markup, as
// with scripting off, and so is that of every element of SVG and MathML, in which a CDATA section is text. A
// tag that is truncated by the end of the page is ignored.
type scanner struct {
	src []byte
	pos int // where the next token begins

	keepText bool // whether to return text tokens; set by the caller between tokens
	text     []byte
	literal  bool // the text is from a CDATA section, without entities

	tag   tag
	name  []byte     // of the tag, as written
	attrs attributes // of a start tag: its role, and all known ones if they matter for its element
	raw   []byte     // content of a start tag's element, if that is not markup

	xml     bool // a self-closing tag has no content
	nameTo  int  // end of the last tag's name
	foreign foreign
	around  around
	titled  bool // the next end tag of a title ends raw text
}

func (s *scanner) reset(src []byte) {
	*s = scanner{src: src, foreign: foreign{open: s.foreign.open[:0]}, around: around{open: s.around.open[:0]}}
}

// next reads the next token.
func (s *scanner) next() token {
	at := s.pos
	for {
		i := bytes.IndexByte(s.src[at:], '<')
		if i < 0 || at+i+1 == len(s.src) {
			return s.rest()
		}
		at += i
		kind := s.markup(at)
		if kind == markupNone {
			at++
			continue
		}
		if s.keepText && at > s.pos {
			s.text, s.pos, s.literal = s.src[s.pos:at], at, false
			return tokenText
		}
		switch kind {
		case markupStart:
			return s.start(at + 1)
		case markupEnd:
			return s.end(at + 2)
		case markupCDATA:
			if s.cdata(at + len(cdata)); s.keepText && len(s.text) > 0 {
				return tokenText
			}
		default:
			s.pos = s.comment(at, kind)
		}
		at = s.pos
	}
}

// rest returns the text after the last markup.
func (s *scanner) rest() token {
	s.text, s.pos, s.literal = s.src[s.pos:], len(s.src), false
	if s.keepText && len(s.text) > 0 {
		return tokenText
	}
	return tokenEOF
}

// A markup says what a "<" begins.
type markup uint8

const (
	markupNone  markup = iota // text
	markupStart               // <a
	markupEnd                 // </a
	markupBang                // <!
	markupCDATA               // <![CDATA[ in SVG and MathML
	markupBogus               // <? or </ before anything else: a comment
)

const cdata = "<![CDATA["

// markup examines the text after the "<" at i, which is not the last byte.
func (s *scanner) markup(i int) markup {
	switch c := s.src[i+1]; {
	case isLetter(c):
		return markupStart
	case c == '!' && s.foreign.within() && bytes.HasPrefix(s.src[i:], []byte(cdata)):
		return markupCDATA
	case c == '!':
		return markupBang
	case c == '?':
		return markupBogus
	case c != '/' || i+2 == len(s.src):
		return markupNone
	case isLetter(s.src[i+2]):
		return markupEnd
	}
	return markupBogus
}

// start reads the start tag whose name begins at i.
func (s *scanner) start(i int) token {
	end := s.nameEnd(i)
	s.name, s.nameTo = s.src[i:end], end
	s.tag = tagOf(s.name)
	if s.pos = s.readAttributes(end, s.tag.hasUse() || s.tag == tagFont); s.pos < 0 {
		s.pos = len(s.src)
		return tokenEOF
	}
	if s.tag == tagForeign && s.isShadowRoot() {
		s.tag, s.raw = tagOther, nil
		return tokenStart
	}
	if s.tag == tagForeign && !s.around.on && len(s.name) < len("template") {
		s.lookBack(i - 1)
	}
	isForeign, open := s.foreign.within(), len(s.foreign.open)
	if s.tag == tagForeign || open > 0 {
		s.enter(s.name)
		open = min(open, len(s.foreign.open))
		s.around.trim(open)
	}
	if s.around.on {
		s.open(isForeign, open)
	}
	s.raw = nil
	if s.tag.isRaw() && !isForeign && !(s.xml && s.attrs.selfClosing) {
		from := s.pos
		s.pos = s.rawEnd(from, s.name)
		s.raw = s.src[from:s.pos]
		s.titled = s.tag == tagTitle
	}
	return tokenStart
}

// isShadowRoot reports whether the last start tag is a template whose content becomes part of the document: a
// declarative shadow root (HTML, the template element's shadowrootmode).
func (s *scanner) isShadowRoot() bool {
	if !is(s.name, "template") || s.attrs.all == 0 {
		return false
	}
	for name, value := range s.eachAttribute() {
		if is(name, "shadowrootmode") {
			return means(value, "open") || means(value, "closed")
		}
	}
	return false
}

// cdata reads the text of the CDATA section that begins at i.
func (s *scanner) cdata(i int) {
	s.text, s.pos, s.literal = s.src[i:], len(s.src), true
	if n := bytes.Index(s.text, []byte("]]>")); n >= 0 {
		s.text, s.pos = s.text[:n], i+n+len("]]>")
	}
}

// enter processes a start tag. Names longer than low belong to no relevant element.
func (s *scanner) enter(name []byte) {
	var low [16]byte
	if _, styled := s.attrs.get(attrFont); styled && s.tag == tagFont {
		s.foreign.breakOut()
		return
	}
	if len(name) <= len(low) {
		s.foreign.enter(lower(low[:0], name), s.attrs.selfClosing)
	}
}

// lookBack finds the elements that are open where the first drawing of the page begins.
func (s *scanner) lookBack(to int) {
	before := scanner{src: s.src[:to], xml: s.xml, around: around{on: true, open: s.around.open}}
	for before.next() != tokenEOF {
	}
	s.around = before.around
}

// open processes a start tag in a page with drawings. isForeign reports that the tag was read in one; within
// is the number of elements of [foreign] still open around its element.
func (s *scanner) open(isForeign bool, within int) {
	around := elementNone
	if within > 0 {
		around = s.foreign.open[within-1]
	}
	isForeign = isForeign && (around == elementSVG || around == elementMath)
	switch {
	case isForeign && s.attrs.selfClosing:
	case !isForeign && len(s.foreign.open) > within && s.foreign.last() != elementTemplate:
		s.around.enter(s.name, tagForeign, true, within) // svg or math
	default:
		s.around.enter(s.name, s.tag, isForeign, within)
	}
}

// close processes an end tag.
func (s *scanner) close() {
	var low [16]byte
	within := s.foreign.within()
	if len(s.foreign.open) > 0 && len(s.name) <= len(low) && s.foreign.leave(lower(low[:0], s.name)) {
		s.around.trim(len(s.foreign.open))
		return
	}
	if !s.around.on {
		return
	}
	open, ok := s.around.leave(s.name)
	for ok && within && len(s.foreign.open) > open {
		s.foreign.pop()
	}
}

// end reads the end tag whose name begins at i.
func (s *scanner) end(i int) token {
	end := s.nameEnd(i)
	s.name, s.nameTo = s.src[i:end], end
	s.tag = tagOf(s.name)
	if s.pos = s.readAttributes(end, false); s.pos < 0 {
		s.pos = len(s.src)
		return tokenEOF
	}
	if (s.around.on || len(s.foreign.open) > 0) && !(s.tag == tagTitle && s.titled) {
		s.close()
	}
	s.titled = false
	return tokenEnd
}

func (s *scanner) nameEnd(i int) int {
	for ; i < len(s.src); i++ {
		if c := s.src[i]; c == '>' || c == '/' || isSpace(c) {
			break
		}
	}
	return i
}

// comment returns the end of the comment, doctype or processing instruction that begins at i.
func (s *scanner) comment(i int, kind markup) int {
	i += 2
	if kind == markupBogus {
		i-- // "</>" ends at once
	}
	if kind == markupBang && bytes.HasPrefix(s.src[i:], []byte("--")) {
		return s.commentEnd(i + 2)
	}
	if n := bytes.IndexByte(s.src[i:], '>'); n >= 0 {
		return i + n + 1
	}
	return len(s.src)
}

// commentEnd returns the end of a comment whose text begins at from: after "-->" or "--!>", or after an
// initial ">" or "->".
func (s *scanner) commentEnd(from int) int {
	for i := from; ; i++ {
		n := bytes.IndexByte(s.src[i:], '>')
		if n < 0 {
			return len(s.src)
		}
		i += n
		text := s.src[from:i]
		if bytes.HasSuffix(text, []byte("--")) || bytes.HasSuffix(text, []byte("--!")) ||
			len(text) == 0 || len(text) == 1 && text[0] == '-' {
			return i + 1
		}
	}
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool {
	const spaces = 1<<' ' | 1<<'\n' | 1<<'\t' | 1<<'\r' | 1<<'\f'
	return c <= ' ' && spaces>>c&1 != 0
}
