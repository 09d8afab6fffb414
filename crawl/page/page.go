// Package page parses an HTML page into its links and facts.
//
// A page is decoded to UTF-8 (package charset) and read once, from front to end, by a scanner that yields the same tags
// as x/net/html without building a tree. Elements that a browser would move or drop are therefore taken where they are
// written, and no nesting is too deep. Links are the `href` of <a> and <area>, the canonical <link>, the `src` of
// <frame>, a <meta> refresh with a URL, <link>s to feeds, to profiles (rel=me) and to blogrolls, and the entries of
// lists in OPML. Scripting is off: links in <noscript> and <template> count, links in comments and in the text of
// scripts, styles and iframes do not. The header fields Refresh and Link count like the equivalent elements. If the two
// differ, both are links: browsers follow the field, search engines choose. A page with few links is read again for
// signs that it shows nothing without its scripts.
//
// An [Extractor] belongs to one goroutine; the pages it returns belong to the caller and do not share memory
// with the body. Time and memory are linear in the body for any input, and every text is valid UTF-8 without
// control characters.
//
// The links come from a scanner of this package and not from goquery, because building a tree costs three
// times as much as tokenizing (on 220 real pages goquery reads 45 MB/s with 10,500 allocations a page, the
// tokenizer of x/net 133 MB/s with 4,800, and this scanner 4.5 times the tokenizer), and because x/net
// refuses pages with more than 512 open elements. goquery serves [Extract], whose selectors need a tree, and
// is the oracle of a differential test of links.
package page

import (
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Limits of what is kept of one page.
const (
	titleLength  = 1_000 // runes
	anchorLength = 120   // runes
)

// Options are the options of an [Extractor].
type Options struct {
	MaxLinks int       // distinct targets kept, in document order; 0: [config.DefaultLinks]
	Agent    string    // crawler-name, for robots metas addressed to it
	Extracts []Extract // user-defined facts
	Anchors  bool      // [Page.Anchors] is filled in
	OPML     bool      // lists in OPML are read
}

// A Page is the content of a page. NoIndex, NoFollow, NoArchive and NoSnippet are from the robots metas for all and
// those for the agent. Beyond 40,000 hrefs (or 4 x MaxLinks) or 16 MiB, new targets are counted unresolved.
type Page struct {
	schema.Content
	Links     []Link // one per target, in document order; never the page itself
	NoArchive bool
	NoSnippet bool
	Anchors   *Anchors // nil: not read
	Words     []uint32 // hashes of the first longer words outside links, see [simhash.Hasher.Vocabulary]
}

// Obey applies directives for crawlers, in addition to those that apply already.
func (p *Page) Obey(t RobotsTag) {
	t = t.And(p.RobotsTag())
	p.NoIndex, p.NoFollow, p.NoArchive, p.NoSnippet = t.NoIndex, t.NoFollow, t.NoArchive, t.NoSnippet
	if p.NoSnippet {
		p.Facts = nil
	}
}

// RobotsTag returns the directives that apply.
func (p *Page) RobotsTag() RobotsTag {
	return RobotsTag{p.NoIndex, p.NoFollow, p.NoArchive, p.NoSnippet}
}

// A Link combines all mentions of one target.
type Link struct {
	URL    weburl.URL // its HTTP: every mention uses http
	Forms  []string   // further forms used by the page; at most four of those that do not follow from the identity
	Kinds  schema.Kinds
	Rel    schema.Rel   // the flags set on every mention of the target
	Place  schema.Place // the best of all mentions
	Anchor string       // first non-empty text, or else the alt of an image in the link; at most 120 characters

	Followed bool // by a mention that is neither canonical nor nofollow
	Rendered bool // always false here; for comparing a page with its rendered form
}
