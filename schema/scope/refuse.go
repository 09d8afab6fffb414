package scope

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Traps are the limits that keep an endless site from consuming the crawl ([traps]). 0 turns a limit
// off. The first two are checked here, the others where the crawl counts.
type Traps struct {
	MaxPathDepth        int
	MaxRepeatedSegments int
	MaxQueriesPerPath   int
	MaxPerPrefix        int
	MaxURLsPerHost      int
	MaxHostsPerSite     int
	MaxHostsPerPage     int
	MaxSitemapHosts     int
	Maze                bool // endless parts of a host are left
}

// Traps returns the limits.
func (s *Scope) Traps() Traps { return s.traps }

// A Rule keeps pages from being visited.
type Rule struct {
	Trap bool   // one of [traps]
	Text string // text for people, including the limit
}

// String returns the rule in words: `exclude "/private"`, `trap: max-path-depth = 20`.
func (r Rule) String() string {
	if r.Trap {
		return "trap: " + r.Text
	}
	return r.Text
}

// Refuse reports whether a page must not be visited because of its URL alone, and by which rule. A page
// of overlapping origins is refused only if all of them refuse it.
func (s *Scope) Refuse(host, pathQuery string) (rule Rule, refused bool) {
	if text := s.traps.refuse(pathQuery); text != "" {
		return Rule{Trap: true, Text: text}, true
	}
	if !s.scoped {
		return Rule{}, false
	}
	for _, i := range s.OriginsOf(host) {
		one := s.origins[i].refuse(pathQuery)
		if one == "" {
			return Rule{}, false
		}
		if rule.Text == "" {
			rule.Text = one
		}
	}
	return rule, rule.Text != ""
}

func (o *Origin) refuse(pathQuery string) string {
	if re := firstMatch(o.Exclude, pathQuery); re != nil {
		return "exclude " + strconv.Quote(re.String())
	}
	if len(o.Include) > 0 && firstMatch(o.Include, pathQuery) == nil {
		return "no include of " + strconv.Quote(o.Name) + " matches"
	}
	return ""
}

func firstMatch(list []*regexp.Regexp, s string) *regexp.Regexp {
	for _, re := range list {
		if re.MatchString(s) {
			return re
		}
	}
	return nil
}

func (t Traps) refuse(pathQuery string) string {
	path := segments(pathQuery)
	if t.MaxPathDepth > 0 && path != "" && strings.Count(path, "/")+1 > t.MaxPathDepth {
		return fmt.Sprintf("max-path-depth = %d", t.MaxPathDepth)
	}
	if t.MaxRepeatedSegments > 0 && repeats(path, t.MaxRepeatedSegments) {
		return fmt.Sprintf("max-repeated-segments = %d", t.MaxRepeatedSegments)
	}
	return ""
}

// segments returns the path of pathQuery without its leading slash: segments separated by slashes, or
// "" for the root.
func segments(pathQuery string) string {
	path, _, _ := strings.Cut(pathQuery, "?")
	return strings.TrimPrefix(path, "/")
}

// repeats reports whether a segment occurs more than limit times.
func repeats(path string, limit int) bool {
	n := strings.Count(path, "/") + 1
	if n <= limit {
		return false
	}
	if n > 32 { // maliciously long: comparing all pairs would be quadratic
		return repeatsCounted(path, limit)
	}
	for rest := path; rest != ""; {
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		if 1+countSegment(rest, segment) > limit {
			return true
		}
	}
	return false
}

func countSegment(path, want string) (n int) {
	for path != "" {
		var segment string
		segment, path, _ = strings.Cut(path, "/")
		if segment == want {
			n++
		}
	}
	return n
}

func repeatsCounted(path string, limit int) bool {
	seen := make(map[string]int)
	for segment := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if seen[segment]++; seen[segment] > limit {
			return true
		}
	}
	return false
}
