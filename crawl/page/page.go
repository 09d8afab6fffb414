// Package page reads an HTML page: its bytes in, its links and facts out.
//
// A page is decoded to UTF-8 (package charset) and read once, from front to end, by a
// scanner that yields the tags of x/net/html and does not build a tree. So
// elements that a browser would move or drop are taken where they are written,
// and no nesting is too deep. Links are the `href` of <a> and <area>, the
// canonical <link>, the `src` of <frame> and a <meta> refresh that names a URL,
// all seen with scripting off: those in <noscript> and <template> count, those
// in comments and in the text of scripts, styles and iframes do not. The fields
// Refresh and Link of an answer count as the elements that say the same, and where the two differ,
// both are links: browsers follow the field, search engines choose. A page with few
// links is read again for the signs that it shows nothing without its scripts.
//
// An [Extractor] belongs to one goroutine; the pages it returns belong to the
// caller and hold no part of the body. Time and memory are linear in the body,
// whatever is in it, and every text is valid UTF-8 without control characters.
package page

import (
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Bounds of what is kept of one page.
const (
	titleLength  = 1_000 // runes
	anchorLength = 120   // runes
)

// Options say what to look for.
type Options struct {
	MaxLinks int       // distinct targets kept, in document order; 0: [config.DefaultLinks]
	Agent    string    // crawler-name, for robots metas addressed to it
	Extracts []Extract // facts of the user's own
}

// A Page is what a page says.
type Page struct {
	Title    string       // the first <title>, white space folded, at most 1,000 characters
	Charset  string       // canonical name of the encoding that was read
	Links    []Link       // one per target, in document order; never the page itself
	Distinct int          // targets met; beyond 40,000 hrefs (or 4 x MaxLinks) or 16 MiB, new ones are counted unread
	Refused  int          // hrefs beside these that are no URL, or longer than one may be
	Facts    []Fact       // at most 100, of 1,000 characters each
	Shell    schema.Shell // 0, unless it likely shows nothing without its scripts

	// What the robots metas say: those addressed to the agent, else those to all.
	NoIndex, NoFollow, NoArchive bool
}

// A Link is all that a page says about one target.
type Link struct {
	URL    weburl.URL // its HTTP: every mention is by http
	Forms  []string   // further forms under which the page names it: of those that do not follow from it, four
	Kinds  schema.Kinds
	Rel    schema.Rel   // the flags that every mention of the target carries
	Place  schema.Place // the best
	Anchor string       // first text that is not empty, else alt of an image in the link; at most 120 characters

	Followed bool // by a mention that is neither canonical nor nofollow
	Rendered bool // left false: it is for who compares a page with what its scripts make of it
}
