package answer

import (
	"cmp"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// Stats are the counts of a map, and the hosts that take longest.
type Stats struct {
	State        string         `json:"state_path"`
	Bytes        int64          `json:"state_bytes"`
	Run          StatsRun       `json:"run"`
	Live         *census.Status `json:"live"` // null: no crawl is running
	Left         census.Left    `json:"left"` // left to do in the run, within its limits
	Pages        int            `json:"pages"`
	NotMet       int            `json:"pages_not_met"` // of those: not met by the last completed run or a later one
	Links        int            `json:"links"`
	Hosts        int            `json:"hosts"`          // quality and discovered, with pages
	Listed       int            `json:"listed_hosts"`   // blacklisted and stub, with pages
	GivenUp      int            `json:"hosts_given_up"` // in the run
	Frontier     int            `json:"frontier"`
	LinksOmitted int            `json:"links_omitted"` // unrecorded links of pages
	Shells       int            `json:"need_scripts"`  // processed pages that are likely empty without their scripts
	Rendered     int            `json:"rendered"`      // processed pages that are recorded after their scripts have run
	Hindered     int            `json:"rendered_in_part"`
	Refusals     map[string]int `json:"render_refusals"`      // requests of rendered pages that no page may make, by kind
	CutByBudget  int            `json:"render_cut_by_budget"` // rendered or not: a budget was used up
	StillEmpty   int            `json:"rendered_empty"`       // pages that are empty even after their scripts have run
	Unrendered   int            `json:"not_rendered"`         // the browser failed, or the result was too large
	TimedOut     int            `json:"render_timed_out"`     // of those: their scripts used up the time of a page
	TriedOnce    int            `json:"render_tried_once"`    // of those: other pages of their host had timed out
	Sites        []CutSite      `json:"cut_sites"`            // sites of which only some hosts are recorded
	ByState      map[string]int `json:"pages_by_state"`
	ByAnswer     map[string]int `json:"pages_by_answer"` // pages that the run visited, by what came instead
	ByClass      map[string]int `json:"pages_by_class"`
	ByDepth      []DepthCount   `json:"pages_by_depth"`
	Origins      []originStats  `json:"origins"`
	Slow         []slowHost     `json:"slow_hosts"`

	SitesTotal int `json:"cut_sites_total"` // --limit may list fewer
	SlowTotal  int `json:"slow_hosts_total"`
}

// A StatsRun is a run with its counts.
type StatsRun struct {
	ID         int            `json:"id"`
	Status     string         `json:"status"`
	Reason     string         `json:"reason"`
	Started    time.Time      `json:"started_at"`
	Finished   *time.Time     `json:"finished_at"`
	Pages      int            `json:"pages"`
	Rendered   int            `json:"rendered"`     // of those: recorded after their scripts have run
	Unrendered int            `json:"not_rendered"` // of those: recorded as fetched, because rendering failed
	Requests   int            `json:"requests"`
	Seconds    float64        `json:"running_seconds"`
	Errors     map[string]int `json:"errors"`
	Rules      string         `json:"rules"` // versions of the tables of rules that have judged its answers
	Kind       string         `json:"kind"`  // crawl, or import: of web archives
	Oldest     *time.Time     `json:"oldest_capture_at"`
	Newest     *time.Time     `json:"newest_capture_at"`

	Captured string `json:"-"` // the days between
}

// A DepthCount counts the pages at a depth.
type DepthCount struct {
	Depth     *int `json:"depth"` // null: pages without one
	Pages     int  `json:"pages"`
	Processed int  `json:"processed"`
}

// A slowHost is a host that the end of the crawl waits for, or that was cut.
type slowHost struct {
	Domain       string     `json:"domain"`
	Shown        string     `json:"domain_shown,omitempty"` // the name as people see it, if it differs from the domain
	Class        string     `json:"class"`
	KnownMissing int        `json:"known_missing"`
	LinksOmitted int        `json:"links_omitted"`
	DelayMS      int64      `json:"delay_ms"`
	AnswerMS     int64      `json:"smoothed_ms"`    // smoothed answer time
	ToVisit      int        `json:"pages_to_visit"` // in this run
	ETA          *float64   `json:"eta_seconds"`    // 0: not in this run; null: the crawl waits for something else
	SuspendedTo  *time.Time `json:"suspended_until"`
	Trouble      string     `json:"trouble"`  // why it is requested less often than its delay allows; empty: it is not
	AgainAt      *time.Time `json:"again_at"` // the earliest time of the next request
	Coverage     string     `json:"coverage"`

	Rest time.Duration `json:"-"` // between two requests

	seconds float64 // that its pages take in this run
}

// NewStats counts a state. It lists up to most hosts and sites.
func NewStats(r *statefile.State, most int) (*Stats, error) {
	counts, err := r.Counts()
	if err != nil {
		return nil, err
	}
	run := r.Run()
	s := &Stats{
		State: r.Path, Bytes: r.Size, Live: r.Live,
		Run:   NewStatsRun(run, counts.Errors),
		Pages: counts.Pages, NotMet: counts.Gone, Links: counts.Links,
		Hosts: counts.Hosts, Listed: counts.Listed, Frontier: counts.Frontier,
		LinksOmitted: counts.LinksOmitted, Shells: counts.Shells,
		Rendered: counts.Rendered, Hindered: counts.Hindered, CutByBudget: counts.CutByBudget, StillEmpty: counts.StillEmpty,
		Unrendered: counts.Unrendered, TimedOut: counts.TimedOut, TriedOnce: counts.TriedOnce,
		Refusals: map[string]int{},
		ByState:  map[string]int{}, ByAnswer: byAnswer(counts), ByClass: map[string]int{}, ByDepth: depthCounts(counts),
	}
	for kind, n := range counts.Refusals {
		if n > 0 {
			s.Refusals[schema.RefusalKind(kind).String()] = n
		}
	}
	for _, state := range schema.States() {
		if n := counts.ByState[state]; n > 0 || state != schema.Foreign {
			s.ByState[state.String()] = n
		}
	}
	for class, n := range counts.ByClass {
		s.ByClass[schema.Class(class).String()] = n
	}
	if err := s.addFetching(r); err != nil {
		return nil, err
	}
	if s.Live == nil && r.Unwritten() {
		s.Run.Status, s.Run.Reason = schema.RunInterrupted.String(), schema.End{Kind: schema.EndOutputs}.String()
	}
	if s.Live != nil { // the copy's count serves both
		s.Live.Pages, s.Live.Requests, s.Live.PagesWaiting = run.Pages, run.Requests, counts.Frontier
		s.Live.Errors = counts.Errors
	}
	cut, err := survey.CutSites(r.Survey)
	if err != nil {
		return nil, err
	}
	s.SitesTotal = len(cut)
	s.Sites = newCutSites(cut[:min(len(cut), most)])
	return s, s.addHosts(r, run, most)
}

// byAnswer returns the number of pages that the run visited, by what came instead.
func byAnswer(counts *survey.Counts) map[string]int {
	all := map[string]int{}
	for _, a := range schema.Answers() {
		if a != schema.AnswerPage {
			all[a.String()] = counts.ByAnswer[a]
		}
	}
	return all
}

func depthCounts(counts *survey.Counts) []DepthCount {
	all := []DepthCount{}
	for depth, n := range counts.ByDepth {
		if n == 0 {
			continue
		}
		d := DepthCount{Pages: n, Processed: counts.StandingByDepth[depth]}
		if depth != kv.NoDepth {
			d.Depth = &depth
		}
		all = append(all, d)
	}
	return all
}

// NewStatsRun returns a run with its errors by kind.
func NewStatsRun(run schema.Run, errs map[string]int) StatsRun {
	return StatsRun{
		ID: int(run.ID), Status: run.Status.String(), Reason: run.End.String(), Started: run.Started.UTC(),
		Finished: timeOrNull(run.Finished),
		Pages:    run.Pages, Rendered: run.Rendered, Unrendered: run.Unrendered, Requests: run.Requests,
		Seconds: run.Running.Seconds(), Errors: errs, Rules: run.Rules,
		Kind: run.Kind.String(), Oldest: timeOrNull(run.Oldest), Newest: timeOrNull(run.Newest), Captured: run.Captured(),
	}
}

// addHosts counts the hosts of the origins. It lists those with pages that wait or are missing, the
// slowest first.
func (s *Stats) addHosts(r *statefile.State, run schema.Run, most int) error {
	cfg, err := statefile.LastConfig(r.Store)
	if err != nil {
		return err
	}
	s.Slow, s.Origins = []slowHost{}, newOriginStats(r)
	pace := census.NewPace(cfg, &run, r.Hosts.Record)
	left := census.NewRemainder(r.Store, pace)
	err = r.Hosts.EachUntitled(func(h *survey.HostReport) error {
		waiting := h.Waiting - h.ByState[schema.RequestLimitHit]
		pages, seconds := pace.Of(h.Host, waiting)
		left.Add(h.Host, pages, seconds)
		s.addOrigins(h, pages, seconds)
		if h.Host.Trouble(run.ID).Kind == schema.TroubleGivenUp {
			s.GivenUp++
		}
		if waiting == 0 && !h.Cover.Cut() {
			return nil
		}
		s.SlowTotal++
		s.Slow = append(s.Slow, newSlowHost(r, h, pace, int(pages), seconds))
		if len(s.Slow) > 100 && len(s.Slow)/2 > most {
			s.Slow = slowest(s.Slow, most)
		}
		return nil
	})
	s.Slow = slowest(s.Slow, most)
	if s.Left = left.Left(); r.Live != nil {
		s.Left = r.Live.Left
	}
	for i := range s.Slow {
		s.Slow[i].ETA = s.within(s.Slow[i].seconds)
	}
	for i := range s.Origins {
		s.Origins[i].ETA = s.within(s.Origins[i].seconds)
	}
	return err
}

// within limits the time of a host to the remaining time. It returns nil while the crawl waits for something that is no
// host.
func (s *Stats) within(seconds float64) *float64 {
	if s.Live != nil && s.Live.Condition.Cause != census.NoCause {
		return nil
	}
	seconds = s.Left.Within(seconds)
	return &seconds
}

func newSlowHost(r *statefile.State, h *survey.HostReport, pace census.Pace, pages int, eta float64) slowHost {
	e := slowHost{
		Domain: h.Host.Name, Shown: weburl.ShownIfOther(h.Host.Name),
		Class: h.Class.String(), KnownMissing: h.KnownMissing, LinksOmitted: h.LinksOmitted,
		DelayMS: h.DelayMS, AnswerMS: h.Host.Smoothed.Milliseconds(), Coverage: h.Coverage,
		ToVisit: pages, seconds: eta, Rest: clock.Rest(r.Config(), h.Host),
	}
	if census.Suspended(h.Host) > 0 {
		e.SuspendedTo = timeOrNull(h.Host.RestsUntil(time.Now()))
	}
	if t := pace.Trouble(h.Host); t.Kind != schema.TroubleNone {
		e.Trouble, e.AgainAt = t.String(), timeOrNull(t.Until)
	}
	return e
}

func slowest(slow []slowHost, most int) []slowHost {
	slices.SortStableFunc(slow, func(a, b slowHost) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(b.KnownMissing, a.KnownMissing),
			cmp.Compare(a.Domain, b.Domain))
	})
	return slow[:min(len(slow), most)]
}
