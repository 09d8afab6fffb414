package schema

import "time"

// An ID names a URL in one state file. IDs are dense and begin with 1; 0 is none.
type ID uint32

// A HostID names a host in one state file. Host IDs are dense and begin with 1;
// 0 is none.
type HostID uint32

// A Seq is the position of a visit in the log of visits. It begins with 1 and
// grows with every visit; 0 is none.
type Seq uint64

// A RunID numbers the runs of a state file from 1; 0 is none.
type RunID uint32

// An Opening names one time that a state file was opened for writing. It is random, so
// no two are the same.
type Opening [16]byte

// A URLKind says what a URL is asked for.
type URLKind uint8

// The kinds of URLs. Only pages are nodes of the map.
const (
	KindPage URLKind = iota
	KindSitemap
)

// A Shape is a set of ways to write a page's identity: those of its forms that
// can be derived from the identity itself, and whether there are others.
type Shape uint8

// The shapes of a form.
const (
	ShapePlain    Shape = 1 << iota // as the identity
	ShapeWWW                        // www. before the host
	ShapeSlash                      // / after the path
	ShapeWWWSlash                   // both
	ShapeOther                      // any other; its text is stored
)

// A URL is what is known of a URL since it was first seen.
type URL struct {
	ID        ID
	Kind      URLKind
	Host      HostID
	PathQuery string    // of the identity, begins with /
	Referrer  ID        // the page that first led here; 0: a seed
	FirstSeen time.Time // whole seconds
	FirstRun  RunID
}

// A Link is one row per pair of pages.
type Link struct {
	To     ID
	Kinds  Kinds
	Rel    Rel
	Place  Place
	Anchor string // kept beside the visit; empty unless anchors are asked for

	// Nofollow says of a canonical link beside others that all of these carry nofollow, which Rel does not
	// tell.
	Nofollow bool

	// Rendered says that only the rendering of the page showed the link, and not what the
	// server sent.
	Rendered bool

	// SiteWide says that most pages of the host lead there. It is derived by package
	// survey from all links that stand, and is no part of a record.
	SiteWide bool
}

// Where names the place of a link in its page; it is empty for a redirect, which
// stands nowhere in it.
func (l Link) Where() string {
	if l.Kinds.Has(LinkRedirect) {
		return ""
	}
	return l.Place.String()
}

// Endorses reports whether a link is an endorsement, by which a page vouches for its target: an
// anchor in its text, neither site-wide nor marked nofollow, ugc or sponsored.
func (l Link) Endorses() bool {
	return l.Kinds.Has(LinkAnchor) && l.Rel == 0 && l.Place.InText() && !l.SiteWide
}

// A SitemapEntry is a page that a sitemap names.
type SitemapEntry struct {
	To         ID
	LastMod    time.Time // zero: not given; whole seconds
	ChangeFreq string
}

// A Fact is a value that an [[extract]] found on a page.
type Fact struct{ Name, Value string }

// MaxFresh is how long an answer may lengthen min-age.
const MaxFresh = 7 * 24 * time.Hour

// A Visit is one record of the log of visits: what brought a page to a final
// state in a run. It is never changed.
type Visit struct {
	Seq    Seq
	URL    ID
	Run    RunID
	Commit uint64    // number of the commit that holds it
	At     time.Time // milliseconds
	Prev   Seq       // the URL's visit before this one; 0: none
	Stand  Seq       // the visit whose links and facts stand (304, unchanged, kept); 0: its own
	Kept   bool      // recorded without a request: it is young enough, or the run has no visit left for it
	Left   bool      // earlier runs met the page and left it waiting; none of them visited it

	LeftOwn bool // it was left waiting as its host's own
	ByHead  bool // that it is no page is what an answer to HEAD said, see [Visit.Doubted]

	State        State
	Status       int // HTTP status; 0: no answer, or none asked
	Form         string
	Knew         FormSet // the forms that were known when the visit began
	RedirectTo   ID
	AliasHops    int
	Retries      int
	Requests     int
	Title        string
	ContentType  string
	Charset      string
	LastModified string
	ETag         string
	ServerDate   string
	Fresh        time.Duration // from At on, as Cache-Control says; seconds
	Length       int64         // decoded bytes; -1: no body was read
	SHA256       [32]byte
	ResponseTime time.Duration // to the first byte, milliseconds
	NoIndex      bool
	NoFollow     bool
	Unchanged    bool   // the body equals that of the visit before
	Reason       Reason // why the state is not processed
	Rule         string // the rule that decided, where one did
	Distinct     int    // distinct link targets met; may exceed len(Links)
	BeyondHosts  int    // of those: on hosts beyond max-hosts-per-page, not recorded
	BeyondText   int    // of those: beyond [MaxLinkText] or [MaxSiteText], not recorded
	Refused      int    // hrefs beside these that are no URL, or too long
	LinkLimit    int    // max-links-per-page, if there are more
	StoredPath   string // place in the page store
	Shell        Shell
	Rendering    Rendering
	RenderAsked  int // what its scripts asked for and got, from a server or from what other pages had asked for

	Links    []Link         // by ascending To
	Facts    []Fact         // in document order
	Sitemap  []SitemapEntry // of a sitemap file
	Children int            // of a sitemap index
}

