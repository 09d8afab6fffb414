package terrain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Cap is a rule that bounds how many pages, or hosts, of a group are visited
// in a run. What was not visited when its group is full is refused by that rule.
type Cap struct {
	Rule  Rule
	Group string
	Limit int
}

// What is counted of a site. None is the rule of a [Cap]: the
// limit is on what is recorded ([traps] max-hosts-per-site).
const (
	CountSiteHosts    = "hosts of a site"
	CountSiteOverflow = "hosts of a site not recorded" // links to them
	CountSiteText     = "text of links of a site"      // bytes of URLs that they added ([schema.MaxSiteText])
)

// A Room is what caps leave for one page more.
type Room uint8

const (
	Free Room = iota
	Held      // a group is full only with visits that are out: one of them may come to nothing
	Full      // a full group keeps the page from being visited
)

// RoomIn says what caps leave for a page, and which cap leaves it no place, the first
// in their order. Count tells what a rule's group has taken in the run; reserved, which
// may be nil, what visits that are out may yet add to it.
func RoomIn(caps []Cap, count func(rule, group string) (int, error), reserved map[Cap]int) (Room, Cap, error) {
	for _, c := range caps {
		n, err := count(c.Counted(), c.Group)
		switch {
		case err != nil || n >= c.Limit:
			return Full, c, err
		case n+reserved[c] >= c.Limit:
			return Held, c, nil
		}
	}
	return Free, Cap{}, nil
}

// Counted is the name under which is counted what the cap bounds: that of its rule, without the
// limit, which another configuration may change within a run.
func (c Cap) Counted() string {
	return strings.TrimSuffix(c.Rule.String(), " = "+strconv.Itoa(c.Limit))
}

// Caps returns the caps that hold for a page, in the order in which they refuse
// it: its page type, then the traps. The URL alone tells its groups, so a page can be
// refused before it is asked.
func (t *Terrain) Caps(host, pathQuery string) []Cap {
	var caps []Cap
	if name, group, limit, ok := t.PageType(host, pathQuery); ok && limit > 0 {
		if group == "" {
			group = host
		}
		caps = append(caps, Cap{Rule{Text: fmt.Sprintf("page-type %q: max-per-group = %d", name, limit)}, group, limit})
	}
	path, _, query := strings.Cut(pathQuery, "?")
	if limit := t.traps.MaxQueriesPerPath; query && limit > 0 {
		caps = append(caps, Cap{Rule{true, fmt.Sprintf("max-queries-per-path = %d", limit)}, host + path, limit})
	}
	if limit := t.traps.MaxPerPrefix; limit > 0 && t.OriginsOf(host) == nil {
		prefix, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		caps = append(caps, Cap{Rule{true, fmt.Sprintf("max-per-prefix = %d", limit)}, host + "/" + prefix, limit})
	}
	return caps
}

// SubdomainCap returns the cap on the hosts of a site that are visited
// ([crawler] max-subdomains).
func SubdomainCap(host string, limit int) Cap {
	return Cap{Rule{Text: fmt.Sprintf("max-subdomains = %d", limit)}, weburl.Site(host), limit}
}
