package answer

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/schema"
)

// InText is the place of the links that [schema.Link.Endorses] accepts; a main, body or aside has
// others, too.
const InText = "text"

// Places returns the names by which the links to a page or host are chosen, endorsements first. A
// link is in one place of its page, or is a redirect. It may be an endorsement or site-wide as well.
func Places() []string {
	names := []string{InText}
	for p := range schema.PlaceCount {
		names = append(names, p.String())
	}
	return append(names, schema.LinkRedirect.String(), "sitewide")
}

// placesOf returns the places of a link, as bits by the index in [Places].
func placesOf(l *schema.Link) (bits uint16) {
	at := 1 + int(l.Place)
	if l.Where() == "" {
		at = 1 + int(schema.PlaceCount)
	}
	bits = 1 << at
	if l.Endorses() {
		bits |= 1
	}
	if l.SiteWide {
		bits |= 1 << (2 + schema.PlaceCount)
	}
	return bits
}

// A PlaceCount counts the links to a page or host in one of the [Places].
type PlaceCount struct {
	Place   string `json:"place"`
	Links   int    `json:"links"`
	Pages   int    `json:"pages"`
	Anchors int    `json:"anchors"` // different texts
	Origins int    `json:"origins"` // whose hosts have the links
}

// A placeTally counts links by place. Pages come one after the other, each with all its links. It
// holds 8 bytes for each different anchor, and some more for each host.
type placeTally struct {
	counts  []PlaceCount
	page    []schema.ID             // by place: counted last
	origins []map[int]bool          // by place
	of      map[schema.HostID][]int // the origins of a host
	anchors map[uint64]uint16       // by hash: places
	seed    maphash.Seed
	chosen  uint16 // the places of links that are listed; 0: all
}

// newPlaceTally returns a tally that counts the links in every place and lists those in one; empty: it lists all.
func newPlaceTally(place string) *placeTally {
	names := Places()
	t := &placeTally{
		counts: make([]PlaceCount, len(names)), page: make([]schema.ID, len(names)),
		origins: make([]map[int]bool, len(names)), of: map[schema.HostID][]int{}, anchors: map[uint64]uint16{},
		seed: maphash.MakeSeed(),
	}
	for i, name := range names {
		t.counts[i].Place, t.origins[i] = name, map[int]bool{}
	}
	if place != "" {
		t.chosen = placeBit(place)
	}
	return t
}

// placeBit returns the bit of one of the [Places], as in [placesOf].
func placeBit(place string) uint16 { return 1 << slices.Index(Places(), place) }

// checkPlace returns an error for a name that is none of the [Places].
func checkPlace(name string) error {
	if name == "" || slices.Contains(Places(), name) {
		return nil
	}
	return term.Usage("%q is not a place of links; the places are %s", term.Clean(name, 100),
		strings.Join(Places(), ", "))
}

// add counts a link, and reports whether it is listed.
func (t *placeTally) add(r Inspector, page schema.ID, l *schema.Link) (bool, error) {
	bits, host := placesOf(l), r.Hosts.Of(page)
	if _, ok := t.of[host]; !ok {
		name, err := r.Hosts.Name(host)
		if err != nil {
			return false, err
		}
		t.of[host] = r.Scope().OriginsOf(name)
	}
	if l.Anchor != "" {
		t.anchors[maphash.String(t.seed, l.Anchor)] |= bits
	}
	for i := range t.counts {
		if bits&(1<<i) == 0 {
			continue
		}
		t.counts[i].Links++
		if t.page[i] != page {
			t.counts[i].Pages++
			t.page[i] = page
		}
		for _, origin := range t.of[host] {
			t.origins[i][origin] = true
		}
	}
	return t.chosen == 0 || bits&t.chosen != 0, nil
}

// list returns the counts of endorsements, and of all other places that have links.
func (t *placeTally) list() []PlaceCount {
	for _, bits := range t.anchors {
		for i := range t.counts {
			t.counts[i].Anchors += int(bits >> i & 1)
		}
	}
	for i := range t.counts {
		t.counts[i].Origins = len(t.origins[i])
	}
	return slices.DeleteFunc(t.counts, func(c PlaceCount) bool { return c.Links == 0 && c.Place != InText })
}