// A Retry is a URL that waits for another try.
type Retry struct {
	URL      ID
	Attempts int // tries that have failed so far
	Due      time.Time
	Reason   Reason
}

// A Queue is one line of waiting URLs of a host: chunks of 64 on disk, and its
// open end, which is part of the host's value. Only package kv changes it.
type Queue struct {
	Priority uint8
	Head     uint32 // chunk that holds the first waiting URL
	Pos      uint8  // position of that URL in its chunk
	Tail     uint32 // number of the chunk that the open end will become
	Open     []ID
}

// A GiveUp says why a host is not asked any more in a run.
type GiveUp uint8

// The reasons to give a host up.
const (
	NotGivenUp       GiveUp = iota
	GaveUpConnection        // three connection failures in a row
	GaveUpRateLimit         // asked for rest too often, or for longer than max-suspension
	GaveUpRobots            // robots.txt unavailable
	GaveUpCrawlDelay        // a Crawl-delay longer than max-suspension and max-crawl-delay
)

// A Host is everything durable that is known of a host. Times are wall times in
// milliseconds; counters named "Run" count only for the run in field Run.
type Host struct {
	ID      HostID
	Name    string // normalised, with port if not the default
	Address string // IP address last dialled; empty: not yet known, or exempt
	WWW     bool   // seen to answer only at www.
	HTTPS   bool   // named with https by a link, a redirect, a seed or a sitemap

	LastByte     time.Time     // first byte of the last response, or the end of the last failed try
	LastEnd      time.Time     // end of the last response
	Smoothed     time.Duration // response time, weight 0.3
	CrawlDelay   time.Duration // of robots.txt; 0: none
	Timeouts     uint8         // in a row; each doubles the delay
	Failures     uint8         // connection failures in a row
	SuspendedTo  time.Time     // zero: not suspended
	SuspendedFor time.Duration // from the answer that suspended it to SuspendedTo
	Throttles    uint8         // answers in a row that ask for rest; greater than 0 while suspended or probing
	Suspension   uint32        // number of the current or last suspension

	RobotsAt      time.Time // when the copy was fetched; zero: never
	RobotsStatus  int       // of the copy
	RobotsTries   uint8     // failed tries since
	RobotsDue     time.Time // when it may be tried again
	RobotsReason  Reason    // why the last try failed
	RobotsRun     RunID     // not used any more; part of the format
	SitemapsRun   RunID     // run in which its sitemaps were queued
	SitemapFiles  int       // queued in that run
	Run           RunID
	RunRequests   int // asked for pages (HEAD and GET)
	RunThrottles  int
	RunVisited    int  // pages brought to a final state by asking
	Admitted      bool // in that run, counts for max-subdomains
	Vouched       bool // in that run, a seed or a page of its own site names it
	RunGivenUp    GiveUp
	RunGivenUpAt  int // RunRequests at that moment
	RunGivenUpWhy Reason
	Requests      int     // of every kind, all runs
	Visits        int     // pages visited, all runs
	Known         int     // URLs recorded
	Overflow      int     // links to URLs that the run of field Run did not record (max-urls-per-host)
	Generation    uint32  // of its queues; those of another generation are void
	Queues        []Queue // by ascending priority
	Waiting       int     // URLs in Queues, copies included
	Retries       []Retry
	// of the files that its robots.txt and sitemaps name in the run of field Run: not read (max-sitemap-hosts)
	SitemapsLeft int
	Files        int   // of the URLs recorded: sitemaps
	Others       int   // of the URLs recorded: pages that were not the host's own when they were met
	SitemapsFor  RunID // run in which a robots.txt of another site names sitemaps here

	OverflowBefore int // the largest Overflow of an earlier run
	Heads          Heads
	Place          SitePlace
	LinkText       int // bytes of URLs that links of its pages added in that run, not yet counted for its site
}

