package schema

import (
	"slices"
	"strings"
	"time"
)

// An ID identifies a URL in one state file. IDs are dense and start at 1; 0 means none.
type ID uint32

// A HostID identifies a host in one state file. Host IDs are dense and start at 1; 0 means none.
type HostID uint32

// A Seq is the position of a visit in the log of visits. It starts at 1 and increases with every visit;
// 0 means none.
type Seq uint64

// A RunID is the number of a run in a state file, from 1; 0 means none.
type RunID uint32

// An Opening identifies one opening of a state file for writing. It is random and so unique.
type Opening [16]byte

// A URLKind is what a URL is requested for.
type URLKind uint8

// The kinds of URLs. Only pages are nodes of the map.
const (
	KindPage URLKind = iota
	KindSitemap
)

// A Shape is a set of spellings of a page's identity: the forms derived from the identity itself, and
// whether there are others.
type Shape uint8

// The shapes of a form.
const (
	ShapePlain    Shape = 1 << iota // the identity itself
	ShapeWWW                        // www. before the host
	ShapeSlash                      // / after the path
	ShapeWWWSlash                   // both
	ShapeOther                      // any other; its text is stored
)

// A URL is what is known about a URL since it was first seen.
type URL struct {
	ID        ID
	Kind      URLKind
	Host      HostID
	PathQuery string    // of the identity; begins with /
	Referrer  ID        // the page that first linked here; 0: a seed
	FirstSeen time.Time // whole seconds
	FirstRun  RunID
}

// A Link is the one link from a page to another; several links of a pair are merged.
type Link struct {
	To     ID
	Kinds  Kinds
	Rel    Rel
	Place  Place
	Anchor string // stored with the visit; empty unless anchors are configured

	// Nofollow is set for a canonical link or a feed next to other links that all carry nofollow. Rel
	// does not show this.
	Nofollow bool

	// Rendered is set if only the rendered page has the link, not the page as the server sent it.
	Rendered bool

	// SiteWide is set if most pages of the host have the link. Package survey derives it from all
	// current links; it is not part of a record.
	SiteWide bool
}

// Where names the place of a link in its page. It is empty for a redirect, which has no place.
func (l Link) Where() string {
	if l.Kinds.Has(LinkRedirect) {
		return ""
	}
	return l.Place.String()
}

// Endorses reports whether the page vouches for its target with this link: an anchor in the text,
// neither site-wide nor marked nofollow, ugc or sponsored.
func (l Link) Endorses() bool {
	return l.Kinds.Has(LinkAnchor) && l.Rel == 0 && l.Place.InText() && !l.SiteWide
}

// A SitemapEntry is a page named in a sitemap.
type SitemapEntry struct {
	To         ID
	LastMod    time.Time // zero: not given; whole seconds
	ChangeFreq string
}

// A Fact is a value that an [[extract]] found on a page.
type Fact struct{ Name, Value string }

// MaxFresh is the longest time by which an answer may extend min-age.
const MaxFresh = 7 * 24 * time.Hour

