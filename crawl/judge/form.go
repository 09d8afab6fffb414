package judge

import (
	"slices"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// redirect judges one that is followed within the visit only if it leads to another
// form of the same page; any other is what the page says, like a link. One that leads to a form
// at which nothing was found comes to what that has come to.
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

// notFound is the verdict on a form at which no page was found, for a reason. One that could not be
// reached is tried again, unless it is certain not to be there.
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

// otherForm asks the next form of the page, if there is one: the last one has led nowhere.
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
	if gone := next.Visit.Gone; gone != 0 { // a server has said so; that others cannot be reached says nothing
		return settle(schema.DeadLink, schema.StatusReason(gone))
	}
	return last
}

// nextForm lets a step ask the next form of its page that it has not asked yet, after one that ended with
// last. If there is none, last is the verdict.
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