// A SitePlace is what a host took of [traps] max-hosts-per-site when it was recorded.
type SitePlace uint8

// The places. Hosts that other sites name take none of those for the hosts that their own site names.
const (
	NoPlace    SitePlace = iota // it is a whole site, or was an origin's
	OwnPlace                    // a page of its site or of an origin named it
	OtherPlace                  // a page of another site named it
)

// Bounds on the text of URLs that links add, in bytes.
const (
	MaxLinkText = 1 << 20   // of the targets of one page, known or not
	MaxSiteText = 256 << 20 // of the new targets of all pages of a site that is no origin's, in a run
)

// MaxSitemapFiles is how many sitemaps of a host are read in a run.
const MaxSitemapFiles = 200

// Silent reports whether a host was asked and has never answered.
func (h *Host) Silent() bool { return h.Requests > 0 && h.Smoothed == 0 }

// BeginRun begins a run at a host: what was counted for an earlier one is zero, and
// nobody has given it up. It reports whether anything had to be done.
func (h *Host) BeginRun(run RunID) bool {
	if h.Run == run {
		return false
	}
	h.Run = run
	h.Admitted, h.Vouched = false, false
	h.Overflow, h.OverflowBefore = 0, max(h.Overflow, h.OverflowBefore)
	h.LinkText = 0
	h.RunRequests, h.RunThrottles, h.RunVisited, h.SitemapFiles, h.SitemapsLeft = 0, 0, 0, 0, 0
	h.RunGivenUp, h.RunGivenUpAt, h.RunGivenUpWhy = NotGivenUp, 0, Reason{}
	h.RobotsTries, h.RobotsDue, h.RobotsReason = 0, time.Time{}, Reason{}
	h.Failures, h.Retries = 0, nil
	return true
}

// A RunStatus is what has become of a run.
type RunStatus uint8

// The statuses of a run.
const (
	RunRunning RunStatus = iota
	RunCompleted
	RunInterrupted
)

// String returns the status's name in SQL.
func (s RunStatus) String() string {
	switch s {
	case RunCompleted:
		return "completed"
	case RunInterrupted:
		return "interrupted"
	}
	return "running"
}

// A Run is one walk of the terrain, from seeding to an empty frontier.
type Run struct {
	ID         RunID
	Started    time.Time
	Finished   time.Time // when its last walk ended; zero: not yet
	Config     [32]byte  // SHA-256 of the effective configuration
	Changed    time.Time // when that has last taken the place of another one, in milliseconds; zero: it has not
	Status     RunStatus
	End        End  // why it ended
	Walked     bool // the frontier is empty; only the outputs are missing
	FirstVisit Seq  // the first visit that may belong to it
	Pages      int  // visits recorded by asking
	Portion    int  // of max-pages, of a shard: the Pages that it may come to
	Rendered   int  // of those: recorded as their scripts left them
	Unrendered int  // of Pages: recorded as fetched although they were to be rendered
	Requests   int
	Generation uint32         // of its depths
	Running    time.Duration  // time that a process has worked on it
	Errors     map[string]int // visits and throttles by kind of error
}

// MaxRobotsAge is the age up to which a copy of robots.txt stands while that is unreachable.
const MaxRobotsAge = 30 * 24 * time.Hour

// A RobotsCopy is a host's robots.txt as it was last fetched.
type RobotsCopy struct {
	At     time.Time
	Status int
	Text   []byte // nil for a 4xx
}

// A Message is an event that the address of [monitor] webhook is told of, until it is
// told or given up. But for its body and its tries it is never changed.
type Message struct {
	Seq   uint64    // position among those of the state file; 0: not stored yet
	ID    string    // names it to the receiver: the same whenever it is sent
	Kind  string    // "run.completed"
	Made  time.Time // milliseconds
	Tries int       // sendings that were begun
	Next  time.Time // not sent before; milliseconds
	Body  []byte    // what is sent
}
