// Package judge says what an answer means: for the page or sitemap that was asked
// for, and for the host whose robots.txt it is.
//
// It is the one place where a status, a failure or a redirect is given its meaning for a
// visit.
// A verdict depends on its arguments alone; whoever asked for it acts on it.
//
// Which answer asks for rest is said here too, by [Throttled]. That it suspends its
// host is no verdict but a fact, see package clock; a verdict only keeps the visit
// from ending.
package judge

import (
	"fmt"
	"net/http"

	"github.com/sumi-ripple/ripple/crawl/media"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An Act is what follows from an answer for the visit it belongs to.
type Act uint8

// The acts.
const (
	Settle Act = iota // the visit ends
	Follow            // the visit goes on with another step
	Retry             // the URL waits for another try
	Rest              // the host asks for rest, and the URL keeps its place in line
)

// A Verdict is what an answer means for the visit it belongs to.
type Verdict struct {
	Act    Act
	State  schema.State  // in which the visit ends; for Retry, in which it would
	Reason schema.Reason // why that is not processed
	Rule   string        // that decided, where one did
	Next   *ring.Step    // of Follow
}

// String says what follows in a word or two: of a visit that ends, its state.
func (v Verdict) String() string {
	switch v.Act {
	case Follow:
		return "go on"
	case Retry:
		return "retry"
	case Rest:
		return "rest"
	}
	return v.State.String()
}

// Page judges an answer for a page or a sitemap. The rules are those of its host's
// robots.txt, nil if it has none; triesLeft says that another try may be made, and
// givenUp that the host has asked for rest once too often.
func Page(o *ring.Outcome, rules *robots.Rules, triesLeft, givenUp bool) Verdict {
	v := answer(o)
	if v.Act == Retry && !triesLeft || v.Act == Rest && givenUp {
		v.Act = Settle
	}
	for v.Act == Follow && rules != nil { // a form that robots.txt forbids is passed over
		r := rules.Check(weburl.PathQuery(v.Next.URL))
		if r.Allowed {
			break
		}
		v = nextForm(v.Next, Denied(r))
	}
	return v
}

// Denied settles a page that robots.txt forbids.
func Denied(r robots.Verdict) Verdict {
	v := settle(schema.Failed, because(schema.CauseDenied))
	v.Rule = schema.Clean(fmt.Sprintf("robots.txt line %d: %s", r.Line, r.Rule), 256)
	return v
}

func settle(state schema.State, why schema.Reason) Verdict {
	return Verdict{Act: Settle, State: state, Reason: why}
}

func retry(state schema.State, why schema.Reason) Verdict {
	return Verdict{Act: Retry, State: state, Reason: why}
}

func processed() Verdict { return Verdict{Act: Settle, State: schema.Processed} }

func because(c schema.Cause) schema.Reason { return schema.Reason{Cause: c} }

func follow(next *ring.Step) Verdict { return Verdict{Act: Follow, Next: next} }

// Throttled reports an answer by which the host asks for rest: a 429, or a 503 that
// says for how long.
func Throttled(o *ring.Outcome) bool {
	return o.Answered() && (o.Status == http.StatusTooManyRequests ||
		o.Status == http.StatusServiceUnavailable && o.RetryAfter >= 0)
}

// Undecided reports an answer for a page or a sitemap that says nothing of it yet, to a HEAD or a redirect within
// the visit, which goes on with another request.
func Undecided(o *ring.Outcome) bool {
	return (o.Step.Kind == ring.Head || o.Step.Kind == ring.Get && o.Status < 400) && answer(o).Act == Follow
}

// inTrouble reports an answer that says that another try may bring a better one: any 5xx.
func inTrouble(o *ring.Outcome) bool { return o.Answered() && o.Status >= 500 && o.Status <= 599 }

func rest(o *ring.Outcome) Verdict {
	return Verdict{Act: Rest, State: schema.RateLimited, Reason: schema.StatusReason(o.Status)}
}

// answer is the table of answers and failures. It depends on the outcome alone.
func answer(o *ring.Outcome) Verdict {
	switch {
	case o.Step.Kind == ring.Head:
		return head(o)
	case !o.Answered():
		return failure(o)
	case Throttled(o):
		return rest(o)
	case o.Status >= 200 && o.Status <= 299:
		return success(o)
	case o.Status == http.StatusNotModified && o.Step.Visit.Revisit != 0:
		return processed()
	case o.Status == http.StatusNotModified:
		return settle(schema.Failed, because(schema.CauseUnasked304))
	case o.Status >= 300 && o.Status <= 399:
		return redirect(o)
	case o.Status == http.StatusNotFound || o.Status == http.StatusGone:
		return otherForm(o, notFound(schema.StatusReason(o.Status)))
	case inTrouble(o):
		return retry(schema.Failed, schema.StatusReason(o.Status))
	}
	return settle(schema.Failed, schema.StatusReason(o.Status))
}

func success(o *ring.Outcome) Verdict {
	switch {
	case o.Step.URLKind == schema.KindSitemap && o.Detail != "":
		return settle(schema.Failed, schema.Reason{Cause: schema.CauseSitemap, Detail: o.Detail})
	case o.Step.URLKind == schema.KindPage && mismatch(o):
		return contentMismatch(o)
	}
	return processed()
}

// mismatch reports a content type that is given and not accepted. What is no type counts as none: of a body the
// type is found.
func mismatch(o *ring.Outcome) bool {
	return media.Extract(o.ContentType).Essence != "" && !o.Step.Settings.Accepts(o.ContentType)
}

func contentMismatch(o *ring.Outcome) Verdict {
	why := schema.Reason{Cause: schema.CauseContentType, Detail: ring.MediaType(o.ContentType)}
	return settle(schema.ContentMismatch, why)
}
