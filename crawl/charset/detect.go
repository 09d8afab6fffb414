package charset

import (
	"bytes"
	"unicode/utf8"
)

// prologue is the length of the part of a page that is searched for a declaration.
const prologue = 1024

// OfHTML determines the encoding of a page whose response has the given label. In order of precedence it is:
// that of the byte order mark; the label's; that of a <meta> or else of an XML declaration in the first 1,024
// bytes; UTF-8, if the bytes are valid and not all ASCII; that of a later <meta>; a guess from the bytes;
// windows-1252.
func OfHTML(body []byte, label string) Encoding {
	if e, ok := told(body, label); ok {
		return e
	}
	head := body[:min(len(body), prologue)]
	if e, ok := ofMeta(head); ok {
		return e
	}
	if e, ok := ofDeclaration(head); ok {
		return e
	}
	if utf8.Valid(body) && !isASCII(body) {
		return named(utf8Name)
	}
	if e, ok := ofLateMeta(body); ok {
		return e
	}
	if isASCII(body) {
		return named("windows-1252")
	}
	return guess(body)
}

// OfXML determines the encoding of an XML page, in which a <meta> does not count and UTF-8 needs no
// declaration. A page that is neither declared nor UTF-8 is not XML, and there a <meta> does count.
func OfXML(body []byte, label string) Encoding {
	if e, ok := told(body, label); ok {
		return e
	}
	head := body[:min(len(body), prologue)]
	if e, ok := ofDeclaration(head); ok {
		return e
	}
	if e, ok := ofMeta(head); ok && !utf8.Valid(body) {
		return e
	}
	return named(utf8Name)
}

// told returns the encoding given by a byte order mark, the response, or an XML declaration in UTF-16.
func told(body []byte, label string) (Encoding, bool) {
	for _, mark := range [...]struct{ bytes, name string }{
		{"\ufeff", utf8Name}, {"\xfe\xff", utf16beName}, {"\xff\xfe", utf16leName},
	} {
		if bytes.HasPrefix(body, []byte(mark.bytes)) {
			return named(mark.name), true
		}
	}
	if e, ok := Lookup(label); ok {
		return e, true
	}
	switch {
	case bytes.HasPrefix(body, []byte("<\x00?\x00x\x00")):
		return named(utf16leName), true
	case bytes.HasPrefix(body, []byte("\x00<\x00?\x00x")):
		return named(utf16beName), true
	}
	return Encoding{}, false
}

// ofDeclaration returns the encoding of an XML declaration ("get an XML encoding").
func ofDeclaration(head []byte) (Encoding, bool) {
	head, ok := bytes.CutPrefix(head, []byte("<?xml"))
	end := bytes.IndexByte(head, '>')
	if !ok || end < 0 {
		return Encoding{}, false
	}
	_, rest, ok := bytes.Cut(head[:end], []byte("encoding"))
	if !ok {
		return Encoding{}, false
	}
	rest, ok = bytes.CutPrefix(trimControls(rest), []byte("="))
	if rest = trimControls(rest); !ok || len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return Encoding{}, false
	}
	label, _, ok := bytes.Cut(rest[1:], rest[:1])
	if !ok || bytes.ContainsFunc(label, func(c rune) bool { return c <= ' ' }) {
		return Encoding{}, false
	}
	e, ok := Lookup(string(label))
	return asRead(e), ok
}

// trimControls removes leading spaces and controls.
func trimControls(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' {
		b = b[1:]
	}
	return b
}

// asRead replaces encodings that a declaration cannot be written in by UTF-8, and x-user-defined by
// windows-1252.
func asRead(e Encoding) Encoding {
	switch e.name {
	case utf16beName, utf16leName:
		return named(utf8Name)
	case userDefined:
		return named("windows-1252")
	}
	return e
}
