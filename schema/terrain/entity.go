package terrain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A By says what is one node at entity level: a positive number that many path
// segments below the host, [ByHost] or [BySite].
type By int

// The nodes that are no paths.
const (
	ByHost By = 0
	BySite By = -1
)

// maxBy is the longest path that names an entity.
const maxBy = 20

// ParseBy reads "host", "site" or "path-1" to "path-20".
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

// String returns what ParseBy reads.
func (b By) String() string {
	switch b {
	case ByHost:
		return "host"
	case BySite:
		return "site"
	}
	return "path-" + strconv.Itoa(int(b))
}

// An Entity says what the nodes of some hosts are ([[entity]]).
type Entity struct {
	Pattern Pattern
	By      By
}

// Entity returns the node of a normalised URL at entity level: its host, unless an
// entity rule says otherwise. A URL with too few segments is the host's.
func (t *Terrain) Entity(norm string) string {
	host, pathQuery := weburl.Split(norm)
	for _, e := range t.entities {
		if e.Pattern.Match(host) {
			return e.By.node(host, pathQuery)
		}
	}
	return host
}

// EntityOfHost returns the node that all URLs of a host belong to at entity level; not ok:
// their paths decide.
func (t *Terrain) EntityOfHost(host string) (node string, ok bool) {
	for _, e := range t.entities {
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
			return host // too few, or an empty one
		}
		end = min(end+length+1, len(path))
	}
	return host + "/" + strings.TrimSuffix(path[:end], "/")
}
