package judge

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// maxRobotsRedirects is the number of redirects followed for a robots.txt (RFC 9309 section 2.3.1.2).
const maxRobotsRedirects = 5

// A RobotsAct is the consequence of an answer for the host whose robots.txt was requested.
type RobotsAct uint8

// The acts.
const (
	Forget   RobotsAct = iota // the request was cancelled: nothing is known
	Keep                      // the text applies; without one, everything is allowed
	Ask                       // the same host is requested once more
	AskAt                     // another host is requested
	TryLater                  // the text is unknown; retry after a backoff
	GiveUp                    // the host cannot be reached
)

// String returns the act in a few words.
func (a RobotsAct) String() string {
	return [...]string{
		Forget: "forget", Keep: "keep", Ask: "ask again", AskAt: "ask another host", TryLater: "try later",
		GiveUp: "give up",
	}[a]
}

// A RobotsVerdict is what an answer means for the host whose robots.txt was requested.
type RobotsVerdict struct {
	Act    RobotsAct
	Status int           // of Keep
	Text   []byte        // of Keep; nil: everything is allowed
	Next   *ring.Step    // of Ask and AskAt; AskAt leaves its host for the caller to set
	At     *ring.Target  // of AskAt: where the redirect leads
	Reason schema.Reason // of TryLater and GiveUp
}

// Robots judges an answer for a robots.txt, which may come from another host than the one it is for. asked is
// the name of the host it comes from, and last reports that no retry would follow. A robots.txt is never
// requested from a host that the lists exclude.
func Robots(o *ring.Outcome, asked string, last bool) RobotsVerdict {
	switch {
	case o.Cause == fetch.Cancelled:
		return RobotsVerdict{Act: Forget}
	case !o.Answered():
		return robotsFailure(o, asked, last)
	case o.Wall != nil:
		return tryLater(walled(o))
	case Throttled(o):
		return tryLater(schema.StatusReason(o.Status))
	case o.Status == http.StatusNoContent:
		return RobotsVerdict{Act: Keep, Status: o.Status}
	case o.Status == http.StatusOK || o.Status == http.StatusNonAuthoritativeInfo:
		return RobotsVerdict{Act: Keep, Status: o.Status, Text: o.Robots}
	case o.Status >= 300 && o.Status <= 399:
		return robotsRedirect(o)
	case o.Status >= 400 && o.Status <= 499:
		return RobotsVerdict{Act: Keep, Status: o.Status}
	}
	return tryLater(schema.StatusReason(o.Status))
}

func tryLater(why schema.Reason) RobotsVerdict {
	return RobotsVerdict{Act: TryLater, Reason: why}
}

// robotsFailure gives up a host that cannot be reached, and retries one that is silent. Before a host is
// given up its other authority, with or without www., is tried, but not earlier: the server at that name may
// allow what this one forbids.
func robotsFailure(o *ring.Outcome, asked string, last bool) RobotsVerdict {
	if next := again(o); next != nil {
		return RobotsVerdict{Act: Ask, Next: next}
	}
	if o.Step.For != o.Step.Host {
		return tryLater(schema.Reason{Cause: o.Cause, Host: asked, Detail: o.Detail})
	}
	gone := false
	switch o.Cause {
	case fetch.NXDomain, fetch.Refused, fetch.TLS, fetch.RefusedAddress, fetch.RefusedPort:
		gone = true
	case fetch.TLSTimeout: // the next address is tried, if the host has one
		gone = o.Next == "" || o.Next == o.Step.Address
	}
	if o.Cause.Connection() && (gone || last) && weburl.Literal(asked) == "" {
		if form := otherAuthority(o.Step.URL); !slices.Contains(o.Step.Visit.Asked, form) {
			next := o.Follow()
			next.Visit.Unreached, next.Visit.Reason, next.URL = true, o.Reason(), form
			return RobotsVerdict{Act: Ask, Next: next}
		}
	}
	if gone {
		return RobotsVerdict{Act: GiveUp, Reason: cmp.Or(o.Step.Visit.Reason, o.Reason())}
	}
	return tryLater(o.Reason())
}

// robotsRedirect follows a redirect, even to another host, but never to one that must not be visited. Too
// many redirects count as no robots.txt.
func robotsRedirect(o *ring.Outcome) RobotsVerdict {
	next := o.Follow()
	next.Visit.Hops++
	to := o.Location
	if to == nil || next.Visit.Hops > maxRobotsRedirects ||
		!o.Step.Settings.Scope.Classify(to.Norm).Class.Visitable() {
		return RobotsVerdict{Act: Keep, Status: http.StatusNotFound}
	}
	if slices.Contains(next.Visit.Asked, to.Form) {
		return tryLater(because(schema.CauseRedirectLoop))
	}
	next.URL = to.Form
	return RobotsVerdict{Act: AskAt, Next: next, At: to}
}

// otherAuthority returns a robots.txt URL with www. added to or removed from its host.
func otherAuthority(url string) string {
	rest := strings.TrimPrefix(url, "https://")
	if bare, ok := strings.CutPrefix(rest, "www."); ok {
		return "https://" + bare
	}
	return "https://www." + rest
}
