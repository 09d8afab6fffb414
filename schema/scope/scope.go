package scope

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Spec is the input for a scope. Order matters: in each list the first match wins, and an origin is
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

// A Scope classifies URLs by the lists. It is immutable and safe for concurrent use.
type Scope struct {
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

// New builds a scope. It takes ownership of the slices in spec.
func New(spec Spec) (*Scope, error) {
	s := &Scope{
		origins:   spec.Origins,
		lists:     append(append([]List(nil), spec.Blacklist...), spec.Stub...),
		blacklist: len(spec.Blacklist),
		entities:  spec.Entities,
		traps:     spec.Traps,
		decided:   spec.Decided,
	}
	s.index = newIndex(s.countNames())
	var errs []error
	errs = append(errs, s.addLists()...)
	errs = append(errs, s.addOrigins()...)
	for _, p := range spec.PageTypes {
		s.pageTypes = append(s.pageTypes, newPageType(p))
	}
	for i := range spec.Entities {
		errs = append(errs, spec.Entities[i].check())
	}
	return s, errors.Join(errs...)
}

func (s *Scope) countNames() int {
	n := len(s.origins)
	for _, l := range s.lists {
		n += len(l.Patterns)
	}
	return n
}

func (s *Scope) addLists() (errs []error) {
	for i, l := range s.lists {
		if l.URL != nil {
			s.urlLists = append(s.urlLists, int32(i))
		}
		id := s.index.declare(claim{list: int32(i)})
		for _, p := range l.Patterns {
			if p.IsZero() {
				errs = append(errs, fmt.Errorf("%s %s: an empty pattern", s.class(int32(i)), l.Source))
				continue
			}
			s.index.add(p, id)
		}
	}
	return errs
}

func (s *Scope) addOrigins() (errs []error) {
	seen := make(map[Pattern]bool, len(s.origins))
	for i, o := range s.origins {
		if o.Pattern.IsZero() || seen[o.Pattern] {
			errs = append(errs, fmt.Errorf("quality %q: its domain is empty or named twice", o.Name))
			continue
		}
		seen[o.Pattern] = true
		s.scoped = s.scoped || len(o.Include)+len(o.Exclude) > 0
		s.index.add(o.Pattern, s.index.declare(claim{list: none, origins: []int{i}}))
	}
	return errs
}

// HostClass classifies a host, which may include a port, by the decision on it, else by the lists of
// names.
func (s *Scope) HostClass(host string) Verdict {
	if v, ok := s.decision(host); ok {
		return v
	}
	return s.hostVerdict(s.index.lookup(host))
}

// decision returns the decision on a host, if any.
func (s *Scope) decision(host string) (Verdict, bool) {
	if len(s.decided) == 0 {
		return Verdict{}, false
	}
	name, _ := weburl.SplitPort(host)
	class, ok := s.decided[Pattern{base: name}]
	return Verdict{class, class.String() + ` decision "` + name + `"`}, ok
}

// Classify returns the class of a canonical URL. The first match wins: blacklist, stub, quality,
// discovered. A decision on its host overrides the lists of names, but not a url pattern.
func (s *Scope) Classify(norm string) Verdict {
	host := weburl.Host(norm)
	if len(s.urlLists) == 0 {
		return s.HostClass(host)
	}
	decided, isDecided := s.decision(host)
	found, by := s.index.lookup(host)
	for _, i := range s.urlLists {
		if !isDecided && found.list != none && s.class(found.list) <= s.class(i) {
			break
		}
		if s.lists[i].URL.MatchString(norm) {
			return Verdict{s.class(i), fmt.Sprintf("%s url '%s'", s.class(i), s.lists[i].URL)}
		}
	}
	if isDecided {
		return decided
	}
	return s.hostVerdict(found, by)
}

// HasURLRules reports whether a class can depend on more than the host. If not, all URLs of a host have
// the host's class.
func (s *Scope) HasURLRules() bool { return len(s.urlLists) > 0 }

// class returns the class that a list gives. Blacklisted sorts before stub.
func (s *Scope) class(list int32) schema.Class {
	if int(list) < s.blacklist {
		return schema.ClassBlacklisted
	}
	return schema.ClassStub
}

func (s *Scope) hostVerdict(found claim, by Pattern) Verdict {
	switch {
	case found.list != none:
		return s.listVerdict(found.list, by)
	case len(found.origins) > 0:
		return Verdict{schema.ClassQuality, `quality "` + s.origins[found.origins[0]].Name + `"`}
	}
	return Verdict{Class: schema.ClassDiscovered}
}

func (s *Scope) listVerdict(list int32, by Pattern) Verdict {
	class := s.class(list)
	if source := s.lists[list].Source; source != "" {
		return Verdict{class, class.String() + " " + source + ": " + by.String()}
	}
	return Verdict{class, class.String() + ` "` + by.String() + `"`}
}

// Origins returns all origins. The caller must not change them.
func (s *Scope) Origins() []Origin { return s.origins }

// OriginsOf returns the numbers of all origins that a host belongs to, in order. The caller must not
// change the slice. A host without origin costs no allocation.
func (s *Scope) OriginsOf(host string) []int {
	found, _ := s.index.lookup(host)
	return found.origins
}

// SameOrigin reports whether two hosts belong to the same origin.
func (s *Scope) SameOrigin(a, b string) bool {
	of := s.OriginsOf(b)
	return slices.ContainsFunc(s.OriginsOf(a), func(n int) bool { return slices.Contains(of, n) })
}

// Narrowest returns the number of the most specific origin of a host, or -1 if there is none.
func (s *Scope) Narrowest(host string) int {
	best := -1
	for _, i := range s.OriginsOf(host) {
		if best < 0 || s.origins[i].Pattern.Compare(s.origins[best].Pattern) < 0 {
			best = i
		}
	}
	return best
}

// Budget returns how many requests a run may send to a host: the limit of its most specific origin, or
// def.
func (s *Scope) Budget(host string, def int) int {
	best := s.Narrowest(host)
	if best < 0 || s.origins[best].MaxRequests == 0 {
		return def
	}
	return s.origins[best].MaxRequests
}

// OriginSites returns the registrable domain of every origin, in the order of [Scope.Origins]. Names
// below one registrable domain usually have one owner.
func (s *Scope) OriginSites() []string {
	sites := make([]string, len(s.origins))
	for i, o := range s.origins {
		sites[i] = weburl.Site(o.Pattern.base)
	}
	return sites
}
