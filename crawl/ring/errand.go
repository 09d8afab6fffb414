package ring

import (
	"net/http"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/schema"
)

// An Errand is a request to a host of another shard, which that one makes: a host has one
// clock, and it runs there.
type Errand struct {
	From, To int    // shards
	Kind     Kind   // Robots: the robots.txt of a host of From redirects there; Asset
	ID       uint64 // of Robots: one for each request of From
	URL      string
	Out      bool // this crawl is From, and sends a letter; else it makes the request
}

// A Report is what has come of an errand.
type Report struct {
	Cause    schema.Cause // why there is no answer; [schema.CauseNone]: there is one
	Detail   string       // of Cause; sanitised
	Status   int
	Location string // of a redirect of a robots.txt, absolute; empty: none that can be used
	Body     []byte // of a robots.txt, or of an asset; or a piece of it
	Size     int    // where Body is a piece: of all of it, in bytes
	Sum      uint64 // likewise: its XXH3, for another answer has another one

	Header  http.Header // of an asset
	Refused string      // why scripts do not get an asset; empty: they do, whatever the status
}

// Piece is the report with a piece of the body, from a byte on and of so many at most, and where
// that is the first one, with the header.
func (r Report) Piece(at, most int) Report {
	r.Size, r.Sum = len(r.Body), xxh3.Hash(r.Body)
	rest := r.Body[min(at, len(r.Body)):]
	r.Body = rest[:min(len(rest), most)]
	if at > 0 {
		r.Header = nil
	}
	return r
}

// News is what a commit is made of.
type News struct {
	Outcomes  []Outcome
	Referrals []Referral // of other shards
	Errands   []Errand   // likewise
	Wakes     []Wake
	Portion   *Portion // of max-pages, of a shard; nil: as before
}

// A Portion is what a shard has of max-pages.
type Portion struct {
	Pages int  // that its run may come to
	Final bool // nothing of max-pages is left anywhere
}

// Entrusted reports whether a step is an errand that another shard is to do.
func (s *Step) Entrusted() bool { return s.Errand != nil && s.Errand.Out }

// Bring takes over what another shard reports of the step of an outcome.
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
	if r.Location == "" {
		return
	}
	if to, err := o.Step.Settings.Rules.Parse(r.Location); err == nil {
		o.Location = &Target{URL: to}
	}
}

// Report is what an outcome says to who wanted to know.
func (o *Outcome) Report() Report {
	r := Report{Cause: o.Cause, Detail: o.Detail, Status: o.Status, Body: o.Robots}
	if o.Location != nil {
		r.Location = o.Location.Form
	}
	return r
}
