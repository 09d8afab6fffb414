package schema

import (
	"fmt"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema/amount"
)

// A TroubleKind says what keeps a host from being asked as its delay allows.
type TroubleKind uint8

// The kinds of troubles.
const (
	TroubleNone    TroubleKind = iota
	TroubleGivenUp             // it is not asked any more in this run
	TroubleRest                // it has asked for rest
	TroubleRobots              // its robots.txt cannot be had
	TroubleRetries             // pages of it wait for another try
	troubleCount
)

// TroubleKinds returns all kinds but that of no trouble.
func TroubleKinds() []TroubleKind { return all(troubleCount)[TroubleGivenUp:] }

// String names a kind in a word or two.
func (k TroubleKind) String() string {
	return [troubleCount]string{
		TroubleNone: "none", TroubleGivenUp: "given up", TroubleRest: "rest", TroubleRobots: "robots.txt",
		TroubleRetries: "retries",
	}[k]
}

// A Trouble is what keeps a host from being asked as its delay allows, as the host's
// record tells it. The zero value is none.
type Trouble struct {
	Kind  TroubleKind
	Why   Reason    // of the last failure; none for TroubleRest
	Times int       // failures or demands for rest in a row; URLs of TroubleRetries; 0 for TroubleGivenUp
	Until time.Time // when it is asked again at the earliest; zero for TroubleGivenUp
}

// Trouble returns what a run has with a host.
func (h *Host) Trouble(run RunID) Trouble {
	own := h.Run == run
	switch {
	case own && h.RunGivenUp != NotGivenUp:
		return Trouble{Kind: TroubleGivenUp, Why: h.RunGivenUpWhy}
	case h.Throttles > 0:
		return Trouble{Kind: TroubleRest, Times: int(h.Throttles), Until: h.SuspendedTo}
	case own && h.RobotsTries > 0:
		return Trouble{Kind: TroubleRobots, Why: h.RobotsReason, Times: int(h.RobotsTries), Until: h.RobotsDue}
	case own && len(h.Retries) > 0:
		first := h.Retries[0]
		for _, r := range h.Retries[1:] {
			if r.Due.Before(first.Due) {
				first = r
			}
		}
		return Trouble{Kind: TroubleRetries, Why: first.Reason, Times: len(h.Retries), Until: first.Due}
	}
	return Trouble{}
}

// MaxRest is the longest that a host is left alone because it has asked for rest.
const MaxRest = 366 * 24 * time.Hour

// RestsUntil returns when the suspension of a host is over; zero: it is not suspended. One that ends
// later from now than the host was suspended for was stored by a clock that was wrong, and is cut to that.
func (h *Host) RestsUntil(now time.Time) time.Time {
	if limit := now.Add(min(h.SuspendedFor, MaxRest)); h.SuspendedTo.After(limit) {
		return limit
	}
	return h.SuspendedTo
}

// OutOfReach returns why a run has given the host up without having asked for its pages: it was
// not reached, or its robots.txt could not be had; none: neither is so. Of several failures in a
// row it is the last that is known, or [CauseConnections]. Its pages that got no visit count as errors of that cause.
func (h *Host) OutOfReach(run RunID) Cause {
	if h.Run != run || h.RunGivenUp != GaveUpConnection && h.RunGivenUp != GaveUpRobots {
		return CauseNone
	}
	if h.RunGivenUp == GaveUpConnection {
		if last := h.RunGivenUpWhy.last(); last != CauseConnections {
			return last
		}
	}
	if c := h.RobotsReason.Cause; h.RobotsTries > 0 && h.RobotsReason.Host == "" && c.Unanswered() {
		return c
	}
	if h.RunGivenUp == GaveUpRobots {
		return CauseRobots
	}
	for _, retry := range h.Retries {
		if c := retry.Reason.Cause; c.Connection() {
			return c
		}
	}
	return CauseConnections
}

// last is the cause of the last of several failures, whose sentence the detail is, where it is known.
func (r Reason) last() Cause {
	if r.Cause == CauseConnections {
		for c := CauseNXDomain; c < causeCount; c++ {
			rest, ok := strings.CutPrefix(r.Detail, c.String())
			if ok && c.Connection() && (rest == "" || strings.HasPrefix(rest, ": ")) {
				return c
			}
		}
	}
	return r.Cause
}

// String is the trouble in words, without its time; empty if there is none.
func (t Trouble) String() string {
	switch t.Kind {
	case TroubleGivenUp:
		return "given up: " + t.Why.String()
	case TroubleRest:
		return "asked for rest" + times(t.Times)
	case TroubleRobots:
		return "robots.txt " + t.Why.failed(t.Times)
	case TroubleRetries:
		return amount.Of(t.Times, "page", "") + " to be tried again: " + t.Why.String()
	}
	return ""
}

// failed says that something came to no good end for a reason, so many times.
func (r Reason) failed(n int) string {
	switch {
	case r.Host != "":
	case r.Cause == CauseTimeout || r.Cause == CauseConnectTimeout || r.Cause == CauseTLSTimeout:
		return "timed out" + times(n)
	case r.Cause == CauseStatus:
		return "answered " + r.String() + times(n)
	}
	return "failed" + times(n) + " (" + r.String() + ")"
}

func times(n int) string {
	switch n {
	case 0, 1:
		return ""
	case 2:
		return " twice"
	}
	return fmt.Sprintf(" %d times", n)
}
