package terrain

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Spec is the input for a terrain. Order matters: in each list the first match wins, and an origin is
// identified by its index everywhere else.
type Spec struct {
	Origins   []Origin
	Blacklist []List
	Stub      []List
	PageTypes []PageType
	Entities  []Entity
	Traps     Traps
	Decided   map[Pattern]schema.Class // by host; overrides the lists of names
}

// An Origin is one [[quality]] entry.
type Origin struct {
	Name        string // the domain in canonical form
	Pattern     Pattern
	Seeds       []string // as written
	Sitemaps    []string // as written; on any host, and valid for the whole entry
	MaxRequests int      // budget of each of its hosts; 0: the general one
	Include     []*regexp.Regexp
	Exclude     []*regexp.Regexp
}

// A List is one [[blacklist]] or [[stub]] entry: hosts, or a regular expression on the canonical URL.
type List struct {
	Source   string // "file hosts.txt", "preset ads"; empty for a single domain or url
	Patterns []Pattern
	URL      *regexp.Regexp
}

// A Verdict is a class and, for people, the rule that gave it: `blacklist "*.tracking.com"`, `blacklist
// file hosts.txt: ads.example.net`, `stub url '/logout'`, `quality "example.com"`. Discovered has no
// rule.
type Verdict struct {
	Class schema.Class
	Rule  string
}

// A Terrain classifies URLs by the lists. It is immutable and safe for concurrent use.
type Terrain struct {
	origins   []Origin
	lists     []List // blacklists, then stubs; the lowest index wins
	blacklist int    // number of blacklists in lists
	urlLists  []int32
	index     *index
	scoped    bool // an origin has include or exclude
	pageTypes []pageType
	entities  []Entity
	traps     Traps
	decided   map[Pattern]schema.Class
}

// New builds a terrain. It takes ownership of the slices in spec.
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

// HostClass classifies a host, which may include a port, by the decision on it, else by the lists of
// names.
func (t *Terrain) HostClass(host string) Verdict {
	if v, ok := t.decision(host); ok {
		return v
	}
	return t.hostVerdict(t.index.lookup(host))
}

// decision returns the decision on a host, if any.
func (t *Terrain) decision(host string) (Verdict, bool) {
	if len(t.decided) == 0 {
		return Verdict{}, false
	}
	name, _ := weburl.SplitPort(host)
	class, ok := t.decided[Pattern{base: name}]
	return Verdict{class, class.String() + ` decision "` + name + `"`}, ok
}

// Classify returns the class of a canonical URL. The first match wins: blacklist, stub, quality,
// discovered. A decision on its host overrides the lists of names, but not a url pattern.
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

// HasURLRules reports whether a class can depend on more than the host. If not, all URLs of a host have
// the host's class.
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

// Origins returns all origins. The caller must not change them.
func (t *Terrain) Origins() []Origin { return t.origins }

// OriginsOf returns the numbers of all origins that a host belongs to, in order. The caller must not
// change the slice. A host without origin costs no allocation.
func (t *Terrain) OriginsOf(host string) []int {
	found, _ := t.index.lookup(host)
	return found.origins
}

// SameOrigin reports whether two hosts belong to the same origin.
func (t *Terrain) SameOrigin(a, b string) bool {
	of := t.OriginsOf(b)
	return slices.ContainsFunc(t.OriginsOf(a), func(n int) bool { return slices.Contains(of, n) })
}

// Narrowest returns the number of the most specific origin of a host, or -1 if there is none.
func (t *Terrain) Narrowest(host string) int {
	best := -1
	for _, i := range t.OriginsOf(host) {
		if best < 0 || t.origins[i].Pattern.Compare(t.origins[best].Pattern) < 0 {
			best = i
		}
	}
	return best
}

// Budget returns how many requests a run may send to a host: the limit of its most specific origin, or
// def.
func (t *Terrain) Budget(host string, def int) int {
	best := t.Narrowest(host)
	if best < 0 || t.origins[best].MaxRequests == 0 {
		return def
	}
	return t.origins[best].MaxRequests
}

// OriginSites returns the registrable domain of every origin, in the order of [Terrain.Origins]. Names
// below one registrable domain usually have one owner.
func (t *Terrain) OriginSites() []string {
	sites := make([]string, len(t.origins))
	for i, o := range t.origins {
		sites[i] = weburl.Site(o.Pattern.base)
	}
	return sites
}
