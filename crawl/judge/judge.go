// Package judge decides what an answer means: for the page or sitemap that was requested, and for the host
// whose robots.txt it is.
//
// It is the only place that gives a status, a failure or a redirect its meaning for a visit. A verdict
// depends only on its arguments; the caller acts on it.
//
// [Throttled] defines which answers ask the crawl to wait. Such an answer always suspends its host (package clock); the
// verdict only says that the visit has not ended.
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

// An Act is the consequence of an answer for its visit.
type Act uint8

// The acts.
const (
	Settle Act = iota // the visit ends
	Follow            // the visit continues with another step
	Retry             // the URL waits for a retry
	Rest              // the host asks for rest, and the URL keeps its place in line
)

// A Verdict is what an answer means for its visit.
type Verdict struct {
	Act    Act
	State  schema.State  // in which the visit ends; for Retry, the state if no tries are left
	Reason schema.Reason // why the state is not processed
	Rule   string        // the rule that decided, if any
	Next   *ring.Step    // of Follow
}

// String returns the act in a word or two; for a visit that ends, its state.
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

// Page judges an answer for a page or a sitemap. rules are those of its host's robots.txt, nil if it has
// none. triesLeft reports whether a retry is allowed, and givenUp whether the host has asked for rest once
// too often.
func Page(o *ring.Outcome, rules *robots.Rules, triesLeft, givenUp bool) Verdict {
	v := answer(o)
	if v.Act == Retry && !triesLeft || v.Act == Rest && givenUp {
		v.Act = Settle
	}
	for v.Act == Follow && rules != nil { // skip forms that robots.txt forbids
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

// Throttled reports whether the host asks for rest: with a 429, or a 503 with a Retry-After.
func Throttled(o *ring.Outcome) bool {
	return o.Answered() && (o.Status == http.StatusTooManyRequests ||
		o.Status == http.StatusServiceUnavailable && o.RetryAfter >= 0)
}

// Undecided reports whether an answer for a page or a sitemap does not decide the visit yet: an answer to
// HEAD, or a redirect within the visit, that leads to another request.
func Undecided(o *ring.Outcome) bool {
	return (o.Step.Kind == ring.Head || o.Step.Kind == ring.Get && o.Status < 400) && answer(o).Act == Follow
}

// inTrouble reports whether a retry may bring a better answer: after any 5xx.
func inTrouble(o *ring.Outcome) bool { return o.Answered() && o.Status >= 500 && o.Status <= 599 }

func rest(o *ring.Outcome) Verdict {
	return Verdict{Act: Rest, State: schema.RateLimited, Reason: schema.StatusReason(o.Status)}
}

// answer is the table of answers and failures. It depends only on the outcome.
func answer(o *ring.Outcome) Verdict {
	switch {
	case o.Wall != nil && o.Answered():
		return settle(schema.Failed, walled(o))
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
	case o.Status == http.StatusPaymentRequired:
		return settle(schema.Failed, schema.Reason{Cause: schema.CausePayment, Status: o.Status, Detail: o.Price})
	case inTrouble(o):
		return retry(schema.Failed, schema.StatusReason(o.Status))
	}
	return settle(schema.Failed, schema.StatusReason(o.Status))
}

// walled names the wall that an answer is.
func walled(o *ring.Outcome) schema.Reason {
	return schema.Reason{Cause: schema.CauseChallenge, Detail: o.Wall.Vendor}
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

// mismatch reports whether the answer declares a content type that is not accepted, and is no list that was read.
// An invalid type counts as none: the type is then detected from the body.
func mismatch(o *ring.Outcome) bool {
	return media.Extract(o.ContentType).Essence != "" && !o.Step.Settings.Accepts(o.ContentType) &&
		(o.Page == nil || !o.Step.Settings.ReadsOPML(o.ContentType))
}

func contentMismatch(o *ring.Outcome) Verdict {
	why := schema.Reason{Cause: schema.CauseContentType, Detail: ring.MediaType(o.ContentType)}
	return settle(schema.ContentMismatch, why)
}
