package terrain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Spec is what a terrain is built from. Order matters: in each list the first
// match wins, and the index of an origin is its number everywhere else.
type Spec struct {
	Origins   []Origin
	Blacklist []List
	Stub      []List
	PageTypes []PageType
	Entities  []Entity
	Traps     Traps
	Decided   map[Pattern]schema.Class // of hosts, in place of what the lists of names say
}

// An Origin is one [[quality]] entry.
type Origin struct {
	Name        string // the domain as written, normalised
	Pattern     Pattern
	Seeds       []string // as written
	Sitemaps    []string // as written; on whichever host, they speak for all of the entry
	MaxRequests int      // budget of each of its hosts; 0: the general one
	Include     []*regexp.Regexp
	Exclude     []*regexp.Regexp
}

// A List is one [[blacklist]] or [[stub]] entry: hosts, or a regular expression on
// the normalised URL.
type List struct {
	Source   string // "file hosts.txt", "preset ads"; empty for an entry that stands for itself
	Patterns []Pattern
	URL      *regexp.Regexp
}

// A Verdict is a class and the rule that gave it, for a person to read:
// `blacklist "*.tracking.com"`, `blacklist file hosts.txt: ads.example.net`,
// `stub url '/logout'`, `quality "example.com"`. Discovered has no rule.
type Verdict struct {
	Class schema.Class
	Rule  string
}

// A Terrain knows the lists. It is immutable and safe for concurrent use.
type Terrain struct {
	origins   []Origin
	lists     []List // blacklists, then stubs: the lower index wins
	blacklist int    // how many of the lists are blacklists
	urlLists  []int32
	index     *index
	scoped    bool // an origin has include or exclude
	pageTypes []pageType
	entities  []Entity
	traps     Traps
	decided   map[Pattern]schema.Class
}

// New builds a terrain. The slices of the spec belong to it from then on.
func New(spec Spec) (*Terrain, error) {
	t := &Terrain{
		origins:   spec.Origins,
		lists:     append(append([]List(nil), spec.Blacklist...), spec.Stub...),
		blacklist: len(spec.Blacklist),
		entities:  spec.Entities,
		traps:     spec.Traps,
		decided:   spec.Decided,
	}
	t.index = newIndex(t.countNames())
	var errs []error
	errs = append(errs, t.addLists()...)
	errs = append(errs, t.addOrigins()...)
	for _, p := range spec.PageTypes {
		t.pageTypes = append(t.pageTypes, newPageType(p))
	}
	for _, e := range spec.Entities {
		if e.Pattern.IsZero() {
			errs = append(errs, errors.New("an entity rule without a domain"))
		}
	}
	return t, errors.Join(errs...)
}

func (t *Terrain) countNames() int {
	n := len(t.origins)
	for _, l := range t.lists {
		n += len(l.Patterns)
	}
	return n
}

func (t *Terrain) addLists() (errs []error) {
	for i, l := range t.lists {
		if l.URL != nil {
			t.urlLists = append(t.urlLists, int32(i))
		}
		id := t.index.declare(claim{list: int32(i)})
		for _, p := range l.Patterns {
			if p.IsZero() {
				errs = append(errs, fmt.Errorf("%s %s: an empty pattern", t.class(int32(i)), l.Source))
				continue
			}
			t.index.add(p, id)
		}
	}
	return errs
}

func (t *Terrain) addOrigins() (errs []error) {
	seen := make(map[Pattern]bool, len(t.origins))
	for i, o := range t.origins {
		if o.Pattern.IsZero() || seen[o.Pattern] {
			errs = append(errs, fmt.Errorf("quality %q: its domain is empty or named twice", o.Name))
			continue
		}
		seen[o.Pattern] = true
		t.scoped = t.scoped || len(o.Include)+len(o.Exclude) > 0
		t.index.add(o.Pattern, t.index.declare(claim{list: none, origins: []int{i}}))
	}
	return errs
}

// HostClass classifies a host, which may carry a port, by what was decided of it, else by
// the lists of names.
func (t *Terrain) HostClass(host string) Verdict {
	if v, ok := t.decision(host); ok {
		return v
	}
	return t.hostVerdict(t.index.lookup(host))
}