// A Visit is one record of the log of visits. It brings a page to a final state in a run, and is never
// changed.
type Visit struct {
	Seq    Seq
	URL    ID
	Run    RunID
	Commit uint64    // number of the commit that wrote it
	At     time.Time // milliseconds
	Prev   Seq       // the URL's previous visit; 0: none
	Stand  Seq       // the visit whose links and facts are current (304, unchanged, kept); 0: this one
	Kept   bool      // recorded without a request: it is recent enough, or the run has no visit left for it
	Left   bool      // earlier runs found the page and left it waiting; none visited it

	LeftOwn bool // it was the host's own when it was left waiting
	ByHead  bool // a HEAD answer showed that it is not a page, see [Visit.Doubted]

	Archived bool // read from a web archive, without a request; At is when the archive's crawler got the answer

	Proxy string // that the request went through, without credentials; empty: none

	State        State
	Status       int // HTTP status; 0: no answer, or no request
	Form         string
	Knew         FormSet // the forms known when the visit began
	RedirectTo   ID
	AliasHops    int
	Retries      int
	Requests     int
	ContentType  string
	LastModified string
	ETag         string
	ServerDate   string
	Fresh        time.Duration // from At, by Cache-Control; seconds
	Length       int64         // decoded bytes; -1: no body was read
	SHA256       [32]byte
	ResponseTime time.Duration // to the first byte, milliseconds
	Unchanged    bool          // the body equals that of the previous visit
	Reason       Reason        // why the state is not processed
	Rule         string        // the rule that decided, if any
	StoredPath   string        // path in the page store

	// A visit that met a wall keeps what the last real one found, if there was one, and says here what the server
	// answered.
	Answer       Answer
	AnswerRule   string // the rule by which it was recognised
	AnswerStatus int    // its HTTP status

	Content                 // as of Stand; its lists, like Links, only if that is 0
	Links    []Link         // by ascending To
	Sitemap  []SitemapEntry // of a sitemap file
	Children int            // of a sitemap index
}

// A Retry is a URL that waits for another attempt.
type Retry struct {
	URL      ID
	Attempts int // failed attempts so far
	Due      time.Time
	Reason   Reason
}

// A Queue holds waiting URLs of a host with one priority: chunks of 64 on disk, and an open end, which
// is part of the host's value. Only package kv changes it.
type Queue struct {
	Priority uint8
	Head     uint32 // the chunk with the first waiting URL
	Pos      uint8  // position of that URL in the chunk
	Tail     uint32 // number that the open end will have as a chunk
	Open     []ID
}

// A GiveUp is why a run makes no more requests to a host.
type GiveUp uint8

// The reasons for giving up a host.
const (
	NotGivenUp       GiveUp = iota
	GaveUpConnection        // three connection failures in a row
	GaveUpRateLimit         // rate-limited too often, or for longer than max-suspension
	GaveUpRobots            // robots.txt unavailable
	GaveUpCrawlDelay        // a Crawl-delay longer than max-suspension and max-crawl-delay
	GaveUpWall              // walls instead of pages, several times in a row
	GaveUpPayment           // demands for payment (402), three times in a row
)

