package scope

import (
	"fmt"
	"strings"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Cap is a rule that limits how many pages, or hosts, of a group a run visits. When the group is
// full, the rule refuses the others.
type Cap struct {
	Rule   Rule
	Group  string
	Limit  int
	Others bool // it limits pages that are not their host's own; these are counted separately
}

// freeMisses is how many not-found pages of others each place in a group allows.
const freeMisses = 10

// Counts per site. They do not belong to a [Cap]: they limit what is recorded ([traps]
// max-hosts-per-site).
const (
	CountSiteHosts    = "hosts of a site"
	CountSiteOthers   = "hosts of a site, of others"   // hosts that only pages of other sites name
	CountSiteOverflow = "hosts of a site not recorded" // links to unrecorded hosts
	CountSiteText     = "text of links of a site"      // bytes of URLs added by links ([schema.MaxSiteText])
)

// CountOfPlace returns the name of the per-site count for a place.
func CountOfPlace(p schema.SitePlace) string {
	if p == schema.OtherPlace {
		return CountSiteOthers
	}
	return CountSiteHosts
}

// A Room says whether caps leave room for another page.
type Room uint8

const (
	Free Room = iota
	Held      // a group is full only if all open visits count; one of them may not
	Full      // a full group keeps the page from being visited
)

// RoomIn says whether caps leave room for a page, and returns the first cap that does not. count
// returns what a rule's group has taken in the run. reserved, which may be nil, is what open visits may
// add.
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

// Counted returns the name under which the capped pages are counted: the rule's text without the limit,
// which may change with the configuration within a run.
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

// Missed returns the name under which not-found pages are counted, for a cap on the pages of others.
// They take no place in the group, up to MostMissed.
func (c Cap) Missed() string { return c.Counted() + ", not found" }

// MostMissed returns how many not-found pages take no place in the group.
func (c Cap) MostMissed() int { return freeMisses * c.Limit }

// limited returns a cap on the pages of a group. On an origin's host, pages that are not the host's own
// get a tenth of the places, but at least ten.
func (s *Scope) limited(rule Rule, key, host, group string, limit int, own bool) Cap {
	rule.Text = fmt.Sprintf("%s = %d", key, limit)
	c := Cap{Rule: rule, Group: group, Limit: limit, Others: !own}
	if !own && s.OriginsOf(host) != nil {
		if c.Limit = min(limit, max(10, limit/10)); c.Limit < limit {
			c.Rule.Text += fmt.Sprintf(" (%d for pages that only others name)", c.Limit)
		}
	}
	return c
}

// Caps returns the caps for a page in the order in which they refuse it: its page type, then the traps.
// The groups depend only on the URL, so a page can be refused before it is requested. A host's own
// pages are counted separately from others.
func (s *Scope) Caps(host, pathQuery string, own bool) []Cap {
	var caps []Cap
	if name, group, limit, ok := s.PageType(host, pathQuery); ok && limit > 0 {
		if group == "" {
			group = host
		}
		caps = append(caps, s.limited(Rule{}, fmt.Sprintf("page-type %q: max-per-group", name), host, group, limit, own))
	}
	path, _, query := strings.Cut(pathQuery, "?")
	if limit := s.traps.MaxQueriesPerPath; query && limit > 0 {
		caps = append(caps, s.limited(Rule{Trap: true}, "max-queries-per-path", host, host+path, limit, own))
	}
	if limit := s.traps.MaxPerPrefix; limit > 0 && s.OriginsOf(host) == nil {
		prefix, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		caps = append(caps, s.limited(Rule{Trap: true}, "max-per-prefix", host, host+"/"+prefix, limit, own))
	}
	return caps
}

// SubdomainCap returns the cap on the visited hosts of a site ([crawler] max-subdomains). count is as
// for [RoomIn]. Hosts named by their own site or an origin are counted separately from hosts that only
// others name. On an origin's site the latter get a tenth of the places, but at least one; elsewhere
// they get the places that the former leave.
func (s *Scope) SubdomainCap(host string, limit int, vouched bool, count func(rule, group string) (int, error)) (
	Cap, error) {
	c := Cap{Group: weburl.Site(host), Limit: limit}
	c.Rule.Text = fmt.Sprintf("max-subdomains = %d", limit)
	switch {
	case vouched:
	case s.OriginsOf(host) != nil:
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
