package survey

import (
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// Failure names the kind of error that a page ended in, in the same words for all pages with that
// error: "404 Not Found", "timeout". It is empty for a page that ended in no error, or that waits.
func (p *Page) Failure() string {
	switch {
	case p.Answer == schema.AnswerSoft404:
		return softFailure
	case p.State != schema.DeadLink && p.State != schema.Unreachable && p.State != schema.Failed:
		return ""
	case p.cause.Cause == schema.CauseStatus:
		return schema.StatusReason(p.cause.Status).String()
	case p.cause.Cause == schema.CauseNone:
		return p.State.String()
	}
	return p.cause.Cause.String()
}

// softFailure names the error of a page that does not exist although its status says that it does.
const softFailure = "soft 404"

// Broken reports whether a link to a page leads nowhere: the page is dead, has failed or cannot be reached, or it shows
// what its host shows for pages that do not exist. A page that robots.txt forbids is not broken, because it was never
// requested, nor is one behind a wall or for sale to crawlers (402).
func (p *Page) Broken() bool {
	return p.Answer == schema.AnswerSoft404 || LeadsNowhere(p.State, p.cause)
}

// Why returns in words why a link to a page leads nowhere.
func (p *Page) Why() string {
	if p.Answer == schema.AnswerSoft404 {
		return softFailure + " (" + missing.Meaning(p.AnswerRule) + ")"
	}
	return p.Error
}

// Walled reports whether a page shows a wall, and no earlier visit has read it. Pages of a host that was given up for
// its walls count as well.
func (p *Page) Walled() bool {
	return p.State == schema.Failed && p.cause.Cause == schema.CauseChallenge
}

// LeadsNowhere reports whether a link to a page in a state, for a reason, leads nowhere, see [Page.Broken].
func LeadsNowhere(s schema.State, why schema.Reason) bool {
	dead := s == schema.DeadLink || s == schema.Unreachable || s == schema.Failed
	return dead && why.Cause != schema.CauseDenied && why.Cause != schema.CauseChallenge &&
		why.Cause != schema.CausePayment
}

// Status returns the status of the last answer. It is 0 if there was none, or if the state is that
// of a page whose host did not answer a later request.
func (p *Page) Status() int {
	awry := p.State == schema.Unreachable || p.State == schema.Failed || p.State == schema.RateLimited
	if p.Visit == nil || awry && !p.fromVisit {
		return 0
	}
	return p.Visit.Status
}

// ErrorKind returns the kind under which [Counts.Errors] counts the visit of a page in the run;
// empty: it ended in no error. See [Survey.UnaskedKind] for pages that got no visit.
func (p *Page) ErrorKind() string {
	switch {
	case !p.Visited || p.Visit.Kept:
		return ""
	case p.State == schema.Failed && p.Visit.State == schema.Processed:
		return schema.CauseRedirectLoop.ErrorKind()
	}
	return p.Visit.ErrorKind()
}
