package schema

import (
	"reflect"
	"slices"
)

// Content is what a page says, its links aside, and how much of it was read. It is one value from the parser of the
// page to the outputs, so that whatever copies it copies all of it: a visit that found the page unmodified, a page that
// is read again from the page store, a pruned file, a merged one.
type Content struct {
	Title       string // the first <title>, white space folded, at most 1,000 characters
	Charset     string // name of the encoding
	NoIndex     bool   // robots metas and X-Robots-Tag
	NoFollow    bool
	Facts       []Fact // in document order; at most 100, of 1,000 characters each
	Distinct    int    // distinct link targets found; more than there are links if some were not recorded
	BeyondHosts int    // not recorded of those: on hosts beyond max-hosts-per-page
	BeyondText  int    // not recorded of those: beyond [MaxLinkText] or [MaxSiteText]
	Refused     int    // in addition to those: hrefs that are not URLs, or too long
	LinkLimit   int    // max-links-per-page, if the page has more
	Shell       Shell  // 0, unless the page likely shows nothing without its scripts
	Rendering   Rendering
	RenderAsked int // requests of its scripts that were answered, by a server or from the answers to other pages
}

// Brief returns what a visit says that found the page unmodified. Lists are left out: they are stored once, with the
// visit that read them.
func (c Content) Brief() Content {
	c.Facts = nil
	return c
}

// Withheld returns what is recorded of a page that asks not to be indexed: none of its words.
func (c Content) Withheld() Content {
	c.Title, c.Facts = "", nil
	return c
}

// Same reports whether two pages say the same.
func (c Content) Same(d Content) bool {
	return slices.Equal(c.Facts, d.Facts) && reflect.DeepEqual(c.Brief(), d.Brief())
}
