package page

import (
	"bytes"
	"regexp"
	"sync"
)

const maxPrefixes = 8 // prefixes of a page for the elements of XHTML

// xhtmlPrefix finds a prefix that an XML page declares for the elements of XHTML.
var xhtmlPrefix = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\sxmlns:([\pL_][\pL\pN_.-]*)\s*=\s*["']http://www\.w3\.org/1999/xhtml["']`)
})

// unprefixed removes the prefixes that a page declares for XHTML from its tags, as in HTML (Namespaces in
// XML, section 3).
func unprefixed(text []byte) []byte {
	for _, m := range xhtmlPrefix().FindAllSubmatch(text, maxPrefixes) {
		text = bytes.ReplaceAll(text, append(append([]byte("<"), m[1]...), ':'), []byte("<"))
		text = bytes.ReplaceAll(text, append(append([]byte("</"), m[1]...), ':'), []byte("</"))
	}
	return text
}

// textual rewrites the CDATA sections of an XML page, which are text whatever they hold (XML 1.0, section 2.7), as
// escaped text.
func textual(text []byte) []byte {
	begin, end := []byte("<![CDATA["), []byte("]]>")
	if !bytes.Contains(text, begin) {
		return text
	}
	var out []byte
	for {
		before, rest, found := bytes.Cut(text, begin)
		if out = append(out, before...); !found {
			return out
		}
		section, behind, _ := bytes.Cut(rest, end)
		section = bytes.ReplaceAll(section, []byte("&"), []byte("&amp;"))
		out = append(out, bytes.ReplaceAll(section, []byte("<"), []byte("&lt;"))...)
		text = behind
	}
}

// closed rewrites an XML page so that it reads the same as HTML. In HTML, a tag like <script/> is a start tag
// whose element ends at its end tag; in XML it is the whole element (XML 1.0, section 3.1). Other differences
// between the two remain.
func closed(text []byte) []byte {
	if !bytes.Contains(text, []byte("/>")) {
		return text
	}
	var s scanner
	s.reset(text)
	s.xml = true
	out, done := make([]byte, 0, len(text)+len(text)/8), 0
	for {
		switch s.next() {
		case tokenStart:
			if !s.attrs.selfClosing || s.foreign.within() || isVoid(s.name) {
				continue
			}
			out = append(append(append(out, text[done:s.pos]...), "</"...), s.name...)
			out, done = append(out, '>'), s.pos
		case tokenEOF:
			return append(out, text[done:]...)
		}
	}
}

// isVoid reports an element that has no end tag in HTML, or needs none: svg and math are self-closing there,
// too.
func isVoid(name []byte) bool {
	var low [8]byte
	if len(name) > len(low) {
		return false
	}
	switch string(lower(low[:0], name)) {
	case "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
		"meta", "param", "source", "track", "wbr", "svg", "math":
		return true
	}
	return false
}
