package terrain

import (
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Cap is a rule that bounds how many pages, or hosts, of a group are visited
// in a run. What was not visited when its group is full is refused by that rule.
type Cap struct {
	Rule   Rule
	Group  string
	Limit  int
	Others bool // it bounds pages that are not their host's own, which are counted apart
}

// freeMisses is how many pages of others a place in a group stands for that are not found.
const freeMisses = 10

// What is counted of a site. None is the rule of a [Cap]: the
// limit is on what is recorded ([traps] max-hosts-per-site).
const (
	CountSiteHosts    = "hosts of a site"
	CountSiteOthers   = "hosts of a site, of others"   // that only pages of other sites name
	CountSiteOverflow = "hosts of a site not recorded" // links to them
	CountSiteText     = "text of links of a site"      // bytes of URLs that they added ([schema.MaxSiteText])
)

// CountOfPlace is the name under which places of hosts are counted by site.
func CountOfPlace(p schema.SitePlace) string {
	if p == schema.OtherPlace {
		return CountSiteOthers
	}
	return CountSiteHosts
}

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
	rule := c.Rule.String()
	if i := strings.LastIndex(rule, " = "); i >= 0 {
		rule = rule[:i]
	}
	if c.Others {
		rule += ", of others"
	}
	return rule
}

// Missed is the name under which is counted what takes no place, of a cap on the pages of others:
// those that were not found. MostMissed is how many these may be.
func (c Cap) Missed() string { return c.Counted() + ", not found" }

// MostMissed is how many pages that are not found take no place in the group.
func (c Cap) MostMissed() int { return freeMisses * c.Limit }

// limited is a cap on the pages of a group. For pages that are not the host's own it has a tenth of
// the places, and at least ten, on the host of an origin.
func (t *Terrain) limited(rule Rule, key, host, group string, limit int, own bool) Cap {
	rule.Text = fmt.Sprintf("%s = %d", key, limit)
	c := Cap{Rule: rule, Group: group, Limit: limit, Others: !own}
	if !own && t.OriginsOf(host) != nil {
		if c.Limit = min(limit, max(10, limit/10)); c.Limit < limit {
			c.Rule.Text += fmt.Sprintf(" (%d for pages that only others name)", c.Limit)
		}
	}
	return c
}

// Caps returns the caps that hold for a page, in the order in which they refuse
// it: its page type, then the traps. The URL alone tells its groups, so a page can be
// refused before it is asked. The pages that are a host's own are counted apart from others.
func (t *Terrain) Caps(host, pathQuery string, own bool) []Cap {
	var caps []Cap
	if name, group, limit, ok := t.PageType(host, pathQuery); ok && limit > 0 {
		if group == "" {
			group = host
		}
		caps = append(caps, t.limited(Rule{}, fmt.Sprintf("page-type %q: max-per-group", name), host, group, limit, own))
	}
	path, _, query := strings.Cut(pathQuery, "?")
	if limit := t.traps.MaxQueriesPerPath; query && limit > 0 {
		caps = append(caps, t.limited(Rule{Trap: true}, "max-queries-per-path", host, host+path, limit, own))
	}
	if limit := t.traps.MaxPerPrefix; limit > 0 && t.OriginsOf(host) == nil {
		prefix, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		caps = append(caps, t.limited(Rule{Trap: true}, "max-per-prefix", host, host+"/"+prefix, limit, own))
	}
	return caps
}

// SubdomainCap returns the cap on the hosts of a site that are visited ([crawler] max-subdomains), given what was
// counted, as for [RoomIn]. Hosts that their own site or an origin names are counted apart from those that only
// others name. These have a tenth of the places, and at least one, where they are of an origin, else what those leave.
func (t *Terrain) SubdomainCap(host string, limit int, vouched bool, count func(rule, group string) (int, error)) (
	Cap, error) {
	c := Cap{Group: weburl.Site(host), Limit: limit}
	c.Rule.Text = fmt.Sprintf("max-subdomains = %d", limit)
	switch {
	case vouched:
	case t.OriginsOf(host) != nil:
		if c.Others, c.Limit = true, max(1, limit/10); c.Limit < limit {
			c.Rule.Text += fmt.Sprintf(" (%d for hosts that only others name)", c.Limit)
		}
	default:
		taken, err := count(c.Counted(), c.Group)
		if err != nil {
			return c, err
		}
		c.Others, c.Limit = true, limit-taken
	}
	return c, nil
}