// A Host is everything stored about a host. Times are wall times in milliseconds. Counters named "Run"
// count only for the run in field Run.
type Host struct {
	ID      HostID
	Name    string // canonical, with the port if it is not the default
	Address string // IP address last dialled; empty: unknown, or exempt
	WWW     bool   // seen to answer only at www.
	HTTPS   bool   // a link, a redirect, a seed or a sitemap names it with https

	LastByte     time.Time     // first byte of the last response, or end of the last failed attempt
	LastEnd      time.Time     // end of the last response
	Smoothed     time.Duration // smoothed response time, weight 0.3
	CrawlDelay   time.Duration // from robots.txt; 0: none
	Preferences  string        // what robots.txt says about the use of pages, see package preference
	Timeouts     uint8         // in a row; each doubles the delay
	Failures     uint8         // connection failures in a row
	SuspendedTo  time.Time     // zero: not suspended
	SuspendedFor time.Duration // from the answer that suspended it to SuspendedTo
	Throttles    uint8         // rate-limit answers in a row; above 0 while suspended or probing
	Suspension   uint32        // number of the current or last suspension

	RobotsAt      time.Time // when the copy was fetched; zero: never
	RobotsStatus  int       // of the copy
	RobotsTries   uint8     // failed attempts since
	RobotsDue     time.Time // earliest time of the next attempt
	RobotsReason  Reason    // why the last attempt failed
	RobotsFrom    string    // the host that it redirects to and whose answer is pending; empty: none
	RobotsSince   time.Time // start of that wait
	SitemapsRun   RunID     // run in which its sitemaps were queued
	SitemapFiles  int       // number of sitemaps queued in that run
	SitemapOthers int       // in addition to those: on an origin's host, those that only other hosts name
	Run           RunID
	RunRequests   int // requests for pages (HEAD and GET)
	RunThrottles  int
	RunVisited    int  // pages that requests brought to a final state
	Admitted      bool // in that run, it counts for max-subdomains
	Vouched       bool // in that run, named by a seed or an origin's page (of the same origin, if it is an origin's)
	RunGivenUp    GiveUp
	RunGivenUpAt  int // RunRequests at that time
	RunGivenUpWhy Reason
	Requests      int     // of every kind, all runs
	Visits        int     // pages visited, all runs
	Known         int     // URLs recorded
	Overflow      int     // links to URLs that the run in field Run did not record (max-urls-per-host)
	Generation    uint32  // of its queues; queues of another generation are void
	Queues        []Queue // by ascending priority
	Waiting       int     // URLs in Queues, including copies
	Retries       []Retry
	// sitemap files named in the run in field Run but not read (max-sitemap-hosts)
	SitemapsLeft int
	Files        int   // sitemaps among the recorded URLs
	Others       int   // pages among the recorded URLs that were not the host's own when they were found
	SitemapsFor  RunID // run in which a robots.txt of another site names sitemaps on this host

	OverflowBefore int // the largest Overflow of an earlier run
	Heads          Heads
	Place          SitePlace
	// in field Run: hashes of the URLs requested because the robots.txt of other hosts redirects there
	Targets  []uint64
	LinkText int // bytes of URLs that links of its pages added in that run, not yet counted for its site

	Payments uint8 // demands for payment met in a row on its own URLs, in any run

	Walls          uint8  // met in a row on its own URLs, in any run
	RunShown       bool   // in the run in field Run, it has shown a page
	OthersWalls    uint8  // met in a row on URLs that only other hosts name, or demands for payment, in any run
	RunOthersEnded bool   // in the run in field Run, because of those: no more such URL is requested
	RobotsHTML     bool   // the copy of robots.txt is a web page
	RobotsWall     string // rule of the wall that the last request for robots.txt met; empty: none

	Mazes    Mazes // at most [MaxMazes]
	ShownWWW bool  // its last page was at www.
	Missing  MissingProbe
}

// A SitePlace is how a host counted against [traps] max-hosts-per-site when it was recorded.
type SitePlace uint8

// The places. Hosts named only by other sites do not take places reserved for hosts named by their own
// site.
const (
	NoPlace    SitePlace = iota // not counted: it is a whole site, or an origin's
	OwnPlace                    // a page of its own site or of an origin named it
	OtherPlace                  // a page of another site named it
)

// Limits on the text of URLs that links add, in bytes.
const (
	MaxLinkText = 1 << 20   // all targets of one page, known or not
	MaxSiteText = 256 << 20 // new targets from all pages of a site that is no origin's, per run
)

// MaxTargets is how many URLs of a host a run requests because the robots.txt of other hosts redirects there.
const MaxTargets = 10

// Limits on the sitemaps of a host that a run reads.
const (
	MaxSitemapFiles  = 200
	MaxSitemapOthers = 20 // on an origin's host, those that neither it nor another host of its origin names
)

// Silent reports whether the host has been sent requests and has never answered.
func (h *Host) Silent() bool { return h.Requests > 0 && h.Smoothed == 0 }

// BeginRun starts a run at a host: it resets the counters of the earlier run and any giving up. It
// reports whether the host changed.
func (h *Host) BeginRun(run RunID) bool {
	if h.Run == run {
		return false
	}
	h.Run = run
	h.Admitted, h.Vouched = false, false
	h.Overflow, h.OverflowBefore = 0, max(h.Overflow, h.OverflowBefore)
	h.LinkText, h.Targets = 0, nil
	h.RunShown, h.RunOthersEnded = false, false
	h.RunRequests, h.RunThrottles, h.RunVisited = 0, 0, 0
	h.SitemapFiles, h.SitemapOthers, h.SitemapsLeft = 0, 0, 0
	h.RunGivenUp, h.RunGivenUpAt, h.RunGivenUpWhy = NotGivenUp, 0, Reason{}
	h.RobotsTries, h.RobotsDue, h.RobotsReason, h.RobotsWall = 0, time.Time{}, Reason{}, ""
	h.RobotsFrom, h.RobotsSince = "", time.Time{}
	h.Failures, h.Retries = 0, nil
	return true
}

