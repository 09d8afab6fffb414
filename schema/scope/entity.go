package scope

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A By says what forms one node at entity level: a positive number of path segments below the host,
// [ByHost] or [BySite].
type By int

// The values that are not path lengths.
const (
	ByHost By = 0
	BySite By = -1
)

// maxBy is the largest number of segments that name an entity.
const maxBy = 20

// ParseBy parses "host", "site" or "path-1" to "path-20".
func ParseBy(s string) (By, error) {
	switch s {
	case "host":
		return ByHost, nil
	case "site":
		return BySite, nil
	}
	if digits, ok := strings.CutPrefix(s, "path-"); ok {
		n, err := strconv.Atoi(digits)
		if err == nil && 1 <= n && n <= maxBy && By(n).String() == s {
			return By(n), nil
		}
	}
	return 0, fmt.Errorf("%q is not one of \"path-1\" to \"path-%d\", \"host\", \"site\"", cut(s), maxBy)
}

// String returns b in the form that ParseBy reads.
func (b By) String() string {
	switch b {
	case ByHost:
		return "host"
	case BySite:
		return "site"
	}
	return "path-" + strconv.Itoa(int(b))
}

// An Entity defines the nodes of the hosts that match ([[entity]]).
type Entity struct {
	Pattern Pattern
	By      By
	With    []Pattern // not empty: all hosts that match it or one of these are one node, named after Pattern; By is ByHost
}

// of returns the node of a URL. ok is false if the rule is not for its host.
func (e *Entity) of(host, pathQuery string) (node string, ok bool) {
	matches := func(p Pattern) bool { return p.Match(host) }
	switch {
	case len(e.With) > 0 && (matches(e.Pattern) || slices.ContainsFunc(e.With, matches)):
		return e.Pattern.base, true
	case matches(e.Pattern):
		return e.By.node(host, pathQuery), true
	}
	return "", false
}

func (e *Entity) check() error {
	switch {
	case e.Pattern.IsZero():
		return errors.New("an entity rule without a domain")
	case len(e.With) > 0 && e.By != ByHost:
		return fmt.Errorf("entity %s: with makes one node of whole hosts; set by = \"host\"", e.Pattern)
	}
	return nil
}

// Entity returns the node of a canonical URL at entity level: its host, unless an entity rule says
// otherwise. A URL with too few segments belongs to the host's node.
func (s *Scope) Entity(norm string) string {
	host, pathQuery := weburl.Split(norm)
	for i := range s.entities {
		if node, ok := s.entities[i].of(host, pathQuery); ok {
			return node
		}
	}
	return host
}

// EntityOfHost returns the node of all URLs of a host at entity level. ok is false if the node depends
// on their paths.
func (s *Scope) EntityOfHost(host string) (node string, ok bool) {
	for i := range s.entities {
		if node, ok := s.entities[i].of(host, "/"); ok {
			return node, s.entities[i].By <= ByHost
		}
	}
	return host, true
}

// HasEntity reports whether an entity rule is for a host.
func (s *Scope) HasEntity(host string) bool {
	return slices.ContainsFunc(s.entities, func(e Entity) bool { _, ok := e.of(host, "/"); return ok })
}

func (b By) node(host, pathQuery string) string {
	switch {
	case b == BySite:
		return weburl.Site(host)
	case b == ByHost:
		return host
	}
	path := segments(pathQuery)
	end := 0
	for n := By(0); n < b; n++ {
		length := strings.IndexByte(path[end:], '/')
		if length < 0 {
			length = len(path) - end
		}
		if length == 0 {
			return host // too few segments, or an empty one
		}
		end = min(end+length+1, len(path))
	}
	return host + "/" + strings.TrimSuffix(path[:end], "/")
}
