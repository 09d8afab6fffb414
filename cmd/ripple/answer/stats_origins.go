package answer

import (
	"cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// An originStats is the progress of a run with an origin: the sums over its hosts.
type originStats struct {
	Origin   string   `json:"quality_origin"`
	Hosts    int      `json:"hosts"` // with pages
	CutHosts int      `json:"hosts_cut"`
	Known    int      `json:"pages_known"`
	Visited  int      `json:"pages_visited"`
	ToVisit  int      `json:"pages_to_visit"` // in this run
	Missing  int      `json:"known_missing"`
	Unnoted  int      `json:"urls_not_recorded"` // of known_missing: they are not pages of the map
	Used     int      `json:"request_count"`     // requests counted in the budgets of its hosts
	Limit    int      `json:"request_limit"`
	ETA      *float64 `json:"eta_seconds"` // of its slowest host; 0: not in this run; null: see [slowHost]
	Coverage string   `json:"coverage"`    // of the host with the most missing pages
	CutBy    string   `json:"cut_by"`      // the key that cuts a host, and its value; empty: none

	worst   int     // missing pages of that host
	seconds float64 // that its slowest host takes
}

// An OriginList is the progress of a run with its origins, as far as hosts' records show it without
// a scan of pages.
type OriginList struct {
	Origins []census.Origin `json:"origins"`
}

// newOriginStats returns empty sums, one entry for each origin.
func newOriginStats(r *statefile.State) []originStats {
	origins := r.Scope().Origins()
	list := make([]originStats, len(origins))
	for i := range origins {
		list[i] = originStats{Origin: origins[i].Name, Coverage: "no page is known", worst: -1}
	}
	return list
}

// add counts a host of the origin, with its remaining work.
func (o *originStats) add(h *survey.HostReport, run schema.RunID, pages, seconds float64) {
	if h.Known == 0 {
		return
	}
	o.Hosts++
	o.Known += h.Known
	o.Visited += h.Visited
	o.Missing += h.KnownMissing
	o.Unnoted += h.NotRecorded
	o.ToVisit += int(pages)
	o.Limit += h.Limit
	if h.Host.Run == run {
		o.Used += h.Host.RunRequests
	}
	o.seconds = max(o.seconds, seconds)
	if h.Cover.Cut() && h.Cover != survey.CoverWaiting {
		o.CutHosts++
	}
	if h.KnownMissing > o.worst {
		o.worst, o.Coverage = h.KnownMissing, h.Coverage
	}
	o.CutBy = cmp.Or(o.CutBy, h.Budget)
}

// addOrigins counts a host with each origin that it belongs to.
func (s *Stats) addOrigins(h *survey.HostReport, pages, seconds float64) {
	for _, i := range h.Origins {
		s.Origins[i].add(h, schema.RunID(s.Run.ID), pages, seconds)
	}
}
