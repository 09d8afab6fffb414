package terrain

import (
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Cap is a rule that bounds how many pages, or hosts, of a group are visited
// in a run. What was not visited when its group is full is refused by that rule.
type Cap struct {
	Rule  string // for a person to read, its limit included
	Group string
	Limit int
}

// Caps returns the caps that hold for a page, in the order in which they refuse
// it: its page type, then the traps.
func (t *Terrain) Caps(host, pathQuery string) []Cap {
	var caps []Cap
	if name, group, limit, ok := t.PageType(host, pathQuery); ok && limit > 0 {
		if group == "" {
			group = host
		}
		caps = append(caps, Cap{Rule: fmt.Sprintf("page-type %q: max-per-group = %d", name, limit), Group: group, Limit: limit})
	}
	path, _, query := strings.Cut(pathQuery, "?")
	if limit := t.traps.MaxQueriesPerPath; query && limit > 0 {
		caps = append(caps, Cap{Rule: fmt.Sprintf("trap: max-queries-per-path = %d", limit), Group: host + path, Limit: limit})
	}
	if limit := t.traps.MaxPerPrefix; limit > 0 && t.OriginsOf(host) == nil {
		prefix, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		caps = append(caps, Cap{Rule: fmt.Sprintf("trap: max-per-prefix = %d", limit), Group: host + "/" + prefix, Limit: limit})
	}
	return caps
}

// SubdomainCap returns the cap on the hosts of a site that are visited
// ([crawler] max-subdomains).
func SubdomainCap(host string, limit int) Cap {
	return Cap{Rule: fmt.Sprintf("max-subdomains = %d", limit), Group: weburl.Site(host), Limit: limit}
}
