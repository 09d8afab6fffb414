package webtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Rule judges the requests to one host and returns a line for each violation.
//
// A host is what politeness counts as one: "a.test" and "www.a.test" together,
// ports apart. The entries are in order of arrival.
type Rule func(host string, entries []Entry) []string

// CheckLog returns what the requests did against the rules, as lines for a
// person, host after host; none means that the crawl kept them. The entries may
// have any order. It knows nothing of the crawler: it reads the server's log
// alone.
func CheckLog(entries []Entry, rules ...Rule) []string {
	hosts := map[string][]Entry{}
	for _, e := range entries {
		key := siteHost(e.Host)
		hosts[key] = append(hosts[key], e)
	}
	var lines []string
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		sortByArrival(hosts[host])
		for _, rule := range rules {
			for _, line := range rule(host, hosts[host]) {
				lines = append(lines, host+": "+line)
			}
		}
	}
	return lines
}

// MinGap wants at least d, less the tolerance, from the first byte of an answer,
// or the end of a try without one, to the arrival of the next request.
func MinGap(d, tolerance time.Duration) Rule {
	return func(_ string, entries []Entry) (lines []string) {
		for i := 1; i < len(entries); i++ {
			before, e := entries[i-1], entries[i]
			from := answered(before)
			if gap := e.Arrived.Sub(from); !from.IsZero() && gap < d-tolerance {
				lines = append(lines, fmt.Sprintf("%s only %v after %s, want %v", e.label(), gap, before.label(), d))
			}
		}
		return lines
	}
}

// SmallestGap is the smallest gap at any host, measured as [MinGap] does, and
// false when no host was asked twice.
func SmallestGap(entries []Entry) (time.Duration, bool) {
	smallest, found := time.Duration(0), false
	measure := func(_ string, entries []Entry) []string {
		for i := 1; i < len(entries); i++ {
			from := answered(entries[i-1])
			gap := entries[i].Arrived.Sub(from)
			if !from.IsZero() && (!found || gap < smallest) {
				smallest, found = gap, true
			}
		}
		return nil
	}
	CheckLog(entries, measure)
	return smallest, found
}

// answered is the moment that a gap is counted from; zero while the request is
// still open and unanswered.
func answered(e Entry) time.Time {
	if e.FirstByte.IsZero() {
		return e.Done
	}
	return e.FirstByte
}

// MaxOpen wants at most n requests open at once. A request counts as ended
// tolerance before its end, since a server sees a client leave a little late.
func MaxOpen(n int, tolerance time.Duration) Rule {
	return func(_ string, entries []Entry) (lines []string) {
		var open []Entry
		for _, e := range entries {
			open = slices.DeleteFunc(open, func(o Entry) bool {
				return !o.Done.IsZero() && !o.Done.Add(-tolerance).After(e.Arrived)
			})
			if open = append(open, e); len(open) > n {
				lines = append(lines, fmt.Sprintf("%s while %d others were open, the oldest %s", e.label(), len(open)-1,
					open[0].label()))
			}
		}
		return lines
	}
}

// RobotsFirst wants an answer for /robots.txt before anything else is asked.
// 429 and 5xx are no answer. Paths in besides are excused, such as those that
// robots.txt redirects to.
func RobotsFirst(besides ...string) Rule {
	return func(_ string, entries []Entry) (lines []string) {
		var known time.Time
		for _, e := range entries {
			switch {
			case e.Path == "/robots.txt":
				if final(e) && (known.IsZero() || e.FirstByte.Before(known)) {
					known = e.FirstByte
				}
			case e.Method == "" || slices.Contains(besides, e.Path):
			case known.IsZero() || e.Arrived.Before(known):
				lines = append(lines, fmt.Sprintf("%s before robots.txt was answered", e.label()))
			}
		}
		return lines
	}
}

// final reports an answer that settles what robots.txt says.
func final(e Entry) bool {
	return !e.FirstByte.IsZero() && e.Status >= 200 && e.Status < 500 && e.Status != 429
}

// Disallowed wants no request at the host to a path that begins with one of the
// prefixes. The host is named without www.; "" means every host. /robots.txt
// itself is always allowed.
func Disallowed(host string, prefixes ...string) Rule {
	return func(at string, entries []Entry) (lines []string) {
		if host != "" && at != siteHost(host) {
			return nil
		}
		for _, e := range entries {
			for _, prefix := range prefixes {
				if strings.HasPrefix(e.Path, prefix) && e.Path != "/robots.txt" {
					lines = append(lines, fmt.Sprintf("%s is disallowed by %q", e.label(), prefix))
				}
			}
		}
		return lines
	}
}

// Suspended wants no request to arrive at the host after from and before until.
func Suspended(host string, from, until time.Time) Rule {
	return func(at string, entries []Entry) (lines []string) {
		if at != siteHost(host) {
			return nil
		}
		for _, e := range entries {
			if e.Arrived.After(from) && e.Arrived.Before(until) {
				lines = append(lines, fmt.Sprintf("%s %v before the suspension ended", e.label(), until.Sub(e.Arrived)))
			}
		}
		return lines
	}
}

// HonoursRetryAfter wants silence of at least d, less the tolerance, after every
// 429 and 503 of a host. It is for webs whose Retry-After is always d.
func HonoursRetryAfter(d, tolerance time.Duration) Rule {
	return func(host string, entries []Entry) (lines []string) {
		for _, e := range entries {
			if e.Status == 429 || e.Status == 503 {
				until := answered(e).Add(d - tolerance)
				lines = append(lines, Suspended(host, answered(e), until)(host, entries)...)
			}
		}
		return lines
	}
}

// label names a request in a violation.
func (e Entry) label() string {
	at := e.Arrived.UTC().Format("15:04:05.000000")
	if e.Method == "" {
		return "connection at " + at
	}
	return fmt.Sprintf("%s %s (%d) at %s", e.Method, e.Path, e.Status, at)
}

// siteHost is the host without www., which politeness counts as one.
func siteHost(host string) string {
	for {
		rest, ok := strings.CutPrefix(host, "www.")
		if !ok {
			return host
		}
		host = rest
	}
}
