package scope

import (
	"fmt"
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
}

// Entity returns the node of a canonical URL at entity level: its host, unless an entity rule says
// otherwise. A URL with too few segments belongs to the host's node.
func (s *Scope) Entity(norm string) string {
	host, pathQuery := weburl.Split(norm)
	for _, e := range s.entities {
		if e.Pattern.Match(host) {
			return e.By.node(host, pathQuery)
		}
	}
	return host
}

// EntityOfHost returns the node of all URLs of a host at entity level. ok is false if the node depends
// on their paths.
func (s *Scope) EntityOfHost(host string) (node string, ok bool) {
	for _, e := range s.entities {
		if e.Pattern.Match(host) {
			return e.By.node(host, "/"), e.By <= ByHost
		}
	}
	return host, true
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
