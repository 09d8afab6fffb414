package page

import (
	"github.com/sumi-ripple/ripple/crawl/charset"
	"github.com/sumi-ripple/ripple/crawl/media"
)

// encodingOf returns the encoding of a body, determined from the bytes and the Content-Type as browsers do.
func encodingOf(body []byte, contentType string) charset.Encoding {
	t := media.Extract(contentType)
	if t.IsXHTML() {
		return charset.OfXML(body, t.Charset)
	}
	return charset.OfHTML(body, t.Charset)
}
