// Package ring holds the words of the ring: what scheduler, visitors and recorder
// say to each other.
//
// The scheduler sends a [Step] to a visitor, the visitor an [Outcome] to the
// recorder, and the recorder, after its commit, [Effects] to the scheduler, which
// may ask it for a plan by a [Wake]. All of them are plain data: whoever receives
// one owns it. A step carries the [Settings] that it was planned under, which are
// immutable and shared.
package ring

import (
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/terrain"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A Kind says what a [Step] asks.
type Kind uint8

// The kinds of steps.
const (
	Resolve Kind = iota // look up the host's address; no request
	Robots              // GET a robots.txt
	Head                // HEAD a page
	Get                 // GET a page or a sitemap
	Asset               // GET what the scripts of a page ask for
	Render              // render a page; no request
)

// Browser is the host whose line the steps of kind Render wait in. It has no clock, and no more
// of them may be open than there are browsers, which other crawls of the process share.
const Browser schema.HostID = 0

// AssetID is the ID of the steps of kind Asset: what they ask for is no page.
const AssetID schema.ID = math.MaxUint32

// Asks reports whether a step asks a server.
func (k Kind) Asks() bool { return k != Resolve && k != Render }

// Method is that of the request, where a step makes one.
func (k Kind) Method() string {
	if k == Head {
		return http.MethodHead
	}
	return http.MethodGet
}

// A Step is one request to make, or one look-up. It waits in the line of the
// host that it asks; steps live in memory only, so that a kill repeats the visit.
type Step struct {
	Kind       Kind
	Host       schema.HostID // the host that is asked and leased
	For        schema.HostID // robots: the host whose robots.txt this is; differs after a redirect
	ID         schema.ID     // 0 for robots and look-ups
	URLKind    schema.URLKind
	URL        string // the form that is requested
	Norm       string // the page's identity
	Visit      Progress
	ETag       string // makes the request conditional
	Modified   string
	Timeout    time.Duration
	Sent       time.Time      // when a visitor took it
	Suspension uint32         // number of the host's suspension when it was sent
	Address    string         // whose clock was started when it was sent; "": none
	Standing   slots.Standing // of the host, when it was sent
	Met        bool           // the host has answered before, in whatever process
	Gap        time.Duration  // from one request of the host to the next, where several may be open; 0: the host has one
	Moves      int            // how often it was not asked because its server was at another address
	Settings   *Settings      // it was planned under
	Fetched    *Fetched       // of Render: the page
	Errand     *Errand        // of Robots and Asset: what one shard has another ask; nil: the shard's own
}

// RequestKind says what the request of a step is for: robots, script, sitemap, head or get.
func (s *Step) RequestKind() string {
	switch {
	case s.Kind == Robots:
		return "robots"
	case s.Kind == Asset:
		return "script"
	case s.URLKind == schema.KindSitemap:
		return "sitemap"
	case s.Kind == Head:
		return "head"
	}
	return "get"
}

// Fetched is the answer for a page that is to be rendered.
type Fetched struct {
	Outcome Outcome       // of the last request of the visit, without the page
	Page    *answers.Page // what the browser shows
	Rounds  int           // that were cut short because something was missing
	Tries   int           // that failed
}

// Progress is what a visit has seen before the step, carried from one step of
// the visit to the next.
type Progress struct {
	Requests  int            // made so far
	Retries   int            // tries that failed before this one
	Asked     []string       // forms asked in this visit
	Forms     []string       // forms still to be asked, if this one is not found
	Known     []string       // forms known when the visit began; others are guesses
	Knew      schema.FormSet // the set of these
	Heads     schema.Heads   // what is known of the host's answers to HEAD
	Refusal   Refusal        // of the HEAD before this GET, which is to confirm it
	Missing   []string       // forms that answered with 404 or 410
	Reserved  []terrain.Cap  // caps that the visit counts for
	Gone      int            // status of a form that was not found; 0: none
	LeftOwn   bool           // an earlier run left the page waiting as its host's own
	Lost      int            // the first of Asked, at which no page was found, nor where they redirect
	Reason    schema.Reason  // why, at the last of these; of a robots.txt: why its first form could not be reached
	Unreached bool           // a form could not be reached
	Repeated  bool           // a request that had met a dead connection
	Hops      int            // redirects followed: to other forms of the page, or of a robots.txt
	Revisit   schema.Seq     // the visit whose answer makes this one conditional; 0: none
}

// A Refusal is an answer to HEAD that says that there is no page at a form. The zero value is none.
type Refusal struct {
	Kind schema.Heads
	To   string // of a redirect: the form that it leads to
}

// An Effect tells the scheduler what a commit means for a host: what to ask
// next, and when. It replaces the host's clock, limits and priority; its steps
// stand behind those that were not yet sent.
type Effect struct {
	Host       schema.HostID
	Address    string        // IP address whose clock the host shares; "": none
	Ready      time.Time     // when the host may be asked, or the recorder be woken
	Delay      time.Duration // from one request to the next, where Limit is more than 1
	Priority   uint8         // of its first step; lower is served first
	Steps      []Step
	Wake       bool   // without steps: ask the recorder for a plan at Ready
	Limit      int    // requests that may be open at a time
	Failing    bool   // a request had no whole answer in time
	Answered   bool   // one had, to HEAD or for robots.txt
	Proved     bool   // one had, with a page or a sitemap
	Met        bool   // the host has answered, in whatever process
	Suspension uint32 // number for the steps sent from now on
	Closed     int    // its requests that this commit settled
	Revoke     bool   // steps not yet sent go back to the recorder by a Wake
}

// Effects are published after the commit of the outcomes they follow from.
type Effects struct {
	List    []Effect
	Settled int // outcomes in that commit
	Woken   int // wakes answered
}

// A Wake asks the recorder to plan a host whose time has come, or gives back
// the steps that an effect revoked.
type Wake struct {
	Host   schema.HostID
	Unsent []Step
}

// Follow returns the step of an outcome as the start of the next one of the same
// visit.
func (o *Outcome) Follow() *Step {
	next := o.Step
	next.Visit.Requests++
	if !slices.Contains(next.Visit.Asked, next.URL) {
		next.Visit.Asked = append(slices.Clip(next.Visit.Asked), next.URL)
	}
	return &next
}

// Ask points a step at a form of its page, beginning with HEAD where that is
// the mode.
func (s *Step) Ask(form string) {
	s.URL, s.Kind = form, Get
	s.ETag, s.Modified, s.Visit.Revisit, s.Visit.Refusal = "", "", 0, Refusal{}
	if s.URLKind == schema.KindPage && s.Visit.Heads&schema.HeadsLie == 0 && s.Settings.AsksHead(weburl.PathQuery(form)) {
		s.Kind = Head
	}
}
