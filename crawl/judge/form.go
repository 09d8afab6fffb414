package judge

import (
	"slices"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// redirect judges one that is followed within the visit only if it leads to another
// form of the same page; any other is what the page says, like a link.
func redirect(o *ring.Outcome) Verdict {
	if o.Location == nil {
		return settle(schema.Failed, schema.Reason{Cause: schema.CauseBadLocation, Status: o.Status,
			Detail: o.BadLocation})
	}
	if o.Location.Norm != o.Step.Norm {
		return processed()
	}
	form, next := o.Location.Form, o.Follow()
	if slices.Contains(next.Visit.Asked, form) || next.Visit.Hops >= schema.MaxRedirects {
		return settle(schema.Failed, because(schema.CauseRedirectLoop))
	}
	next.Visit.Hops++
	next.Ask(form)
	return follow(next)
}

// otherForm asks the next form of the page, if there is one.
func otherForm(o *ring.Outcome, last Verdict) Verdict {
	next := o.Follow()
	next.Visit.Unreached = next.Visit.Unreached || o.Cause.Connection()
	if o.Answered() && slices.Contains(next.Visit.Known, o.Step.URL) {
		next.Visit.Gone = o.Status
	}
	for len(next.Visit.Forms) > 0 {
		form := next.Visit.Forms[0]
		next.Visit.Forms = next.Visit.Forms[1:]
		if !slices.Contains(next.Visit.Asked, form) {
			next.Ask(form)
			return follow(next)
		}
	}
	if gone := next.Visit.Gone; gone != 0 { // a server has said so; that others cannot be reached says nothing
		return settle(schema.DeadLink, schema.StatusReason(gone))
	}
	return last
}
