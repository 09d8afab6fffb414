package webtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A Rule checks the requests to one host and returns a line for each violation.
//
// As in politeness rules, "a.test" and "www.a.test" count as one host, and different ports as different
// hosts. The entries are in order of arrival.
type Rule func(host string, entries []Entry) []string

// CheckLog returns the violations of the rules by the requests, as lines for people, sorted by host. No
// lines mean that the crawl kept the rules. The entries may be in any order. CheckLog knows nothing
// about the crawler; it uses only the server's log.
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

// MinGap requires a gap of at least d, less the tolerance, between two requests. The gap is
// measured from the first byte of an answer, or from the end of an attempt without one, to the
// arrival of the next request.
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

// SmallestGap returns the smallest gap at any host, measured as in [MinGap]. It returns false if no
// host received two requests.
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

// answered returns the time from which a gap is measured. It is zero while the request is open and
// unanswered.
func answered(e Entry) time.Time {
	if e.FirstByte.IsZero() {
		return e.Done
	}
	return e.FirstByte
}

// MaxOpen allows at most n open requests at a time. A request counts as ended tolerance before its
// end, because a server notices with a slight delay that a client has left.
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

// RobotsFirst requires an answer for /robots.txt before any other request. 429 and 5xx are not
// answers. Paths in besides are exempt, for example those to which robots.txt redirects.
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

// final reports whether an answer settles robots.txt.
func final(e Entry) bool {
	return !e.FirstByte.IsZero() && e.Status >= 200 && e.Status < 500 && e.Status != 429
}

// Disallowed forbids requests at the host to paths that begin with one of the prefixes. The host is
// named without www.; "" means every host. /robots.txt itself is always allowed.
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

// Suspended forbids requests that arrive at the host after from and before until.
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

// HonoursRetryAfter requires a pause of at least d, less the tolerance, after every 429 and 503 of a
// host. It is for webs whose Retry-After is always d.
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

// label describes a request in a violation.
func (e Entry) label() string {
	at := e.Arrived.UTC().Format("15:04:05.000000")
	if e.Method == "" {
		return "connection at " + at
	}
	return fmt.Sprintf("%s %s (%d) at %s", e.Method, e.Path, e.Status, at)
}

// siteHost returns the host without www., which politeness rules treat as the same host.
func siteHost(host string) string {
	for {
		rest, ok := strings.CutPrefix(host, "www.")
		if !ok {
			return host
		}
		host = rest
	}
}
