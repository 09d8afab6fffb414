package page

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An href is everything a page says with one spelling of a target.
type href struct {
	raw      string // as written, entities included
	kinds    schema.Kinds
	rel      schema.Rel
	followed bool         // by a mention that is neither canonical, a feed nor nofollow
	place    schema.Place // [noPlace]: all mentions are outside the content
	anchor   string
	anchored int // number of the mention with the anchor
}

// A ledger collects the hrefs of a page in document order, so that each spelling is resolved only once, when
// the base is known.
type ledger struct {
	hrefs    []href
	index    map[string]int // raw -> position in hrefs
	limit    int            // hrefs kept
	mentions int
	beyond   int // mentions of spellings that were not kept

	resolved map[string]resolution // by reference without its fragment
	targets  map[string]int        // Norm -> position in the page's links
	further  map[uint64]struct{}   // hashes of targets beyond the limit
	anchored []int                 // number of the mention with each link's anchor
}

// maxTargets is the total size of a page's targets, in bytes, above which targets beyond the kept links are
// not resolved: relative to a long base, all are long.
const maxTargets = 16 << 20

func (l *ledger) reset() {
	const small = 1024 // clearing a map costs as much as its largest size
	if l.index == nil || len(l.hrefs) > small {
		*l = ledger{index: map[string]int{}, resolved: map[string]resolution{}, targets: map[string]int{},
			further: map[uint64]struct{}{}, limit: l.limit}
		return
	}
	clear(l.index)
	clear(l.resolved)
	clear(l.targets)
	clear(l.further)
	clear(l.hrefs)
	*l = ledger{hrefs: l.hrefs[:0], index: l.index, resolved: l.resolved, targets: l.targets, further: l.further,
		anchored: l.anchored[:0], limit: l.limit}
}

// add records a mention, of one or more kinds, and returns the position of its spelling, or -1 if that is not
// kept.
func (l *ledger) add(raw []byte, kinds schema.Kinds, rel schema.Rel, place schema.Place) int {
	raw = trimBlanks(raw)
	if otherScheme(raw) {
		return -1
	}
	l.mentions++
	followed := kinds != schema.OnlyCanonical && kinds != schema.OnlyFeed && rel&schema.RelNofollow == 0
	i, ok := l.index[string(raw)]
	switch {
	case ok:
		h := &l.hrefs[i]
		h.rel = relOf(h, &href{kinds: kinds, rel: rel, place: place})
		h.kinds |= kinds
		h.followed = h.followed || followed
		h.place = min(h.place, place)
	case len(l.hrefs) == l.limit:
		l.beyond++
		return -1
	default:
		i = len(l.hrefs)
		spelling := string(raw)
		l.hrefs = append(l.hrefs, href{
			raw: spelling, kinds: kinds, rel: rel, followed: followed, place: place,
		})
		l.index[spelling] = i
	}
	return i
}

// relOf returns the flags of two mentions of a target together: those that both carry. An invisible mention does not
// clear the flags of a visible one; otherwise <link rel=me> would turn <a rel=nofollow> into an endorsement. A
// canonical link may clear them, because it never endorses.
func relOf(a, b *href) schema.Rel {
	quiet := func(h *href) bool { return h.place == noPlace && !h.kinds.Has(schema.LinkCanonical) }
	switch {
	case quiet(a) && !quiet(b):
		return b.rel
	case quiet(b) && !quiet(a):
		return a.rel
	}
	return a.rel & b.rel
}

