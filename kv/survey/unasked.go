package survey

import (
	"maps"

	"github.com/sumi-ripple/ripple/schema"
)

// addErrors counts a page that ended in an error without a failed visit: it got no visit because
// its host could not be reached, or its redirects lead nowhere. For a page whose visit did not
// reach its host, it records the cause.
func (ts *tallies) addErrors(t *tally, p *Page) {
	h := &t.hosts[p.Host]
	switch {
	case p.Unasked():
		if ts.hosts.byID[p.Host].away != schema.CauseNone {
			h.unasked++
		}
	case p.Visited && p.State == schema.Failed && p.Visit.State == schema.Processed && !p.Visit.Kept:
		t.misled++
	case p.Visited && p.State == schema.Unreachable:
		h.mixed = h.mixed || h.failed > 0 && p.Visit.Reason.Cause != h.away
		if p.Visit.Seq > h.failed {
			h.failed, h.away = p.Visit.Seq, p.Visit.Reason.Cause
		}
	}
}

// countErrors adds what [tallies.addErrors] counted to the errors of the run.
func (ts *tallies) countErrors(t *tally) {
	t.counts.Errors = maps.Clone(ts.core.run.Errors)
	if t.counts.Errors == nil {
		t.counts.Errors = map[string]int{}
	}
	if t.misled > 0 {
		t.counts.Errors[schema.CauseRedirectLoop.ErrorKind()] += t.misled
	}
	for id := range t.hosts {
		if n := t.hosts[id].unasked; n > 0 {
			t.counts.Errors[ts.unaskedKind(t, schema.HostID(id))] += int(n)
		}
	}
}

// Unasked reports whether a page got no visit because its host could not be reached.
func (p *Page) Unasked() bool {
	return !p.fromVisit && p.Missing() && (p.State == schema.Unreachable || p.State == schema.Failed)
}

// UnaskedKind returns the kind under which [Counts.Errors] counts the pages of a host that are
// [Page.Unasked]; empty: it does not count them.
func (s *Survey) UnaskedKind(host schema.HostID) (string, error) {
	t, err := s.tallies.tallied()
	if err != nil || t.hosts[host].unasked == 0 {
		return "", err
	}
	return s.tallies.unaskedKind(t, host), nil
}

// unaskedKind returns the kind of error that pages without a visit count as.
func (ts *tallies) unaskedKind(t *tally, host schema.HostID) string {
	h, away := &t.hosts[host], ts.hosts.byID[host].away
	if away == schema.CauseConnections && h.away != schema.CauseNone {
		away = h.away
	}
	return away.ErrorKind()
}
