package main

import (
	"io"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A report is what [monitor] report-path holds at the end of a run (SPEC 10).
type report struct {
	Ripple   string         `json:"ripple"` // the version; its place marks the file as ours
	RunID    int            `json:"run_id"`
	Status   string         `json:"status"`
	Reason   string         `json:"reason"`
	Started  time.Time      `json:"started_at"`
	Finished *time.Time     `json:"finished_at"`
	Seconds  float64        `json:"running_seconds"`
	Crawled  int            `json:"pages_crawled"` // processed, or kept, in the run
	Visited  int            `json:"pages_visited"` // asked for in the run, whatever came of it
	Requests int            `json:"requests"`
	Errors   map[string]int `json:"errors"`
	States   map[string]int `json:"pages_by_state"`

	Metrics  metrics      `json:"metrics"`
	Coverage []coverage   `json:"coverage"`
	Stray    []strayEntry `json:"stray_seeds"`
}

// Metrics are those of a crawl of nodes and edges.
type metrics struct {
	NodesDiscovered int     `json:"nodes_discovered"`
	NodesCrawled    int     `json:"nodes_crawled"`
	Edges           int     `json:"edges"`
	PagesFetched    int     `json:"pages_fetched"`
	PagesFailed     int     `json:"pages_failed"`
	MeanFetchMS     float64 `json:"mean_fetch_ms"`
}

type coverage struct {
	Domain       string `json:"domain"`
	Class        string `json:"class"`
	PagesKnown   int    `json:"pages_known"`
	PagesVisited int    `json:"pages_visited"`
	KnownMissing int    `json:"known_missing"`
	Coverage     string `json:"coverage"`
}

type strayEntry struct {
	Seed string `json:"seed"`
	End  string `json:"end"`
}

func writeReport(w io.Writer, s *survey.Survey) error {
	r, err := newReport(s)
	if err != nil {
		return err
	}
	return printJSON(w, r)
}

func newReport(s *survey.Survey) (*report, error) {
	run := s.Run()
	r := &report{
		Ripple: thisBuild().Version, RunID: int(run.ID), Status: run.Status.String(), Reason: run.Reason,
		Started: run.Started.UTC(), Finished: timeOrNull(run.Finished), Seconds: run.Running.Seconds(),
		Visited: run.Pages, Requests: run.Requests, Errors: run.Errors, States: map[string]int{},
		Coverage: []coverage{}, Stray: []strayEntry{},
	}
	counts, err := s.Counts()
	if err != nil {
		return nil, err
	}
	for _, state := range schema.States() {
		r.States[state.String()] = counts.ByState[state]
	}
	r.Crawled = counts.Processed
	r.Metrics.NodesDiscovered, r.Metrics.NodesCrawled, r.Metrics.Edges = counts.Pages, counts.Processed, counts.Links
	if err := r.addFetches(s); err != nil {
		return nil, err
	}
	stray, err := s.StraySeeds()
	for _, seed := range stray {
		r.Stray = append(r.Stray, strayEntry{seed.Seed, seed.End})
	}
	return r, err
}

// addFetches adds what was fetched and how each host is covered.
func (r *report) addFetches(s *survey.Survey) error {
	var total time.Duration
	err := s.EachPage(func(p *survey.Page) error {
		if !p.Visited || p.Visit.Requests == 0 {
			return nil
		}
		r.Metrics.PagesFetched++
		total += p.Visit.ResponseTime
		if p.State != schema.Processed {
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
	return s.EachHost(func(h *survey.HostReport) error {
		if h.Class.Visitable() && h.Known > 0 {
			r.Coverage = append(r.Coverage, coverage{
				Domain: h.Host.Name, Class: h.Class.String(), PagesKnown: h.Known, PagesVisited: h.Visited,
				KnownMissing: h.KnownMissing, Coverage: h.Coverage,
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