// trimBlanks removes what URL parsing removes at the ends anyway. A NUL remains, because in an attribute it
// means U+FFFD.
func trimBlanks(raw []byte) []byte {
	for len(raw) > 0 && isBlank(raw[0]) {
		raw = raw[1:]
	}
	for len(raw) > 0 && isBlank(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}

func isBlank(c byte) bool { return 0 < c && c <= ' ' }

// anchor sets the text of the spelling at i, read for the latest mention.
func (l *ledger) anchor(i int, text string) {
	if h := &l.hrefs[i]; h.anchor == "" && text != "" {
		h.anchor, h.anchored = text, l.mentions
	}
}

// otherScheme reports an href that plainly has a scheme other than http(s); disguised ones are found when
// they are resolved.
func otherScheme(raw []byte) bool {
	for i, c := range raw {
		if c == ':' {
			return i > 0 && !bytes.EqualFold(raw[:i], []byte("http")) && !bytes.EqualFold(raw[:i], []byte("https"))
		}
		if !isLetter(c) && (i == 0 || c != '+' && c != '-' && c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return false
}

// resolve turns the hrefs into the page's links.
func (l *ledger) resolve(p *Page, base *weburl.Base, self string, maxLinks int) {
	links := make([]Link, 0, min(len(l.hrefs), maxLinks))
	size := 0
	for i := range l.hrefs {
		if len(links) == maxLinks && size > maxTargets {
			l.beyond += len(l.hrefs) - i
			break
		}
		h := &l.hrefs[i]
		u, err := l.parse(base, attributeValue(h.raw))
		if err != nil && !errors.Is(err, weburl.ErrScheme) {
			p.Refused++
		}
		if err != nil || u.Norm == self {
			continue
		}
		size += len(u.Norm)
		at, ok := l.targets[u.Norm]
		switch {
		case ok:
			merge(&links[at], h, u, &l.anchored[at])
		case len(links) == maxLinks:
			l.further[xxh3.HashString(u.Norm)] = struct{}{}
		default:
			l.targets[u.Norm] = len(links)
			links = append(links, newLink(h, u))
			l.anchored = append(l.anchored, h.anchored)
		}
	}
	for i := range links {
		if links[i].Place == noPlace {
			links[i].Place = schema.PlaceBody
		}
	}
	p.Distinct = len(l.targets) + len(l.further) + l.beyond
	if len(links) > 0 {
		p.Links = slices.Clip(links)
	}
}

// A resolution is the result of resolving a reference.
type resolution struct {
	url weburl.URL
	err error
}

// parse resolves a reference. Those that differ only in their fragments, two thirds of those in usual documentation,
// are resolved once.
func (l *ledger) parse(base *weburl.Base, ref string) (weburl.URL, error) {
	const longest = 1024 // with the fragment; longer ones may be too long for a URL
	page, _, ok := strings.Cut(ref, "#")
	if !ok || len(ref) > longest {
		return base.Parse(ref)
	}
	r, ok := l.resolved[page]
	if !ok {
		r.url, r.err = base.Parse(ref)
		l.resolved[page] = r
	}
	return r.url, r.err
}

func newLink(h *href, u weburl.URL) Link {
	return Link{URL: u, Kinds: h.kinds, Rel: h.rel, Place: h.place, Anchor: h.anchor, Followed: h.followed}
}

// merge adds the mentions of another spelling of a link's target. anchored is the number of the mention with
// the link's anchor.
func merge(link *Link, h *href, u weburl.URL, anchored *int) {
	link.Rel = relOf(&href{kinds: link.Kinds, rel: link.Rel, place: link.Place}, h)
	link.Kinds |= h.kinds
	link.Followed = link.Followed || h.followed
	link.Place = min(link.Place, h.place)
	link.URL.HTTP = link.URL.HTTP && u.HTTP
	if h.anchor != "" && (link.Anchor == "" || h.anchored < *anchored) {
		link.Anchor, *anchored = h.anchor, h.anchored
	}
	if u.Form != link.URL.Form && !slices.Contains(link.Forms, u.Form) {
		link.Forms = withForm(link.Forms, &u)
	}
}

// withForm adds a form to further ones. It keeps all that follow from the identity; if there are too many
// others, it drops the last in byte order.
func withForm(forms []string, u *weburl.URL) []string {
	forms = append(forms, u.Form)
	last, others := -1, 0
	for i, form := range forms {
		if schema.ShapeOf(u.Norm, form) != schema.ShapeOther {
			continue
		}
		if others++; last < 0 || form > forms[last] {
			last = i
		}
	}
	if others > schema.MaxOwnForms {
		forms = slices.Delete(forms, last, last+1)
	}
	return forms
}
