package page

import (
	"github.com/sumi-ripple/ripple/crawl/charset"
	"github.com/sumi-ripple/ripple/crawl/media"
)

// encodingOf is the encoding of a body, as browsers tell it from the bytes and the
// Content-Type.
func encodingOf(body []byte, contentType string) charset.Encoding {
	t := media.Extract(contentType)
	if t.IsXHTML() {
		return charset.OfXML(body, t.Charset)
	}
	return charset.OfHTML(body, t.Charset)
}
