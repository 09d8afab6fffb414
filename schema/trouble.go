package schema

import (
	"fmt"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema/amount"
)

// A TroubleKind is why a host receives no requests although its delay would allow one.
type TroubleKind uint8

// The kinds of troubles.
const (
	TroubleNone    TroubleKind = iota
	TroubleGivenUp             // no more requests in this run
	TroubleRest                // the host asked for a pause
	TroubleRobots              // its robots.txt is unavailable
	TroubleRetries             // pages wait for a retry
	troubleCount
)

// TroubleKinds returns all kinds except TroubleNone.
func TroubleKinds() []TroubleKind { return all(troubleCount)[TroubleGivenUp:] }

// String returns a kind in a word or two.
func (k TroubleKind) String() string {
	return [troubleCount]string{
		TroubleNone: "none", TroubleGivenUp: "given up", TroubleRest: "rest", TroubleRobots: "robots.txt",
		TroubleRetries: "retries",
	}[k]
}

// A Trouble is why a host receives no requests although its delay would allow one, according to the
// host's record. The zero value means no trouble.
type Trouble struct {
	Kind  TroubleKind
	Why   Reason    // of the last failure; none for TroubleRest
	From  string    // for TroubleRobots: the host that robots.txt redirects to, if its answer is pending; empty: none
	Since time.Time // start of the wait for From; zero: unknown
	Times int       // failures or rate-limit answers in a row; URLs for TroubleRetries; 0 for TroubleGivenUp
	Until time.Time // earliest time of the next request; zero for TroubleGivenUp
}

// Trouble returns the trouble that a run has with the host.
func (h *Host) Trouble(run RunID) Trouble {
	own := h.Run == run
	switch {
	case own && h.RunGivenUp != NotGivenUp:
		return Trouble{Kind: TroubleGivenUp, Why: h.RunGivenUpWhy}
	case h.Throttles > 0:
		return Trouble{Kind: TroubleRest, Times: int(h.Throttles), Until: h.SuspendedTo}
	case own && h.RobotsFrom != "":
		return Trouble{Kind: TroubleRobots, From: h.RobotsFrom, Since: h.RobotsSince, Times: int(h.RobotsTries)}
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

// MaxRest is the longest pause that a host can ask for.
const MaxRest = 366 * 24 * time.Hour

// RestsUntil returns when the suspension of the host ends; zero: it is not suspended. An end that is
// further away than the length of the suspension was written by a wrong clock, and is limited to that
// length.
func (h *Host) RestsUntil(now time.Time) time.Time {
	if limit := now.Add(min(h.SuspendedFor, MaxRest)); h.SuspendedTo.After(limit) {
		return limit
	}
	return h.SuspendedTo
}

// OutOfReach returns why a run gave the host up before any of its pages was requested: the host was
// unreachable, or its robots.txt was. It returns CauseNone if neither happened. For several failures in
// a row it returns the last one if known, else [CauseConnections]. Pages of the host that were not
// visited count as errors of that cause.
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

// last returns the cause of the last of several failures, if the detail names it.
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

// String describes the trouble, without its time. It is empty if there is none.
func (t Trouble) String() string {
	switch t.Kind {
	case TroubleGivenUp:
		return "given up: " + t.Why.String()
	case TroubleRest:
		return "asked Ripple to wait" + times(t.Times)
	case TroubleRobots:
		if t.From != "" {
			return "robots.txt redirects to " + t.From + t.unanswered()
		}
		return "robots.txt " + t.Why.failed(t.Times)
	case TroubleRetries:
		return amount.Of(t.Times, "page", "") + " to be tried again: " + t.Why.String()
	}
	return ""
}

// unanswered describes the wait for the host that robots.txt redirects to, and its reason.
func (t Trouble) unanswered() string {
	text := ", no answer from there yet"
	if !t.Since.IsZero() {
		text = ", no answer from there since " + t.Since.UTC().Format(time.RFC3339)
	}
	if t.Why.Detail != "" {
		text += " (" + t.Why.Detail + ")"
	}
	return text
}

// failed describes n failures with this reason.
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
