package judge

import (
	"slices"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// redirect follows a redirect within the visit only if it leads to another form of the same page. Any other
// redirect is content of the page, like a link. A redirect to a form at which nothing was found gets the
// verdict of that form.
func redirect(o *ring.Outcome) Verdict {
	if o.Location == nil {
		return settle(schema.Failed, schema.Reason{Cause: schema.CauseBadLocation, Status: o.Status,
			Detail: o.BadLocation})
	}
	if o.Location.Norm != o.Step.Norm {
		return processed()
	}
	form, next := o.Location.Form, o.Follow()
	switch at := slices.Index(next.Visit.Asked, form); {
	case at >= 0 && at < next.Visit.Lost:
		return otherForm(o, notFound(next.Visit.Reason))
	case at >= 0 || next.Visit.Hops >= schema.MaxRedirects:
		return settle(schema.Failed, because(schema.CauseRedirectLoop))
	}
	next.Visit.Hops++
	next.Ask(form)
	return follow(next)
}

// notFound is the verdict on a form at which no page was found. An unreachable form is retried, unless it
// certainly does not exist.
func notFound(why schema.Reason) Verdict {
	switch why.Cause {
	case schema.CauseDenied:
		return settle(schema.Failed, why)
	case schema.CauseStatus:
		return settle(schema.DeadLink, why)
	case fetch.DNSTemporary, fetch.ConnectTimeout, fetch.NoRoute, fetch.Proxy:
		return retry(schema.Unreachable, why)
	}
	return settle(schema.Unreachable, why)
}

// otherForm requests the page's next form, if there is one, after the last one led nowhere.
func otherForm(o *ring.Outcome, last Verdict) Verdict {
	next := o.Follow()
	next.Visit.Unreached = next.Visit.Unreached || o.Cause.Connection()
	if last.State == schema.DeadLink && slices.Contains(next.Visit.Known, o.Step.URL) {
		next.Visit.Gone = last.Reason.Status
	}
	if last.State == schema.DeadLink {
		next.Visit.Missing = append(slices.Clip(next.Visit.Missing), o.Step.URL)
	}
	if v := nextForm(next, last); v.Act == Follow {
		return v
	}
	if gone := next.Visit.Gone; gone != 0 { // a server has said so; that other forms are unreachable is no evidence
		return settle(schema.DeadLink, schema.StatusReason(gone))
	}
	return last
}

// nextForm makes a step request the next form of its page not requested yet, after one that ended with last.
// If there is none, last is the verdict.
func nextForm(next *ring.Step, last Verdict) Verdict {
	next.Visit.Lost, next.Visit.Reason = len(next.Visit.Asked), last.Reason
	for len(next.Visit.Forms) > 0 {
		form := next.Visit.Forms[0]
		next.Visit.Forms = next.Visit.Forms[1:]
		if !slices.Contains(next.Visit.Asked, form) {
			next.Ask(form)
			return follow(next)
		}
	}
	return last
}
