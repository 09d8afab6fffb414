package schema

import "strings"

// A Class is the class that the lists give a URL. The zero value is ClassDiscovered.
type Class uint8

// The classes. The first list that names a URL wins in the order blacklist,
// stub, quality.
const (
	ClassDiscovered Class = iota
	ClassQuality
	ClassBlacklisted
	ClassStub

	ClassCount // the number of classes
)

// Classes returns all classes in order.
func Classes() []Class { return all(ClassCount) }

// all returns the count values of an enumeration.
func all[E ~uint8](count E) []E {
	values := make([]E, count)
	for i := range values {
		values[i] = E(i)
	}
	return values
}

// String returns the class as written in SQL and reports.
func (c Class) String() string {
	switch c {
	case ClassQuality:
		return "quality"
	case ClassBlacklisted:
		return "blacklist"
	case ClassStub:
		return "stub"
	}
	return "discovered"
}

// Visitable reports whether pages of the class may be visited.
func (c Class) Visitable() bool { return c == ClassDiscovered || c == ClassQuality }

// A LinkKind is how one page leads to another. If a pair of pages has links of several kinds, the
// lowest one wins.
type LinkKind uint8

// The kinds of links, the strongest first. The state file stores the kinds of a link as bits by their position here.
const (
	LinkRedirect LinkKind = iota
	LinkCanonical
	LinkAnchor
	LinkFrame
	LinkRefresh
	LinkFeed     // the target is a feed of the page, which is no page
	LinkMe       // the page and the target are the same person's or organisation's, as the page says
	LinkBlogroll // the target is a blogroll, or an entry of one

	LinkKindCount // the number of kinds; a [Kinds] has room for 16, the file's format for 15
)

// LinkKinds returns all kinds in order.
func LinkKinds() []LinkKind { return all(LinkKindCount) }

// String returns the kind as written in SQL.
func (k LinkKind) String() string {
	switch k {
	case LinkRedirect:
		return "redirect"
	case LinkCanonical:
		return "canonical"
	case LinkAnchor:
		return "anchor"
	case LinkFrame:
		return "frame"
	case LinkRefresh:
		return "refresh"
	case LinkFeed:
		return "feed"
	case LinkMe:
		return "me"
	case LinkBlogroll:
		return "blogroll"
	}
	return "unknown"
}

// MaxRedirects is the number of redirects in a row that are followed, both from page to page and,
// within a visit, from one form of a page to another.
const MaxRedirects = 10

// Kinds is a set of link kinds.
type Kinds uint16

// The sets of kinds of a pair of pages that has only links of one kind.
const (
	OnlyCanonical = Kinds(1 << LinkCanonical)
	OnlyFeed      = Kinds(1 << LinkFeed)
)

// Add returns the set with k in it.
func (s Kinds) Add(k LinkKind) Kinds { return s | 1<<k }

// Has reports whether k is in the set.
func (s Kinds) Has(k LinkKind) bool { return s&(1<<k) != 0 }

// First returns the strongest kind in a non-empty set.
func (s Kinds) First() LinkKind {
	for k := range LinkKindCount {
		if s.Has(k) {
			return k
		}
	}
	return LinkKindCount - 1
}

// Rel is the set of rel flags that all links between two pages carry.
type Rel uint8

// The rel flags that are recorded.
const (
	RelNofollow Rel = 1 << iota
	RelUGC
	RelSponsored
)

// String lists the flags, separated by spaces, in the order of the constants.
func (r Rel) String() string {
	var names []string
	for i, name := range [...]string{"nofollow", "ugc", "sponsored"} {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// A Place is the nearest enclosing element or ARIA landmark that indicates what a link is for. If a
// pair of pages has links in several places, the lowest place wins.
type Place uint8

// The places, best first.
const (
	PlaceMain Place = iota
	PlaceBody
	PlaceAside
	PlaceHeader
	PlaceFooter
	PlaceNav

	PlaceCount // the number of places; the file's format has room for 8
)

// String returns the place as written in SQL.
func (p Place) String() string {
	switch p {
	case PlaceMain:
		return "main"
	case PlaceBody:
		return "body"
	case PlaceAside:
		return "aside"
	case PlaceHeader:
		return "header"
	case PlaceFooter:
		return "footer"
	case PlaceNav:
		return "nav"
	}
	return "unknown"
}

// InText reports whether the place is in the text of a page, not in what surrounds it.
func (p Place) InText() bool { return p == PlaceMain || p == PlaceBody || p == PlaceAside }
