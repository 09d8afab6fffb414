package schema

import "strings"

// A Class says what a URL is to the terrain, decided by the lists.
// The zero value is ClassDiscovered.
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

// Classes returns all classes, in their order.
func Classes() []Class { return all(ClassCount) }

// all lists the values of an enumeration that has so many.
func all[E ~uint8](count E) []E {
	values := make([]E, count)
	for i := range values {
		values[i] = E(i)
	}
	return values
}

// String returns the class's name in SQL and reports.
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

// Visitable reports whether pages of the class may be asked for.
func (c Class) Visitable() bool { return c == ClassDiscovered || c == ClassQuality }

// A LinkKind says how one page leads to another. Lower kinds win where a pair of
// pages has several links.
type LinkKind uint8

// The kinds of links.
const (
	LinkRedirect LinkKind = iota
	LinkCanonical
	LinkAnchor
	LinkFrame
	LinkRefresh

	LinkKindCount // the number of kinds; a [Kinds] has room for 8, the file's format for 7
)

// LinkKinds returns all kinds, in their order.
func LinkKinds() []LinkKind { return all(LinkKindCount) }

// String returns the kind's name in SQL.
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
	}
	return "unknown"
}

// MaxRedirects is the number of redirects in a row that lead on: from page to page,
// and within a visit from one form of a page to another.
const MaxRedirects = 10

// Kinds is a set of link kinds.
type Kinds uint8

// OnlyCanonical is the set of a pair of pages with canonical links alone.
const OnlyCanonical = Kinds(1 << LinkCanonical)

// Add returns the set with k in it.
func (s Kinds) Add(k LinkKind) Kinds { return s | 1<<k }

// Has reports whether k is in the set.
func (s Kinds) Has(k LinkKind) bool { return s&(1<<k) != 0 }

// First returns the strongest kind of a set that is not empty.
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

// The rel flags that are kept.
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

// A Place is the nearest enclosing element or ARIA landmark that says what a link is for. Lower
// places win where a pair of pages has several links.
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

// Places returns all places, in their order.
func Places() []Place { return all(PlaceCount) }

// String returns the place's name in SQL.
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

// InText reports whether the place is the text of a page, and not what surrounds it.
func (p Place) InText() bool { return p == PlaceMain || p == PlaceBody || p == PlaceAside }
