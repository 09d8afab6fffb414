package judge

import (
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// head accepts a request for rest in an answer to HEAD, and success where HEAD suffices. It accepts an
// unwanted type only if GET has confirmed one for such a path. After anything else, except a failed
// connection, GET decides. That includes redirects: their targets enter the map at once, on other shards too,
// and could not be taken back if the host turned out to lie. A GET that redirects has no body worth saving.
func head(o *ring.Outcome) Verdict {
	refusal := refusalOf(o)
	switch {
	case o.Cause.Connection():
		return failure(o)
	case Throttled(o):
		return rest(o)
	case o.Answered() && o.Status >= 200 && o.Status <= 299 && o.Step.Settings.HeadSuffices(o.Step.URL):
		return success(o)
	case refusal.Type&o.Step.Visit.Heads == 0: // no refusal, or one that is not confirmed
	case o.Step.Visit.Heads&schema.HeadsLie != 0: // another refusal was contradicted since this was requested
	default:
		return contentMismatch(o)
	}
	get := o.Follow()
	get.Kind, get.Visit.Refusal = ring.Get, refusal
	return follow(get)
}

// refusalOf returns the refusal in an answer to HEAD.
func refusalOf(o *ring.Outcome) ring.Refusal {
	switch {
	case !o.Answered():
		return ring.Refusal{}
	case o.Location != nil:
		return ring.Refusal{Redirect: o.Location.Form}
	case o.Status < 200 || o.Status > 299 || !mismatch(o):
		return ring.Refusal{}
	case o.Step.Kind == ring.Head && o.Step.Settings.ReadsOPML(o.ContentType): // only the body shows a list
		return ring.Refusal{}
	case ring.LikePage(weburl.PathQuery(o.Step.URL)):
		return ring.Refusal{Type: schema.HeadPageType}
	}
	return ring.Refusal{Type: schema.HeadFileType}
}

// Heads returns what an answer to GET shows about the host's answers to HEAD: that it confirms the type or
// contradicts a refusal; 0: nothing. Server errors and requests for rest show nothing.
func Heads(o *ring.Outcome) schema.Heads {
	refusal := o.Step.Visit.Refusal
	if refusal == (ring.Refusal{}) || o.Step.Kind != ring.Get || !o.Answered() || o.Wall != nil || Throttled(o) ||
		inTrouble(o) {
		return 0
	}
	if refusalOf(o) == refusal {
		return refusal.Type
	}
	return schema.HeadsLie
}
