package config

import (
	"cmp"
	"net/netip"
	"regexp"
	"time"

	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Config is a configuration with defaults filled in, paths absolute and lists read. Load, Parse and
// ParseEffective return it; it is not changed afterwards. Fields are named after the keys; keys in ms
// are durations here.
type Config struct {
	Crawler    Crawler
	UserAgent  UserAgent
	State      State
	Output     Output
	URL        URL
	Traps      scope.Traps
	Retry      Retry
	Politeness Politeness
	Content    Content
	Network    Network
	Pages      Pages
	Recrawl    Recrawl
	Checks     Checks
	Monitor    Monitor
	Render     Render
	Cluster    Cluster
	Decisions  Decisions

	Quality   []Quality
	Blacklist []List
	Stub      []List
	PageTypes []PageType
	Entities  []Entity
	Extracts  []Extract

	decided []Decision // those that change a class, by host
	notes   schema.HostNotes
	rules   *weburl.Rules
	scope   *scope.Scope
}

// Crawler is [crawler]: limits and speed of the crawl.
type Crawler struct {
	MaxDepth               int
	MaxConcurrentPagesOpen int
	MinimumTimeOnPage      time.Duration
	MaxDomainRequests      int
	MaxPages               int           // 0: no limit
	MaxRunTime             time.Duration // 0: no limit
	MaxLinksPerPage        int           // 0: DefaultLinks
	MaxSubdomains          int           // 0: all
	HeadCheck              HeadCheck
	RespectNofollow        bool
	RespectNoindex         bool
	FollowCanonical        bool
	OPML                   bool
	Sitemaps               Sitemaps
}

// DefaultLinks is how many links of a page are recorded if max-links-per-page is 0.
const DefaultLinks = 10_000

// LinksPerPage returns how many links of a page are recorded at most.
func (c Crawler) LinksPerPage() int { return cmp.Or(c.MaxLinksPerPage, DefaultLinks) }

// UserAgent is [user-agent].
type UserAgent struct {
	CrawlerName    string
	CrawlerVersion string
	ContactURL     string // empty: none
	ContactEmail   string // empty: none
	AcceptLanguage string // empty: not sent
}

// State is [state].
type State struct{ Path string }

// Output is [output]: files written by a run. An empty path writes no file.
type Output struct {
	DatabasePath string
	SummaryPath  string
	GraphPath    string
	MapPath      string
}

// URL is [url], which is part of the identity of a state file.
type URL struct {
	StripParams []string
	MaxLength   int
}

// Retry is [retry].
type Retry struct {
	MaxRetries     int
	Delay          time.Duration
	Backoff        Backoff
	MaxDelay       time.Duration
	Timeout        time.Duration
	TimeoutStep    time.Duration
	ConnectTimeout time.Duration
}

// Politeness is [politeness].
type Politeness struct {
	MaxRateLimits         int
	MaxSuspension         time.Duration
	MaxCrawlDelay         time.Duration
	RobotsTTL             time.Duration
	RobotsUnreachable     RobotsUnreachable
	AdaptiveDelay         bool
	DelayFactor           float64
	MaxAdaptiveDelay      time.Duration
	MaxParallelPerDomain  int
	MinimumTimePerAddress time.Duration // 0: off
}

// Content is [content]. Types are in lower case; "text/*" and "*/*" are wildcards.
type Content struct {
	MaxResponseBytes   int64
	AcceptContentTypes []string
	RejectContentTypes []string
	Compress           bool
}

// MaxOpen returns how many requests may be open at a time on this machine.
func (c *Config) MaxOpen() int { return cmp.Or(c.Network.MaxOpen, c.Crawler.MaxConcurrentPagesOpen) }

// Network is [network].
type Network struct {
	MaxOpen      int // 0: Crawler.MaxConcurrentPagesOpen; see [Config.MaxOpen]
	MemoryLimit  MemoryLimit
	Proxy        string            // empty: from the environment
	CAFile       string            // empty: none
	ConnectTo    map[string]string // canonical pattern, optionally with ":port" -> "addr:port"
	AllowPrivate []netip.Prefix
	HTTP2        bool
	KeepAlive    bool
}

// Pages is [pages], the page store.
type Pages struct {
	Keep bool
	Path string
}

// Recrawl is [recrawl].
type Recrawl struct {
	MinAge time.Duration
	Given  bool // set in the configuration, so an answer's freshness does not extend it
}

// Young reports whether a page of this age is kept without a request. fresh is how long its answer is
// fresh.
func (r Recrawl) Young(age, fresh time.Duration) bool {
	return age >= 0 && (age < r.MinAge || !r.Given && age < min(fresh, schema.MaxFresh))
}

// Oldest returns the age from which no page is kept.
func (r Recrawl) Oldest() time.Duration {
	if r.Given {
		return r.MinAge
	}
	return max(r.MinAge, schema.MaxFresh)
}

// Checks is [checks].
type Checks struct{ Soft404 Soft404 }

// Monitor is [monitor]. Features with an empty value are off.
type Monitor struct {
	Listen            string
	TokenFile         string
	Hosts             []string // further host names under which the desk is served
	CertFile          string
	KeyFile           string
	Webhook           string // its path may contain a secret, so only its host is displayed
	WebhookSecretFile string
	MetricsCSV        string
	ReportPath        string
}

// Decisions is [decisions].
type Decisions struct{ File string } // empty: none

// Quality is one [[quality]] entry, an origin of the terrain.
type Quality = scope.Origin

// PageType is one [[page-type]] entry.
type PageType = scope.PageType

// Entity is one [[entity]] entry.
type Entity = scope.Entity

// A List is one [[blacklist]] or [[stub]] entry. Exactly one of Domain, File, Preset
// and URL is set.
type List struct {
	Domain scope.Pattern
	File   string
	Preset string
	URL    *regexp.Regexp
	Names  []scope.Pattern // names in the file or preset, sorted, without duplicates
}

// An Extract is one [[extract]] entry: a fact read from every matching page.
type Extract struct {
	Name     string
	Domain   *scope.Pattern // nil: every host
	Selector string
	Attr     string // empty: the text
}

// HeadCheck says when a HEAD precedes a GET.
type HeadCheck string

// The values of head-check.
const (
	HeadAlways  HeadCheck = "always"
	HeadAuto    HeadCheck = "auto"
	HeadNever   HeadCheck = "never"
	HeadOutside HeadCheck = "outside" // as auto; pages of no origin get no GET if HEAD succeeds
)

// Sitemaps says how sitemaps are used.
type Sitemaps string

// The values of sitemaps.
const (
	SitemapsQuality Sitemaps = "quality"
	SitemapsOff     Sitemaps = "off"
	SitemapsOnly    Sitemaps = "only"
)

// Soft404 says which hosts get a request for a page that does not exist.
type Soft404 string

// The values of soft-404.
const (
	Soft404Origins Soft404 = "origins"
	Soft404All     Soft404 = "all"
	Soft404Off     Soft404 = "off"
)

// Backoff says how the delay between retries grows.
type Backoff string

// The values of backoff.
const (
	BackoffConstant    Backoff = "constant"
	BackoffFibonacci   Backoff = "fibonacci"
	BackoffExponential Backoff = "exponential"
)

// RobotsUnreachable says what an unreachable robots.txt means.
type RobotsUnreachable string

// The values of robots-unreachable.
const (
	RobotsDisallow RobotsUnreachable = "disallow"
	RobotsAllow    RobotsUnreachable = "allow"
)

// Rules returns the canonicalization rules for URLs.
func (c *Config) Rules() *weburl.Rules { return c.rules }

// Scope returns the classes and rules of URLs.
func (c *Config) Scope() *scope.Scope { return c.scope }

// UserAgentString returns the User-Agent of requests.
func (c *Config) UserAgentString() string {
	u := c.UserAgent
	name := u.CrawlerName + "/" + u.CrawlerVersion
	switch {
	case u.ContactURL != "" && u.ContactEmail != "":
		return name + " (+" + u.ContactURL + "; " + u.ContactEmail + ")"
	case u.ContactURL != "":
		return name + " (+" + u.ContactURL + ")"
	case u.ContactEmail != "":
		return name + " (" + u.ContactEmail + ")"
	}
	return name
}
