package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// failures are hosts that were given up or not reached, by reason.
type failures struct{ groups []*failure }

type failure struct {
	reason string // that all have
	exact  string // of the first
	count  int
	names  []string // of the first ones
}

// maxFailed is how many hosts are named with a reason.
const maxFailed = 3

func (f *failures) add(h *survey.HostReport) {
	reason, exact := "not reached", "not reached"
	if h.Unreached == 0 {
		reason, exact = "no answer", "no answer"
	}
	if h.Host.RunGivenUp != schema.NotGivenUp {
		why := h.Host.RunGivenUpWhy
		reason, exact = schema.Reason{Cause: why.Cause, Status: why.Status}.String(), why.String()
	}
	reason = cmp.Or(reason, exact)
	i := slices.IndexFunc(f.groups, func(g *failure) bool { return g.reason == reason })
	if i < 0 {
		i = len(f.groups)
		f.groups = append(f.groups, &failure{reason: reason, exact: exact})
	}
	g := f.groups[i]
	if g.count++; len(g.names) < maxFailed {
		g.names = append(g.names, clean(h.Host.Name, 253))
	}
}

// remarks are one for each reason, the most frequent first.
func (f *failures) remarks() (lines []remark) {
	slices.SortStableFunc(f.groups, func(a, b *failure) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.reason, b.reason))
	})
	for _, g := range f.groups {
		reason := g.reason
		if g.count == 1 {
			reason = g.exact
		}
		names := strings.Join(g.names, ", ")
		if n := g.count - len(g.names); n > 0 {
			names += fmt.Sprintf(" and %s more", commas(n))
		}
		lines = append(lines, remark{
			fmt.Sprintf("%s failed: %s (%s)", count(g.count, "host", ""), clean(reason, 200), names),
			"hosts failed", []any{"count", g.count, "reason", clean(reason, 200), "hosts", g.names},
		})
	}
	return lines
}
