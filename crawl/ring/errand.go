package ring

import (
	"net/http"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/schema"
)

// An Errand is a request that one shard makes for another, to a host of its own: a host has one clock, which
// runs in its shard.
type Errand struct {
	From, To int    // shards
	Kind     Kind   // Robots: the robots.txt of a host of From redirects there; or Asset
	ID       uint64 // of Robots: one for each request of From
	URL      string
	Accept   string // of Asset
}

// Resource returns the resource that an errand for scripts requests.
func (e *Errand) Resource() render.Resource { return render.Resource{URL: e.URL, Accept: e.Accept} }

// A Report is the result of an errand.
type Report struct {
	Cause    schema.Cause // why there is no answer; [schema.CauseNone]: there is one
	Detail   string       // of Cause; sanitised
	Status   int
	Location string        // absolute target of a robots.txt's redirect; empty: none that is usable
	Body     []byte        // of a robots.txt or an asset, or a piece of it
	Size     int           // if Body is a piece: size of the whole, in bytes
	Sum      uint64        // if Body is a piece: XXH3 of the whole, to distinguish answers
	Age      time.Duration // of the answer for a robots.txt, which may have served other hosts before
	Behind   string        // while there is no report: the host whose robots.txt the request waits for; empty: none

	Header  http.Header // of an asset
	Refused string      // why scripts do not get an asset; empty: they get it, whatever its status
}

// Piece returns the report with at most most bytes of the body, starting at byte at. Only the first piece has
// the header.
func (r Report) Piece(at, most int) Report {
	r.Size, r.Sum = len(r.Body), xxh3.Hash(r.Body)
	rest := r.Body[min(at, len(r.Body)):]
	r.Body = rest[:min(len(rest), most)]
	if at > 0 {
		r.Header = nil
	}
	return r
}

// News is the input of a commit.
type News struct {
	Outcomes  []Outcome
	Referrals []Referral // from other shards
	Errands   []Errand   // from other shards
	Wakes     []Wake
	Portion   *Portion // a shard's part of max-pages; nil: unchanged
}

// A Portion is a shard's part of max-pages.
type Portion struct {
	Pages int  // that its run may reach
	Final bool // nothing of max-pages is left in any shard
}

// Entrusted reports whether a step is an errand for another shard.
func (s *Step) Entrusted() bool { return s.Errand != nil }

// Bring copies another shard's report into the outcome of an errand.
func (o *Outcome) Bring(r Report) {
	if o.Step.Kind == Asset {
		o.Status, o.Answer = r.Status,
			&render.Answer{Status: r.Status, Header: r.Header, Body: r.Body, Refused: r.Refused}
		if r.Cause != schema.CauseNone {
			o.Answer = &render.Answer{Refused: r.Cause.String()}
		}
		return
	}
	o.Cause, o.Detail, o.Status, o.Robots = r.Cause, r.Detail, r.Status, r.Body
	o.FirstByte = o.FirstByte.Add(-max(0, r.Age))
	if r.Location == "" {
		return
	}
	if to, err := o.Step.Settings.Rules.Parse(r.Location); err == nil {
		o.Location = &Target{URL: to}
	}
}

// Report returns an outcome as a report to the shard that requested it.
func (o *Outcome) Report() Report {
	r := Report{Cause: o.Cause, Detail: o.Detail, Status: o.Status, Body: o.Robots}
	if o.Location != nil {
		r.Location = o.Location.Form
	}
	return r
}