// decision returns what was decided of a host, if anything was.
func (t *Terrain) decision(host string) (Verdict, bool) {
	if len(t.decided) == 0 {
		return Verdict{}, false
	}
	name, _ := weburl.SplitPort(host)
	class, ok := t.decided[Pattern{base: name}]
	return Verdict{class, class.String() + ` decision "` + name + `"`}, ok
}

// Classify returns the class of a normalised URL: first match wins, blacklist,
// stub, quality, discovered. What was decided of its host takes the place of the lists of
// names, and comes after every url pattern.
func (t *Terrain) Classify(norm string) Verdict {
	host := weburl.Host(norm)
	if len(t.urlLists) == 0 {
		return t.HostClass(host)
	}
	decided, isDecided := t.decision(host)
	found, by := t.index.lookup(host)
	for _, i := range t.urlLists {
		if !isDecided && found.list != none && t.class(found.list) <= t.class(i) {
			break
		}
		if t.lists[i].URL.MatchString(norm) {
			return Verdict{t.class(i), fmt.Sprintf("%s url '%s'", t.class(i), t.lists[i].URL)}
		}
	}
	if isDecided {
		return decided
	}
	return t.hostVerdict(found, by)
}

// HasURLRules reports whether a class can depend on more than the host. If not,
// the class of a host is that of all its URLs.
func (t *Terrain) HasURLRules() bool { return len(t.urlLists) > 0 }

// class returns the class that a list gives. Blacklisted sorts before stub.
func (t *Terrain) class(list int32) schema.Class {
	if int(list) < t.blacklist {
		return schema.ClassBlacklisted
	}
	return schema.ClassStub
}

func (t *Terrain) hostVerdict(found claim, by Pattern) Verdict {
	switch {
	case found.list != none:
		return t.listVerdict(found.list, by)
	case len(found.origins) > 0:
		return Verdict{schema.ClassQuality, `quality "` + t.origins[found.origins[0]].Name + `"`}
	}
	return Verdict{Class: schema.ClassDiscovered}
}

func (t *Terrain) listVerdict(list int32, by Pattern) Verdict {
	class := t.class(list)
	if source := t.lists[list].Source; source != "" {
		return Verdict{class, class.String() + " " + source + ": " + by.String()}
	}
	return Verdict{class, class.String() + ` "` + by.String() + `"`}
}

// Origins returns all origins. The caller changes nothing in them.
func (t *Terrain) Origins() []Origin { return t.origins }

// OriginsOf returns the numbers of all origins that a host belongs to, in order.
// The caller must not change the slice. A host of no origin costs no allocation.
func (t *Terrain) OriginsOf(host string) []int {
	found, _ := t.index.lookup(host)
	return found.origins
}

// SameOrigin reports whether two hosts belong to one origin.
func (t *Terrain) SameOrigin(a, b string) bool {
	of := t.OriginsOf(b)
	return slices.ContainsFunc(t.OriginsOf(a), func(n int) bool { return slices.Contains(of, n) })
}

// Narrowest returns the number of the most specific origin that a host belongs to; -1: it
// belongs to none.
func (t *Terrain) Narrowest(host string) int {
	best := -1
	for _, i := range t.OriginsOf(host) {
		if best < 0 || t.origins[i].Pattern.Compare(t.origins[best].Pattern) < 0 {
			best = i
		}
	}
	return best
}

// Budget returns how many requests a run may send to a host: what the most
// specific origin of the host says, or def.
func (t *Terrain) Budget(host string, def int) int {
	best := t.Narrowest(host)
	if best < 0 || t.origins[best].MaxRequests == 0 {
		return def
	}
	return t.origins[best].MaxRequests
}

// OriginSites returns the registrable domain of every origin, beside [Terrain.Origins]: the names
// below one are as a rule one owner's.
func (t *Terrain) OriginSites() []string {
	sites := make([]string, len(t.origins))
	for i, o := range t.origins {
		sites[i] = weburl.Site(o.Pattern.base)
	}
	return sites
}
