package answer

import (
	"io"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Report is the content of [monitor] report-path at the end of a run, however the run ends.
type Report struct {
	Ripple   string         `json:"ripple"` // the version; the first key marks the file as Ripple's
	RunID    int            `json:"run_id"`
	Status   string         `json:"status"`
	Reason   string         `json:"reason"`
	Started  time.Time      `json:"started_at"`
	Finished *time.Time     `json:"finished_at"`
	Seconds  float64        `json:"running_seconds"`
	Crawled  int            `json:"pages_crawled"`   // processed, or kept, in the run
	Pages    int            `json:"pages_requested"` // visits of the run that made a request, whatever the outcome
	Requests int            `json:"requests"`
	Errors   map[string]int `json:"errors"`
	States   map[string]int `json:"pages_by_state"`
	Answers  map[string]int `json:"pages_by_answer"` // pages that the run visited, by what came instead

	Metrics  metrics      `json:"metrics"`
	Coverage []coverage   `json:"coverage"`
	Sites    []CutSite    `json:"cut_sites"`
	Stray    []strayEntry `json:"stray_seeds"`
}

// metrics are those of a crawl of nodes and edges.
type metrics struct {
	NodesDiscovered int     `json:"nodes_discovered"`
	NodesCrawled    int     `json:"nodes_crawled"`
	Edges           int     `json:"edges"`
	LinksOmitted    int     `json:"links_omitted"` // links of pages that have no edge
	PagesFetched    int     `json:"pages_fetched"`
	PagesFailed     int     `json:"pages_failed"`
	MeanFetchMS     float64 `json:"mean_fetch_ms"`
	Rendered        int     `json:"rendered"`         // pages, as counted by ripple stats
	Hindered        int     `json:"rendered_in_part"` // of those
	CutByBudget     int     `json:"render_cut_by_budget"`
	StillEmpty      int     `json:"rendered_empty"`
	Unrendered      int     `json:"not_rendered"`
	TimedOut        int     `json:"render_timed_out"`  // of those
	TriedOnce       int     `json:"render_tried_once"` // of those
	Shells          int     `json:"need_scripts"`
}

type coverage struct {
	Domain       string `json:"domain"`
	Class        string `json:"class"`
	PagesKnown   int    `json:"pages_known"`
	PagesVisited int    `json:"pages_visited"`
	KnownMissing int    `json:"known_missing"`
	LinksOmitted int    `json:"links_omitted"`
	Coverage     string `json:"coverage"`
	NeedScripts  int    `json:"need_scripts"` // pages
}

// A CutSite is a site of which only some hosts are recorded.
type CutSite struct {
	Site     string `json:"site"`
	Hosts    int    `json:"hosts"`
	Overflow int    `json:"overflow"` // links to further hosts
	Limit    string `json:"limit"`
}

func newCutSites(all []survey.CutSite) []CutSite {
	sites := make([]CutSite, len(all))
	for i, s := range all {
		sites[i] = CutSite(s)
	}
	return sites
}

type strayEntry struct {
	Seed string `json:"seed"`
	End  string `json:"end"`
}

// WriteReport writes the report of a run as JSON.
func WriteReport(w io.Writer, s *survey.Survey) error {
	r, err := newReport(s)
	if err != nil {
		return err
	}
	return term.PrintJSON(w, r)
}

func newReport(s *survey.Survey) (*Report, error) {
	run := s.Run()
	r := &Report{
		Ripple: term.ThisBuild().Version, RunID: int(run.ID), Status: run.Status.String(), Reason: run.End.String(),
		Started: run.Started.UTC(), Finished: timeOrNull(run.Finished), Seconds: run.Running.Seconds(),
		Pages: run.Pages, Requests: run.Requests, States: map[string]int{},
		Coverage: []coverage{}, Stray: []strayEntry{},
	}
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	for _, state := range schema.States() {
		if n := counts.ByState[state]; n > 0 || state != schema.Foreign {
			r.States[state.String()] = n
		}
	}
	r.Crawled, r.Errors, r.Answers = counts.Processed, counts.Errors, byAnswer(counts)
	r.Metrics.NodesDiscovered, r.Metrics.NodesCrawled = counts.Pages, counts.Processed
	r.Metrics.Edges, r.Metrics.LinksOmitted = counts.Links, counts.LinksOmitted
	r.Metrics.Rendered, r.Metrics.Hindered = counts.Rendered, counts.Hindered
	r.Metrics.StillEmpty, r.Metrics.CutByBudget = counts.StillEmpty, counts.CutByBudget
	r.Metrics.Unrendered, r.Metrics.Shells = counts.Unrendered, counts.Shells
	r.Metrics.TimedOut, r.Metrics.TriedOnce = counts.TimedOut, counts.TriedOnce
	if err := r.addFetches(s); err != nil {
		return nil, err
	}
	cut, err := survey.CutSites(s)
	if err != nil {
		return nil, err
	}
	r.Sites = newCutSites(cut)
	stray, err := survey.StraySeeds(s)
	for _, seed := range stray {
		r.Stray = append(r.Stray, strayEntry{seed.Seed, seed.End})
	}
	return r, err
}

// addFetches adds what was fetched, and the coverage of each host.
func (r *Report) addFetches(s *survey.Survey) error {
	var total time.Duration
	err := s.EachPage(func(p *survey.Page) error {
		if !p.Visited || p.Visit.Requests == 0 {
			return nil
		}
		r.Metrics.PagesFetched++
		total += p.Visit.ResponseTime
		if p.State != schema.Processed && p.State != schema.ContentMismatch {
			r.Metrics.PagesFailed++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n := r.Metrics.PagesFetched; n > 0 {
		r.Metrics.MeanFetchMS = float64(total.Milliseconds()) / float64(n)
	}
	return s.Hosts.Each(func(h *survey.HostReport) error {
		if h.Known > 0 && (h.Class.Visitable() || h.Cover.Cut()) {
			r.Coverage = append(r.Coverage, coverage{
				Domain: h.Host.Name, Class: h.Class.String(), PagesKnown: h.Known, PagesVisited: h.Visited,
				KnownMissing: h.KnownMissing, LinksOmitted: h.LinksOmitted, Coverage: h.Coverage,
				NeedScripts: h.Shells,
			})
		}
		return nil
	})
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
