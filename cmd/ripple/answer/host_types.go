package answer

import (
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
)

// A Host is what is known of a host.
type Host struct {
	Input  string   `json:"input"`
	Met    bool     `json:"known"`
	Domain string   `json:"domain"`
	Shown  string   `json:"domain_shown,omitempty"` // to a person, if that is not the domain alone
	Site   string   `json:"site"`
	Class  string   `json:"class"`
	Rule   string   `json:"rule"`
	Origin []string `json:"quality_origins"`
	Tags   []string `json:"tags"` // that people gave it, as their decisions say
	Note   string   `json:"note"`
	Later  bool     `json:"later"` // it is not suggested for now

	Visitable bool `json:"-"` // as its class says
	*KnownHost
}

// A KnownHost is what is known only of a host that was met.
type KnownHost struct {
	Run int `json:"run_id"` // the newest
	survey.HostFigures
	survey.HostDetails
	Fetching int            `json:"fetching"` // requests to it that are open
	ByState  map[string]int `json:"pages_by_state"`
	ByDepth  []DepthCount   `json:"pages_by_depth"`

	Obstacle
	Trouble     string     `json:"trouble"`        // what keeps it from being asked; empty: nothing
	Again       *time.Time `json:"again_at"`       // when that is over; null: not in this run, or there is none
	Next        *time.Time `json:"next_request"`   // no request comes earlier; null: none was answered
	CrawlMS     int64      `json:"crawl_delay_ms"` // of robots.txt
	Timeouts    int        `json:"timeouts"`       // in a row, each of which doubles the delay
	AnswerMS    int64      `json:"smoothed_ms"`    // of an answer; as long a rest follows it
	BudgetUsed  int        `json:"request_count"`  // of the run
	Budget      int        `json:"request_limit"`
	BudgetKey   string     `json:"-"`
	RateLimited int        `json:"rate_limited"` // answers of the run that asked for rest
	Robots      KeptRobots `json:"robots"`

	LinkedFrom hostLinks    `json:"linked_from"`
	Open       bool         `json:"-"` // a request may be open that the file does not know of
	Busiest    []busyPage   `json:"busiest_pages"`
	Errors     []hostErrors `json:"errors"`
	Runs       []hostRun    `json:"runs"`
}

// A KeptRobots is a robots.txt as the last answer that counts left it.
type KeptRobots struct {
	Status    int        `json:"status_code"` // 0: there is no copy
	FetchedAt *time.Time `json:"robots_fetched_at"`
	Text      string     `json:"robots_txt"`
}

// hostLinks are the hosts that link to a host.
type hostLinks struct {
	Hosts int        `json:"hosts"`
	Pages int        `json:"pages"`
	Links int        `json:"links"`
	From  []hostLink `json:"from"` // those of origins first, then by pages
}

// A hostLink is a host that links to another, with the first of its links.
type hostLink struct {
	Domain string `json:"domain"`
	Shown  string `json:"domain_shown,omitempty"`
	Origin string `json:"quality_origin"`
	Pages  int    `json:"pages"`
	Links  int    `json:"links"`
	From   string `json:"from_url"`
	To     string `json:"to_url"`
	Anchor string `json:"anchor"`
	Place  string `json:"place"`
}

type busyPage struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	State string `json:"state"`
	In    int    `json:"links_in"`
}

type hostErrors struct {
	Error string `json:"error"`
	Pages int    `json:"pages"`
}

// A hostRun is what a run did at a host.
type hostRun struct {
	Run       int        `json:"run_id"`
	First     *time.Time `json:"first_visit"`
	Visited   int        `json:"pages"` // visited by asking
	Kept      int        `json:"kept"`
	Processed int        `json:"processed"`
	Requests  int        `json:"requests"` // of these visits: tries before them are not recorded
}
