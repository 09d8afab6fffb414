package survey

import (
	"maps"

	"github.com/sumi-ripple/ripple/schema"
)

// addUnasked counts a page that got no visit because its host could not be reached, or
// notes why one that got a visit was not reached.
func (ts *tallies) addUnasked(t *tally, p *Page) {
	h := &t.hosts[p.Host]
	switch {
	case !p.fromVisit && p.Missing() && (p.State == schema.Unreachable || p.State == schema.Failed):
		if ts.hosts.byID[p.Host].away != schema.CauseNone {
			h.unasked++
		}
	case p.Visited && p.State == schema.Unreachable:
		h.mixed = h.mixed || h.failed > 0 && p.Visit.Reason.Cause != h.away
		if p.Visit.Seq > h.failed {
			h.failed, h.away = p.Visit.Seq, p.Visit.Reason.Cause
		}
	}
}

// countErrors adds the pages that got no visit to the errors of the run.
func (ts *tallies) countErrors(t *tally) {
	t.counts.Errors = maps.Clone(ts.core.run.Errors)
	if t.counts.Errors == nil {
		t.counts.Errors = map[string]int{}
	}
	for id := range t.hosts {
		h := &t.hosts[id]
		if h.unasked == 0 {
			continue
		}
		away := ts.hosts.byID[id].away
		if away == schema.CauseConnections && h.away != schema.CauseNone {
			away = h.away
		}
		t.counts.Errors[away.ErrorKind()] += int(h.unasked)
	}
}
