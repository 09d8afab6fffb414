package schema

import (
	"reflect"
	"slices"
)

// Content is everything on a page except its links, and how much of it was read. It stays one value
// from the parser to the outputs, so that every copy of a page is complete: for a visit that found
// the page unmodified, a page that is read again from the page store, and a pruned or merged file.
type Content struct {
	Title       string // the first <title>, white space folded, at most 1,000 characters
	Charset     string // name of the encoding
	NoIndex     bool   // robots metas, X-Robots-Tag and Robots-Tag
	NoFollow    bool
	Facts       []Fact // in document order; at most 100, of 1,000 characters each
	Distinct    int    // distinct link targets found; more than there are links if some were not recorded
	BeyondHosts int    // not recorded of those: on hosts beyond max-hosts-per-page
	BeyondText  int    // not recorded of those: beyond [MaxLinkText] or [MaxSiteText]
	Refused     int    // in addition to those: hrefs that are not URLs, or too long
	LinkLimit   int    // max-links-per-page, if the page has more
	Shell       Shell  // 0 unless the page is likely empty without its scripts
	Rendering   Rendering
	SimHash     SimHash // of the text in main, body and aside, as the extraction reads it
	WordCount   int     // of that text, see package crawl/simhash
	Shown       Shown
	RenderAsked int      // requests of its scripts that were answered, by a server or from answers for other pages
	Refusals    Refusals // requests of its scripts that no page may make
	Preferences string   // what its owner says about its use, see package preference
}

// Brief returns the content to record for a visit that found the page unmodified. Lists are left
// out: they are stored once, with the visit that read them.
func (c Content) Brief() Content {
	c.Facts = nil
	return c
}

// Withheld returns the content to record for a page that asks not to be indexed: without its words.
func (c Content) Withheld() Content {
	c.Title, c.Facts = "", nil
	return c
}

// Same reports whether two pages have the same content.
func (c Content) Same(d Content) bool {
	return slices.Equal(c.Facts, d.Facts) && reflect.DeepEqual(c.Brief(), d.Brief())
}
