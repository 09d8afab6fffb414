package page

import (
	"bytes"

	"golang.org/x/net/html"

	"github.com/sumi-ripple/ripple/schema"
)

// addWords adds a piece of text to the fingerprint of the page, if it is part of what the page itself says and
// not of the frame that it shares with others.
func (e *Extractor) addWords(raw []byte) {
	if !e.inContent() {
		return
	}
	if !e.hydration.linked {
		e.hydration.addText(raw)
	}
	e.words.Quoted = e.link >= 0
	for !e.scan.literal {
		i := bytes.IndexByte(raw, '&')
		if i < 0 {
			break
		}
		e.words.Write(raw[:i])
		n := 1 + entityTail(raw[i+1:])
		e.addEntity(raw[i : i+n])
		raw = raw[i+n:]
	}
	e.words.Write(raw)
}

// inContent reports whether the next tag or text is part of the page's own content, and not of the frame that it
// shares with others or of a template.
func (e *Extractor) inContent() bool {
	switch e.nesting.place() {
	case schema.PlaceHeader, schema.PlaceFooter, schema.PlaceNav:
		return false
	}
	return e.scan.foreign.count[elementTemplate] == 0
}

// entityTail returns the length of a possible entity without its "&".
func entityTail(text []byte) int {
	i := 0
	if i < len(text) && text[i] == '#' {
		i++
	}
	for i < len(text) && (isLetter(text[i]) || '0' <= text[i] && text[i] <= '9') {
		i++
	}
	if i < len(text) && text[i] == ';' {
		i++
	}
	return i
}

// addEntity adds a possible entity.
func (e *Extractor) addEntity(entity []byte) {
	switch string(entity) {
	case "&lt;", "&gt;", "&amp;", "&quot;", "&nbsp;", "&apos;", "&mdash;", "&ndash;", "&hellip;", "&rsquo;", "&para;",
		"&#39;", "&#x27;", "&#34;", "&#x22;", "&#160;", "&#xa0;", "&#182;", "&#8217;", "&#x2019;", "&": // often
		e.words.Break()
	default:
		e.words.Write([]byte(html.UnescapeString(string(entity))))
	}
}
