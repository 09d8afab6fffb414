package answer

import (
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Host is what is known of a host.
type Host struct {
	Input  string   `json:"input"`
	Met    bool     `json:"known"`
	Near   []string `json:"-"` // hosts with similar names, of one that was never met
	Domain string   `json:"domain"`
	Shown  string   `json:"domain_shown,omitempty"` // the name as people see it, if it differs from the domain
	Site   string   `json:"site"`
	Class  string   `json:"class"`
	Rule   string   `json:"rule"`
	Origin []string `json:"quality_origins"`
	Tags   []string `json:"tags"` // given by people's decisions
	Note   string   `json:"note"`
	Later  bool     `json:"later"` // not suggested for now

	Archives []schema.RunID `json:"archives,omitempty"` // the runs whose archives alone know the host

	Visitable bool `json:"-"` // its class allows visits
	*KnownHost
}

// A KnownHost is what is known only of a host that was met.
type KnownHost struct {
	Run int `json:"run_id"` // the newest run
	survey.HostFigures
	survey.HostDetails
	Fetching int            `json:"fetching"` // open requests to it
	ByState  map[string]int `json:"pages_by_state"`
	ByDepth  []DepthCount   `json:"pages_by_depth"`

	Obstacle
	Trouble     string     `json:"trouble"`        // what prevents requests to it; empty: nothing
	Again       *time.Time `json:"again_at"`       // when the trouble ends; null: not in this run, or no trouble
	Next        *time.Time `json:"next_request"`   // the earliest time of the next request; null: none was answered
	CrawlMS     int64      `json:"crawl_delay_ms"` // of robots.txt
	Timeouts    int        `json:"timeouts"`       // in a row; each doubles the delay
	AnswerMS    int64      `json:"smoothed_ms"`    // smoothed answer time; the pause after an answer is at least as long
	BudgetUsed  int        `json:"request_count"`  // requests of the run
	Budget      int        `json:"request_limit"`
	BudgetKey   string     `json:"-"`
	RateLimited int        `json:"rate_limited"` // answers of the run that asked for a pause
	Robots      KeptRobots `json:"robots"`

	Answered []Answered    `json:"answered"`      // what came instead of pages, by rule
	Probe    *MissingProbe `json:"missing_probe"` // null: the host was not asked

	Hands *survey.NewHands `json:"changed_hands"` // since an earlier run; null: it has not

	LinkedFrom hostLinks    `json:"linked_from"`
	Imported   bool         `json:"-"` // the run has read archives, and requested nothing
	Open       bool         `json:"-"` // a request may be open that the file does not show
	Busiest    []busyPage   `json:"busiest_pages"`
	Errors     []hostErrors `json:"errors"`
	Runs       []hostRun    `json:"runs"`
}

// A KeptRobots is a robots.txt as the last answer that counts left it.
type KeptRobots struct {
	Status    int        `json:"status_code"` // 0: no copy
	FetchedAt *time.Time `json:"robots_fetched_at"`
	Text      string     `json:"robots_txt"`
}

// hostLinks are the hosts that link to a host, by the links in the chosen place or in all.
type hostLinks struct {
	Hosts  int          `json:"hosts"`
	Pages  int          `json:"pages"`
	Links  int          `json:"links"`
	Places []PlaceCount `json:"places"` // of all links, whichever are chosen
	From   []hostLink   `json:"from"`   // those that endorse first, then origins' hosts
}

// A hostLink is a host that links to another, with the first of its links, an endorsement if possible.
type hostLink struct {
	Domain string `json:"domain"`
	Shown  string `json:"domain_shown,omitempty"`
	Origin string `json:"quality_origin"`
	Pages  int    `json:"pages"`
	Links  int    `json:"links"`

	Editorial int `json:"editorial"` // endorsements

	From   string `json:"from_url"`
	To     string `json:"to_url"`
	Anchor string `json:"anchor"`
	Place  string `json:"place"`
	target schema.ID
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
	Visited   int        `json:"pages"` // visited with a request
	Kept      int        `json:"kept"`
	Processed int        `json:"processed"`
	Requests  int        `json:"requests"` // requests of these visits; tries before them are not recorded
}
