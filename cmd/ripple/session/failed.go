package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// failures are the hosts that were given up or not reached, by reason.
type failures struct{ groups []*failure }

type failure struct {
	reason string // shared by all of them
	exact  string // the same with details, if all have the same
	count  int
	names  []string // of the first hosts
}

// maxFailed is the number of hosts that are named for a reason.
const maxFailed = 3

func (f *failures) add(name, reason, exact string) {
	i := slices.IndexFunc(f.groups, func(g *failure) bool { return g.reason == reason })
	if i < 0 {
		i = len(f.groups)
		f.groups = append(f.groups, &failure{reason: reason, exact: exact})
	}
	g := f.groups[i]
	if g.exact != exact {
		g.exact = reason
	}
	if g.count++; len(g.names) < maxFailed {
		g.names = append(g.names, term.Clean(name, 253))
	}
}

// addReport adds a host that was given up, never answered, or answered only with errors.
func (f *failures) addReport(h *survey.HostReport) {
	switch {
	case h.Host.RunGivenUp != schema.NotGivenUp:
		f.addHost(h.Host)
	case h.Unreached > 0:
		f.add(h.Host.Name, h.Away, h.Away)
	case h.Broken > 0:
		f.add(h.Host.Name, "server errors (5xx)", "server errors (5xx)")
	default:
		f.add(h.Host.Name, "no answer", "no answer")
	}
}

// addHost adds a host that was given up.
func (f *failures) addHost(h *schema.Host) {
	exact := h.RunGivenUpWhy.String()
	f.add(h.Name, cmp.Or(whyGivenUp(h), exact), exact)
}

// whyGivenUp returns why a host was given up, in the same words for all hosts with that reason: the cause and, after
// several failures, the cause of the last one.
func whyGivenUp(h *schema.Host) string {
	last := h.OutOfReach(h.Run)
	switch why := h.RunGivenUpWhy; {
	case why.Cause == schema.CauseNone:
		return ""
	case why.Cause == schema.CauseRobots && h.RobotsReason.Cause != schema.CauseNone:
		robots := schema.Reason{Cause: h.RobotsReason.Cause, Status: h.RobotsReason.Status}
		return why.Cause.String() + ": " + robots.String()
	case why.Cause == schema.CauseConnections && last != schema.CauseConnections:
		return why.Cause.String() + ": " + last.String()
	case why.Status != 0:
		return schema.StatusReason(why.Status).String()
	default:
		return why.Cause.String()
	}
}

// failedHosts reads from the file of a run the hosts that it has given up.
func failedHosts(store *kv.Store, run schema.RunID) ([]term.Remark, error) {
	var f failures
	err := store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if h.Run == run && h.RunGivenUp != schema.NotGivenUp {
				f.addHost(h)
			}
			return true, nil
		})
	})
	return f.remarks(), err
}

// remarks returns a remark for each reason, the most frequent first.
func (f *failures) remarks() (lines []term.Remark) {
	slices.SortStableFunc(f.groups, func(a, b *failure) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.reason, b.reason))
	})
	for _, g := range f.groups {
		lines = append(lines, term.Event("hosts failed", fmt.Sprintf("%s failed: %s (%s)", term.Count(g.count, "host", ""),
			term.Clean(g.exact, 200), g.named()), "count", g.count, "reason", term.Clean(g.exact, 200), "hosts", g.names))
	}
	return lines
}

// named returns the first hosts of the group, and the number of further ones.
func (g *failure) named() string {
	names := strings.Join(term.ShownHosts(g.names), ", ")
	if n := g.count - len(g.names); n > 0 {
		names += fmt.Sprintf(" and %s more", term.Commas(n))
	}
	return names
}
