package answer

import (
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// A Page is what is known of a URL.
type Page struct {
	Input string    `json:"input"`
	Known bool      `json:"known"`
	URL   string    `json:"url"`
	Shown string    `json:"domain_shown,omitempty"` // its host as people see it, if it differs from the domain
	SURT  string    `json:"surt_key"`
	Steps []urlStep `json:"steps"`
	Class string    `json:"class"`
	Rule  string    `json:"rule"`

	Archives []schema.RunID `json:"archives,omitempty"` // the runs whose archives alone know the page

	Robots *RobotsVerdict `json:"robots"` // by the copy of its host's robots.txt; null: no copy

	ClassRule string `json:"-"` // the rule that gave the class
	*KnownPage
}

type urlStep struct {
	Step   string `json:"step"`
	Result string `json:"result"`
}

// A KnownPage is what is known only of a page that was met.
type KnownPage struct {
	Rule     string     `json:"-"` // the rule that decided
	Imported bool       `json:"-"` // the run has read archives, and requested nothing
	form     string     // the form requested last; empty: none
	State    string     `json:"state"`
	Error    string     `json:"error_message"`
	Fetching *time.Time `json:"fetching_since"` // when its open request was made; null: none is open
	Obstacle
	Depth        *int               `json:"depth"`
	Seed         bool               `json:"seed"`
	Own          *bool              `json:"own"` // its host itself names it; null: not reached by the run
	PageType     string             `json:"page_type"`
	Title        string             `json:"title"`
	DiscoveredAt time.Time          `json:"discovered_at"`
	FirstRun     int                `json:"first_run"`
	LastRun      int                `json:"last_run"`
	Referrer     string             `json:"referrer"`
	Forms        []string           `json:"forms"`
	Paths        []OriginPath       `json:"depths"`
	Trouble      string             `json:"host_trouble"` // why its host is requested less often than its delay allows
	AgainAt      *time.Time         `json:"host_again_at"`
	Redirects    []string           `json:"redirects"`
	LinksIn      LinksIn            `json:"links_in"`
	LinksOut     LinkList[PageLink] `json:"links_out"`
	Facts        []fact             `json:"facts"`
	Answered     *Answered          `json:"answered"`      // null: a page, or nothing is known
	Probe        *MissingProbe      `json:"missing_probe"` // with which a soft 404 was compared; otherwise null
	Visits       []Visit            `json:"visits"`
	OlderVisits  int                `json:"visits_omitted,omitempty"` // visits before those
}

// LinksIn are the links to a page, in the chosen place or in all, endorsements first.
type LinksIn struct {
	LinkList[LinkIn]
	Places []PlaceCount `json:"places"` // of all links, whichever are chosen
}

// A LinkIn is a link to a page.
type LinkIn struct {
	PageLink
	Editorial bool `json:"editorial"` // it is an endorsement
	SiteWide  bool `json:"sitewide"`
}

// A LinkList holds links of a page in one direction.
type LinkList[L any] struct {
	Total int `json:"total"`
	Left  int `json:"links_omitted,omitempty"` // further links that are not recorded
	Links []L `json:"links"`
}

// A PageLink is a link, with the page at its other end.
type PageLink struct {
	URL      string `json:"url"`
	State    string `json:"state"`
	Kind     string `json:"kind"`
	Rel      string `json:"rel"`
	Place    string `json:"place"`
	Anchor   string `json:"anchor"`
	Rendered bool   `json:"rendered"` // only the rendered page contains it
}

type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