// A RunStatus is the status of a run.
type RunStatus uint8

// The statuses of a run.
const (
	RunRunning RunStatus = iota
	RunCompleted
	RunInterrupted
)

// String returns the status as written in SQL.
func (s RunStatus) String() string {
	switch s {
	case RunCompleted:
		return "completed"
	case RunInterrupted:
		return "interrupted"
	}
	return "running"
}

// A RunKind is what a run takes its answers from.
type RunKind uint8

// The kinds of runs.
const (
	RunCrawl  RunKind = iota // servers
	RunImport                // web archives
	RunKindCount
)

// String returns the kind as written in SQL.
func (k RunKind) String() string { return [...]string{"crawl", "import"}[k] }

// A Run is one walk of the terrain, from the seeds to an empty frontier. Runs are ordered by the time of what they
// hold, but a crawl is always the last if there is one.
type Run struct {
	ID         RunID
	Started    time.Time
	Finished   time.Time // when its last walk ended; zero: not yet
	Config     [32]byte  // SHA-256 of the effective configuration
	Changed    time.Time // when the configuration last changed, in milliseconds; zero: never
	Status     RunStatus
	End        End  // why the walk ended
	Walked     bool // the frontier is empty; only the outputs are missing
	FirstVisit Seq  // the first visit that may belong to it
	Pages      int  // visits with a request
	Portion    int  // in a shard: its share of max-pages, as a limit on Pages
	Rendered   int  // of those: recorded as rendered
	Unrendered int  // of Pages: recorded as fetched although they should have been rendered
	Requests   int
	Generation uint32         // of its depths
	Running    time.Duration  // time that processes have spent on it
	Errors     map[string]int // visits and rate-limit answers, by kind of error
	Rules      string         // versions of the tables of rules that have judged its answers: "walls 2026-11-28-1f0e9c2a"

	Kind   RunKind
	Oldest time.Time // of an import: when the oldest answer that it holds was given; zero: it is a crawl
	Newest time.Time // and the newest
	Joined RunID     // of an import: the crawl that was the last when it was imported; 0: there was none
	Source [32]byte  // of an import: identifies the archives and what is taken of them
}

// JudgedBy adds the version of a table of rules to those that have judged the answers of a run.
func (r *Run) JudgedBy(table, version string) {
	used := table + " " + version
	switch {
	case r.Rules == "":
		r.Rules = used
	case !slices.Contains(strings.Split(r.Rules, ", "), used):
		r.Rules += ", " + used
	}
}

// Captured returns the days of the oldest and the newest answer of an import: "2015-02-01 to 2015-03-01".
// For a crawl it is empty.
func (r *Run) Captured() string {
	if r.Kind != RunImport {
		return ""
	}
	from, to := r.Oldest.UTC().Format(time.DateOnly), r.Newest.UTC().Format(time.DateOnly)
	if from == to {
		return from
	}
	return from + " to " + to
}

// MaxRobotsAge is how long a copy of robots.txt is valid while robots.txt is unreachable.
const MaxRobotsAge = 30 * 24 * time.Hour

// A RobotsCopy is a host's robots.txt as last fetched.
type RobotsCopy struct {
	At     time.Time
	Status int
	Text   []byte // nil for a 4xx
}

// A Message is an event for the address in [monitor] webhook. It is kept until it is delivered or given
// up. Only its body and its number of attempts ever change.
type Message struct {
	Seq   uint64    // position among the messages of the state file; 0: not stored yet
	ID    string    // identifies it to the receiver; the same for every attempt
	Kind  string    // "run.completed"
	Made  time.Time // milliseconds
	Tries int       // delivery attempts started
	Next  time.Time // not sent before this time; milliseconds
	Body  []byte    // what is sent
}
