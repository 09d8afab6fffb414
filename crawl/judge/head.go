package judge

import (
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// head accepts a request for rest in an answer to HEAD. It accepts a redirect or an unwanted type only if GET
// has confirmed one of its kind. After anything else, except a failed connection, GET decides.
func head(o *ring.Outcome) Verdict {
	refusal := refusalOf(o)
	switch {
	case o.Cause.Connection():
		return failure(o)
	case Throttled(o):
		return rest(o)
	case refusal.Kind&o.Step.Visit.Heads == 0: // none, or one that is not confirmed
	case o.Step.Visit.Heads&schema.HeadsLie != 0: // another one was contradicted, since this was asked
	case o.Location != nil:
		return redirect(o)
	default:
		return contentMismatch(o)
	}
	get := o.Follow()
	get.Kind, get.Visit.Refusal = ring.Get, refusal
	return follow(get)
}

// refusalOf returns the refusal in an answer to HEAD.
func refusalOf(o *ring.Outcome) (r ring.Refusal) {
	switch {
	case !o.Answered():
		return r
	case o.Location != nil:
		r = ring.Refusal{Kind: schema.HeadRedirect, To: o.Location.Form}
	case o.Status >= 200 && o.Status <= 299 && mismatch(o):
		r.Kind = schema.HeadType
	}
	if !ring.LikePage(weburl.PathQuery(o.Step.URL)) {
		r.Kind <<= schema.HeadFile
	}
	return r
}

// Heads returns what an answer to GET shows about the host's answers to HEAD: whether it confirms or
// contradicts a refusal; 0: nothing. Server errors and requests for rest show nothing.
func Heads(o *ring.Outcome) schema.Heads {
	refusal := o.Step.Visit.Refusal
	if refusal.Kind == 0 || o.Step.Kind != ring.Get || !o.Answered() || Throttled(o) || inTrouble(o) {
		return 0
	}
	if refusalOf(o) == refusal {
		return refusal.Kind
	}
	return schema.HeadsLie
}
