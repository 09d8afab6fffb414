package ring

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/page"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/sitemap"
	"github.com/sumi-ripple/ripple/crawl/warc"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An Outcome is everything that one trip round the ring found out. It is plain
// data: outcomes may be applied in any order and give the same map.
type Outcome struct {
	Step      Step
	Cause     fetch.Cause // why there is no answer; fetch.None: there is one
	Detail    string      // of Cause, or of a sitemap that cannot be read; sanitised
	Stale     bool        // the connection had been kept from before, and died
	Own       fetch.Own   // what of this machine explains Cause
	TLS       fetch.Signs // of who failed
	Uncounted bool        // cancelled by a fault of this machine: it counts for clocks only
	Moved     bool        // nothing was asked: the server is at Address, whose clock was not started
	Address   string      // IP address that was dialled or looked up, or is to be dialled next; "": none, or exempt
	Next      string      // address of the host behind that of the step, or that one; "": not known, or it has no clock
	Status    int         // 0: no answer
	FirstByte time.Time   // of the answer, or the end of a failed try
	Done      time.Time
	Waited    time.Duration // before Done, for memory of this machine

	ContentType  string
	LastModified string
	ETag         string
	Date         string
	RetryAfter   time.Duration // -1: not given
	Fresh        time.Duration // as Cache-Control says
	Location     *Target       // of a redirect; nil: none that can be used
	BadLocation  string        // why it cannot

	Length  int64 // decoded bytes of the body; -1: not read
	SHA256  [32]byte
	Sealed  *warc.Sealed // for the page store; nil: not kept
	Robots  []byte       // body of a robots.txt
	Page    *page.Page
	Hashes  []uint64 // of Page.Links, index for index
	Sitemap *sitemap.File
	Entries []Target // of Sitemap.Entries that are URLs; Norm is empty for others
	Files   []Target // of Sitemap.Children likewise

	Fetched     *Fetched       // a page that is to be rendered before its visit ends
	Missing     []string       // of Render: URLs that are to be asked before the page is rendered afresh
	Failed      string         // of Render: why the browser failed; sanitised. There is the page as it was fetched
	Answer      *render.Answer // of Asset: what the scripts get
	Rendering   schema.Rendering
	RenderAsked int // see [schema.Visit]

	Held int64 // bytes, see [Outcome.Hold]
}

// A Target is a URL that an outcome leads to, with the store's hash of it.
type Target struct {
	weburl.URL
	Hash  uint64
	Forms []string // further forms under which it was named
	Own   int      // of Form and Forms: the first, which another shard says are own ones, see [schema.Forms]
}

// Answered reports whether the server gave a whole answer.
func (o *Outcome) Answered() bool { return o.Cause == fetch.None }

// Reason says why there is no answer.
func (o *Outcome) Reason() schema.Reason { return schema.Reason{Cause: o.Cause, Detail: o.Detail} }
