package charset

import "bytes"

// A prescan looks for a <meta> that names an encoding, following the HTML standard's prescan of a byte
// stream. When it runs out of bytes, the tag it was in does not count.
type prescan struct {
	b    []byte
	at   int
	text bool // skip the text of scripts and the like, which is not markup
}

// ofMeta returns the encoding named by the first <meta> that names one.
func ofMeta(head []byte) (Encoding, bool) { return (&prescan{b: head}).find() }

// ofLateMeta is ofMeta for a whole page, like a parser that encounters the <meta>.
func ofLateMeta(body []byte) (Encoding, bool) { return (&prescan{b: body, text: true}).find() }

func (p *prescan) find() (Encoding, bool) {
	for ; p.at < len(p.b); p.at++ {
		p.skipTo(p.at, "<")
		rest := p.b[p.at:]
		switch {
		case len(rest) < 2:
		case bytes.HasPrefix(rest, []byte("<!--")):
			p.skipTo(p.at+2, "-->")
			p.at += len("--")
		case isMeta(rest):
			p.at += len("<meta")
			if e, ok := p.meta(); ok {
				return e, true
			}
		case isTag(rest):
			p.skipTag()
			if p.text {
				p.skipText(rest[1:])
			}
		case rest[1] == '!' || rest[1] == '/' || rest[1] == '?':
			p.skipTo(p.at, ">")
		}
	}
	return Encoding{}, false
}

func isMeta(b []byte) bool {
	const name = "<meta"
	if len(b) <= len(name) || !bytes.EqualFold(b[:len(name)], []byte(name)) {
		return false
	}
	return isSpace(b[len(name)]) || b[len(name)] == '/'
}

// isTag reports a start or end tag.
func isTag(b []byte) bool {
	b = bytes.TrimPrefix(b[1:], []byte("/"))
	return len(b) > 0 && 'a' <= b[0]|0x20 && b[0]|0x20 <= 'z'
}

// skipTo moves to the next mark at or after from, or to the end.
func (p *prescan) skipTo(from int, mark string) {
	if i := bytes.Index(p.b[from:], []byte(mark)); i >= 0 {
		p.at = from + i
	} else {
		p.at = len(p.b)
	}
}

// skipTag moves to the end of a tag, over its attributes.
func (p *prescan) skipTag() {
	for p.at < len(p.b) && !isSpace(p.b[p.at]) && p.b[p.at] != '>' {
		p.at++
	}
	for {
		if _, _, ok := p.attribute(); !ok {
			return
		}
	}
}

// skipText skips the raw text content of the element whose name b begins with, if it has such content.
func (p *prescan) skipText(b []byte) {
	for _, name := range [...]string{
		"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "plaintext",
	} {
		n := len(name)
		if len(b) <= n || !bytes.EqualFold(b[:n], []byte(name)) || !isSpace(b[n]) && b[n] != '/' && b[n] != '>' {
			continue
		}
		for p.skipTo(p.at, "</"); p.at < len(p.b); p.skipTo(p.at, "</") {
			if p.at += len("</"); bytes.EqualFold(p.b[p.at:min(p.at+n, len(p.b))], b[:n]) {
				return
			}
		}
	}
}

// meta reads the attributes of a <meta>. The first of each name counts.
func (p *prescan) meta() (Encoding, bool) {
	var found Encoding
	var pragma, needsPragma bool
	var hasPragma, hasContent, hasCharset bool
	for {
		name, value, ok := p.attribute()
		if !ok {
			break
		}
		switch name := lower(name); {
		case name == "http-equiv" && !hasPragma:
			hasPragma, pragma = true, lower(value) == "content-type"
		case name == "content" && !hasContent:
			hasContent = true
			if e, ok := Lookup(charsetIn(lower(value))); ok && !hasCharset {
				found, needsPragma = e, true
			}
		case name == "charset" && !hasCharset:
			hasCharset, needsPragma = true, false
			found, _ = Lookup(lower(value))
		}
	}
	if p.at == len(p.b) || found.name == "" || needsPragma && !pragma {
		return Encoding{}, false
	}
	return asRead(found), true
}

// attribute reads one attribute. It is not ok at the end of the tag, and when the bytes run out.
func (p *prescan) attribute() (name, value []byte, ok bool) {
	for p.at < len(p.b) && (isSpace(p.b[p.at]) || p.b[p.at] == '/') {
		p.at++
	}
	start := p.at
	for p.at < len(p.b) && !p.endsName(start) {
		p.at++
	}
	if p.at == len(p.b) || p.at == start {
		return nil, nil, false
	}
	name = p.b[start:p.at]
	p.skipSpace()
	if p.at == len(p.b) || p.b[p.at] != '=' {
		return name, nil, p.at < len(p.b)
	}
	p.at++
	p.skipSpace()
	value, ok = p.value()
	return name, value, ok
}

// endsName reports whether the name that began at start ends here. A leading equals sign belongs to the name.
func (p *prescan) endsName(start int) bool {
	c := p.b[p.at]
	return c == '=' && p.at > start || c == '/' || c == '>' || isSpace(c)
}

// value reads the value after an equals sign.
func (p *prescan) value() ([]byte, bool) {
	if p.at == len(p.b) {
		return nil, false
	}
	if quote := p.b[p.at]; quote == '"' || quote == '\'' {
		start := p.at + 1
		if p.skipTo(start, string(quote)); p.at == len(p.b) {
			return nil, false
		}
		p.at++
		return p.b[start : p.at-1], true
	}
	start := p.at
	for p.at < len(p.b) && !isSpace(p.b[p.at]) && p.b[p.at] != '>' {
		p.at++
	}
	return p.b[start:p.at], p.at < len(p.b)
}

func (p *prescan) skipSpace() {
	for p.at < len(p.b) && isSpace(p.b[p.at]) {
		p.at++
	}
}

// charsetIn finds the label in the content of a <meta>, which must be in lower case ("extracting a character
// encoding from a meta element").
func charsetIn(content string) string {
	for rest := []byte(content); ; {
		var ok bool
		if _, rest, ok = bytes.Cut(rest, []byte("charset")); !ok {
			return ""
		}
		value, ok := bytes.CutPrefix(bytes.TrimLeft(rest, spaces), []byte("="))
		if !ok {
			continue
		}
		value = bytes.TrimLeft(value, spaces)
		if len(value) > 0 && (value[0] == '"' || value[0] == '\'') {
			label, _, closed := bytes.Cut(value[1:], value[:1])
			if !closed {
				return ""
			}
			return string(label)
		}
		if end := bytes.IndexAny(value, spaces+";"); end >= 0 {
			value = value[:end]
		}
		return string(value)
	}
}

const spaces = "\t\n\f\r "

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func lower(b []byte) string {
	low := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return string(low)
}
