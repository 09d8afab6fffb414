package ring

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/crawl/wall"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An Outcome is everything found out by one trip round the ring. It is plain data: outcomes may be applied in
// any order and give the same map.
type Outcome struct {
	Step      Step
	Cause     fetch.Cause // why there is no answer; fetch.None: there is one
	Detail    string      // of Cause, or of an unreadable sitemap; sanitised
	Stale     bool        // the connection was a reused one, and died
	Own       fetch.Own   // fault of this machine that explains Cause
	TLS       fetch.Signs // of the peer, if it failed
	Uncounted bool        // cancelled by a fault of this machine: counts for clocks only
	Moved     bool        // no request was made: the server is at Address, whose clock was not started
	Behind    string      // of an errand that Moved: the host whose robots.txt it waits for; "": none
	Address   string      // IP address dialled, looked up or to be dialled next; "": none, or exempt
	Next      string      // the host's next address, or Address again; "": not known, or it has no clock
	Status    int         // 0: no answer
	FirstByte time.Time   // of the answer, or the end of a failed try
	Done      time.Time
	Waited    time.Duration // before Done, for memory of this machine
	Protocols []string      // spoken with the server, see [fetch.Response.Protocols]

	ContentType  string
	LastModified string
	ETag         string
	Date         string
	RetryAfter   time.Duration // -1: not given
	Price        string        // Crawler-Price of a 402
	Fresh        time.Duration // freshness lifetime from Cache-Control
	Location     *Target       // target of a redirect; nil: none that is usable
	BadLocation  string        // why it is not usable

	Wall *wall.Rule // the rule by which the answer is a wall, so that its body is not read; nil: it is not one

	Length  int64 // decoded bytes of the body; -1: not read
	SHA256  [32]byte
	Sealed  *warc.Sealed // for the page store; nil: not kept
	Robots  []byte       // body of a robots.txt
	Page    *page.Page
	Hashes  []uint64 // of Page.Links, index for index
	Sitemap *sitemap.File
	Entries []Target // of Sitemap.Entries that are URLs; Norm is empty for others
	Files   []Target // of Sitemap.Children that are URLs; Norm is empty for others

	Fetched *Fetched          // a page to be rendered before its visit ends
	Missing []render.Resource // of Render, or with Fetched: to be requested before the page is rendered
	Failed  string            // of Render: why the browser failed; sanitised. Page is then the page as fetched
	Answer  *render.Answer    // of Asset: the answer for the scripts

	Processor time.Duration // of Render: of the browser, for this round
	TimedOut  bool          // of Render: the page has had its processor time

	Held int64 // bytes, see [Outcome.Hold]
}

// A Target is a URL that an outcome leads to, with the store's hash of it.
type Target struct {
	weburl.URL
	Hash  uint64
	Forms []string // further forms under which it was named
	Own   int      // number of leading forms, of Form and Forms, that another shard reports as own, see [schema.Forms]
}

// Answered reports whether the server gave a complete answer.
func (o *Outcome) Answered() bool { return o.Cause == fetch.None }

// Reason returns why there is no answer.
func (o *Outcome) Reason() schema.Reason { return schema.Reason{Cause: o.Cause, Detail: o.Detail} }

// MissingProbe returns what the answer to a [Probe] in a run says about pages that do not exist.
func (o *Outcome) MissingProbe(run schema.RunID) schema.MissingProbe {
	m := schema.MissingProbe{Run: run, At: o.FirstByte.Truncate(time.Millisecond), Walled: o.Wall != nil}
	if o.Answered() {
		m.Status = o.Status
	}
	if to := o.Location; to != nil && to.Norm != o.Step.Norm {
		m.Target = missing.Target(to.Norm, weburl.PathQuery(o.Step.Norm))
	}
	if p := o.Page; p != nil && o.Answered() {
		c := p.Content
		if c.NoIndex && o.Step.Settings.Config.Crawler.RespectNoindex {
			c = c.Withheld()
		}
		m.Title, m.Shown, m.Sim, m.Shell = c.Title, c.Shown, c.SimHash, c.Shell != 0
	}
	return m
}
