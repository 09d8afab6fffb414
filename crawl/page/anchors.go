package page

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Anchors are the places of a page that fragments of URLs lead to, and the fragments in its links. A page that
// redirects has only Redirect.
type Anchors struct {
	Redirect  *Redirect
	IDs       []uint64 // of [HashID]
	Fragments []Fragment
	CutIDs    bool // the page has more ids than are kept
	Cut       bool // the page has more fragments than are kept
}

// A Fragment is a link to a place on a page, which may be the page itself.
type Fragment struct {
	To string // Norm of the page
	ID string // as written, at most 256 bytes
}

// A Redirect is where a page redirects to.
type Redirect struct {
	To  string // Norm of the page
	Own bool   // the Location has a fragment of its own, which replaces that of a link (RFC 9110, section 10.2.2)
}

// Limits of the anchors of one page.
const (
	maxIDs       = 1 << 16
	maxFragments = 1 << 12
	maxFragment  = 256
)

// HashID returns the hash of an id of an element.
func HashID(id string) uint64 { return xxh3.HashString(id) }

// Leads reports whether a fragment leads to one of the elements with the given ids: as written or decoded
// (HTML Standard, "find a potential indicated element"). An empty fragment and "top" lead to the top of any
// page, and a text directive to its text. Fragments that begin with "!" or "/" belong to the page's scripts.
func Leads(fragment string, has func(id uint64) bool) bool {
	fragment, _, _ = strings.Cut(fragment, ":~:")
	if fragment == "" || fragment[0] == '!' || fragment[0] == '/' || has(HashID(fragment)) {
		return true
	}
	decoded, err := url.PathUnescape(fragment)
	return err == nil && has(HashID(decoded)) || strings.EqualFold(fragment, "top")
}

// anchorsOf reads a page with scan, for which base is its base URL.
func anchorsOf(scan *scanner, text []byte, base *weburl.Base) *Anchors {
	a, seen := &Anchors{}, map[Fragment]bool{}
	scan.reset(text)
	for token := scan.next(); token != tokenEOF; token = scan.next() {
		if token != tokenStart {
			continue
		}
		named, links := scan.tag == tagA, scan.tag == tagA || scan.tag == tagArea
		for name, value := range scan.eachAttribute() {
			switch {
			case bytes.EqualFold(name, []byte("id")), named && bytes.EqualFold(name, []byte("name")):
				a.addID(attributeValue(string(value)))
			case links && bytes.EqualFold(name, []byte("href")) && bytes.IndexByte(value, '#') >= 0:
				a.addFragment(attributeValue(string(value)), base, seen)
			}
		}
	}
	return a
}

func (a *Anchors) addID(id string) {
	switch {
	case id == "":
	case len(a.IDs) == maxIDs:
		a.CutIDs = true
	default:
		a.IDs = append(a.IDs, HashID(id))
	}
}

func (a *Anchors) addFragment(href string, base *weburl.Base, seen map[Fragment]bool) {
	_, id, found := strings.Cut(strings.TrimSpace(href), "#")
	if !found || len(id) > maxFragment {
		return
	}
	u, err := base.Parse(href)
	if err != nil {
		return
	}
	f := Fragment{To: u.Norm, ID: id}
	switch {
	case seen[f]:
	case len(a.Fragments) == maxFragments:
		a.Cut = true
	default:
		seen[f] = true
		a.Fragments = append(a.Fragments, f)
	}
}
