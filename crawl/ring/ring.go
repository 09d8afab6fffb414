// Package ring holds the messages of the ring between scheduler, visitors and recorder.
//
// The scheduler sends a [Step] to a visitor, the visitor sends an [Outcome] to the recorder, and the
// recorder, after its commit, sends [Effects] to the scheduler, which may request a plan with a [Wake]. All
// are plain data, owned by the receiver. A step carries the [Settings] that it was planned under, which are
// immutable and shared.
package ring

import (
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// A Kind says what a [Step] does.
type Kind uint8

// The kinds of steps.
const (
	Resolve Kind = iota // look up the host's address; no request
	Robots              // GET a robots.txt
	Head                // HEAD a page
	Get                 // GET a page or a sitemap
	Asset               // GET a resource that the scripts of a page request
	Render              // render a page; no request
	Probe               // GET a page that does not exist, to see what the host answers
)

// Browser is the pseudo-host in whose queue steps of kind Render wait. It has no clock. No more of its steps
// may be open than there are browsers, which other crawls of the process share.
const Browser schema.HostID = 0

// AssetID is the ID of steps of kind Asset, whose URLs are not pages.
const AssetID schema.ID = math.MaxUint32

// ProbeID is the ID of steps of kind Probe.
const ProbeID = AssetID - 1

// Asks reports whether a step makes a request to a server.
func (k Kind) Asks() bool { return k != Resolve && k != Render }

// Method returns the HTTP method of the step's request.
func (k Kind) Method() string {
	if k == Head {
		return http.MethodHead
	}
	return http.MethodGet
}

// A Step is one request to make, or one look-up. It waits in the queue of its host. Steps exist only in
// memory, so a kill repeats the visit.
type Step struct {
	Kind       Kind
	Host       schema.HostID // the host that is requested and leased
	For        schema.HostID // robots: the host whose robots.txt this is; 0: those of other hosts redirect here
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
	Address    string         // whose clock was started at Sent; "": none
	Standing   slots.Standing // of the host, when it was sent
	Met        bool           // the host has answered before, in any process
	Gap        time.Duration  // between two requests of the host, if several may be open; 0: only one may
	Moves      int            // how often no request was made because the server was at another address
	Settings   *Settings      // under which it was planned
	Fetched    *Fetched       // of Render: the page
	Accept     string         // of Asset: the value of Accept; empty: */*
	Errand     *Errand        // of Robots and Asset: has another shard make the request; nil: this shard does
}

// RequestKind says what the request of a step is for: robots, script, probe, sitemap, head or get.
func (s *Step) RequestKind() string {
	switch {
	case s.Kind == Robots:
		return "robots"
	case s.Kind == Asset:
		return "script"
	case s.Kind == Probe:
		return "probe"
	case s.URLKind == schema.KindSitemap:
		return "sitemap"
	case s.Kind == Head:
		return "head"
	}
	return "get"
}

// Resource returns the resource that an Asset requests.
func (s *Step) Resource() render.Resource { return render.Resource{URL: s.URL, Accept: s.Accept} }

// Fetched is the answer for a page that is to be rendered.
type Fetched struct {
	Outcome Outcome       // of the last request of the visit, without the page
	Page    *answers.Page // what the browser shows
	Tries   int           // failed
	Once    bool          // it has one try: too many pages of its host have run out of time

	Processor time.Duration // that browsers have spent on it
}

// Progress is the history of a visit before the step. It is carried from one step of the visit to the next.
type Progress struct {
	Requests  int            // made so far
	Retries   int            // failed tries before this one
	Asked     []string       // forms requested in this visit
	Forms     []string       // forms still to request if this one is not found
	Known     []string       // forms known when the visit began; others are guesses
	Knew      schema.FormSet // the set of those
	Heads     schema.Heads   // what is known about the host's answers to HEAD
	Refusal   Refusal        // of the HEAD before this GET, to be confirmed
	Missing   []string       // forms that answered with 404 or 410
	Reserved  []scope.Cap    // caps that include the visit
	Gone      int            // status of a form that was not found; 0: none
	LeftOwn   bool           // an earlier run left the page waiting as its host's own
	Lost      int            // index in Asked of the first form after those at which no page was found
	Reason    schema.Reason  // of the last of those; of a robots.txt: why its first form was unreachable
	Unreached bool           // a form could not be reached
	Repeated  bool           // repeated after a dead connection
	Hops      int            // redirects followed: to other forms of the page, or for a robots.txt
	Revisit   schema.Seq     // the visit whose answer makes this one conditional; 0: none
}

// A Refusal is an answer to HEAD that says that a form has no page. The zero value is no refusal.
type Refusal struct {
	Type     schema.Heads // for a type that is not accepted: what a GET that says the same confirms
	Redirect string       // for a redirect: the form it leads to
}

// An Effect tells the scheduler what a commit means for a host: what to request next, and when. It replaces
// the host's clock, limits and priority; its steps queue after those not yet sent.
type Effect struct {
	Host       schema.HostID
	Address    string        // IP address whose clock the host shares; "": none
	Ready      time.Time     // when the host may be requested, or the recorder woken
	Delay      time.Duration // between two requests, if Limit is more than 1
	Priority   uint8         // of its first step; lower is served first
	Steps      []Step
	Wake       bool   // if there are no steps: request a plan from the recorder at Ready
	Limit      int    // requests that may be open at a time
	Failing    bool   // a request got no complete answer in time
	Answered   bool   // a request got one, to HEAD or for robots.txt
	Proved     bool   // a request got one, with a page or a sitemap
	Met        bool   // the host has answered, in any process
	Suspension uint32 // number for the steps sent from now on
	Closed     int    // requests of the host that this commit settled
	Revoke     bool   // unsent steps are returned to the recorder in a Wake
}

// Effects are published after the commit of the outcomes that cause them.
type Effects struct {
	List    []Effect
	Settled int // outcomes in that commit
	Woken   int // wakes answered
}

// A Wake asks the recorder to plan a host whose time has come, or returns the steps that an effect revoked.
type Wake struct {
	Host   schema.HostID
	Unsent []Step
}

// Follow returns the step of an outcome as the base of the next step of the same visit.
func (o *Outcome) Follow() *Step {
	next := o.Step
	next.Visit.Requests++
	if !slices.Contains(next.Visit.Asked, next.URL) {
		next.Visit.Asked = append(slices.Clip(next.Visit.Asked), next.URL)
	}
	return &next
}

// Ask points a step at a form of its page. It starts with HEAD if configured.
func (s *Step) Ask(form string) {
	s.URL, s.Kind = form, Get
	s.ETag, s.Modified, s.Visit.Revisit, s.Visit.Refusal = "", "", 0, Refusal{}
	if s.URLKind == schema.KindPage && s.Visit.Heads&schema.HeadsLie == 0 && s.Settings.AsksHead(form) {
		s.Kind = Head
	}
}
