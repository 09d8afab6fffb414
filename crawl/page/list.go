package page

import (
	"github.com/sumi-ripple/ripple/crawl/opml"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// list reads a list in OPML: each outline names a site, with its text as anchor, and the feed of the site.
func (e *Extractor) list(body []byte, contentType string, base *weburl.Base, self string) Page {
	e.ledger.reset()
	for _, l := range e.heads {
		e.ledger.add(asWritten(l.url), l.kinds, l.rel, noPlace)
	}
	var p Page
	title := opml.Read(body, contentType, func(o opml.Outline) {
		if o.HTML != "" {
			i := e.ledger.add(asWritten(o.HTML), schema.Kinds(0).Add(schema.LinkBlogroll), 0, schema.PlaceBody)
			if i >= 0 {
				e.ledger.anchor(i, clip(o.Text, anchorLength))
			}
		}
		if o.Feed != "" {
			e.ledger.add(asWritten(o.Feed), schema.OnlyFeed, 0, noPlace)
		}
	})
	p.Title = clip(title, titleLength)
	e.ledger.resolve(&p, base, self, e.opt.MaxLinks)
	e.licenses = nil
	p.Preferences = e.preferences(base)
	return p
}
