package schema

import "strings"

// A Cause is why a request, a visit or a host failed. Its numbers are part of the file format, so new
// causes are added at the end.
type Cause uint8

// The causes. Those from CauseNXDomain to CauseCancelled leave a request without an answer. The
// crawl derives the others from answers.
const (
	CauseNone           Cause = iota // no failure
	CauseNXDomain                    // the name does not exist
	CauseDNSTemporary                // SERVFAIL, DNS time-out
	CauseRefused                     // connection refused
	CauseRefusedAddress              // not a public address
	CauseConnectTimeout
	CauseNoRoute // unreachable network or host; also no local sockets left
	CauseTLS     // certificate, protocol
	CauseTLSTimeout
	CauseTimeout     // connected, but no complete header in time
	CauseReset       // the connection ended before the header, or was reset
	CauseTruncated   // the body is shorter than announced
	CauseBadResponse // malformed, header too large, bad encoding; a request that cannot be sent
	CauseTooLarge
	CauseSlow  // body slower than 1 KiB/s over 10 s, or longer than 5 min; retried like a timeout
	CauseProxy // the proxy failed, or refused the tunnel
	CauseCancelled

	CauseStatus        // the HTTP status is the reason
	CauseBadLocation   // a redirect without a usable target
	CauseUnasked304    // a 304 to an unconditional request
	CauseRedirectLoop  // redirects form a loop
	CauseRedirects     // too many redirects in a row
	CauseContentType   // content type not accepted
	CauseSitemap       // unreadable sitemap
	CauseDenied        // robots.txt forbids the page
	CauseRobots        // robots.txt is unavailable
	CauseTargetGivenUp // robots.txt redirects to a host that was given up
	CauseConnections   // several connection failures in a row
	CauseAskedToWait   // for longer than max-suspension
	CauseStillToWait   // the same, from an answer in an earlier run
	CauseRateLimits    // too many rate-limit answers in a row
	CauseCrawlDelay    // Crawl-delay exceeds max-crawl-delay, or max-suspension as well
	CauseRefusedPort   // a port on which no web server is contacted
	CauseManyTargets   // robots.txt redirects to a host where the run has already requested ten other addresses this way
	CauseChallenge     // a wall instead of a page, see [AnswerChallenge]
	CausePayment       // status 402; the detail is the price, if the server names one
	CauseMaze          // in a part of its host that never ends, see [Maze]
	causeCount
)

// Known reports whether this release knows the cause.
func (c Cause) Known() bool { return c < causeCount }

// String returns a few words for people; a [Reason] begins with them.
func (c Cause) String() string {
	words := [...]string{
		"none", "no such host", "DNS failure", "connection refused", "address refused",
		"connect timeout", "no route", "TLS error", "TLS timeout", "timeout",
		"connection reset", "truncated response", "bad response", "response too large",
		"response too slow", "proxy error", "cancelled",
		"status", "redirect", "304 without a conditional request", "redirect loop", "too many redirects",
		"content type", "sitemap", "denied by robots.txt", "robots.txt unavailable", "redirects to a host that is given up",
		"three connection failures in a row", "asked to wait", "asked to wait, still", "rate limited too often in a row",
		"Crawl-delay", "bad port", "ten other addresses were asked for other hosts", "walled",
		"payment required",
		"maze",
	}
	if int(c) >= len(words) {
		return "unknown"
	}
	return words[c]
}

// Connection reports whether the request never reached an HTTP exchange with its host.
func (c Cause) Connection() bool {
	return c >= CauseNXDomain && c <= CauseTLSTimeout || c == CauseProxy
}

// Unanswered reports whether the host sent no answer.
func (c Cause) Unanswered() bool {
	return c.Connection() || c == CauseTimeout || c == CauseReset
}

// The kinds of errors that a run counts. [Cause.ErrorKind] returns others as well.
const (
	ErrorDeadLink    = "dead_link"
	ErrorRateLimited = "rate_limited"
	ErrorRefused     = "connection_refused"
	ErrorTimeout     = "timeout"
	ErrorDenied      = "robots_denied"
	ErrorDNS         = "dns_failure"
	ErrorServer      = "server_error" // status 5xx
	ErrorClient      = "client_error" // any other 4xx
	ErrorRobots      = "robots_unavailable"
	ErrorRedirect    = "bad_redirect"
	ErrorResponse    = "bad_response"
	ErrorChallenge   = "challenge" // a wall
	ErrorPayment     = "payment"   // status 402
	ErrorOther       = "other"
)

// Final reports whether an immediate retry would give the same answer. It is false for timeouts, server
// errors and connection errors.
func (v *Visit) Final() bool {
	switch v.State {
	case Processed, DeadLink, ContentMismatch:
		return true
	}
	return v.State == Failed && (v.Reason.Cause == CauseStatus && v.Status >= 400 && v.Status < 500 ||
		v.Reason.Cause == CausePayment)
}

// Real reports whether the visit says what the page is. A failure says only that it is not known.
func (v *Visit) Real() bool {
	switch v.State {
	case Processed, DeadLink, ContentMismatch:
		return true
	}
	return false
}

// ErrorKind returns the kind of error that a visit counts as, or "" if it counts as none.
func (v *Visit) ErrorKind() string {
	if v.Answer == AnswerChallenge {
		return ErrorChallenge
	}
	switch v.State {
	case Processed, ContentMismatch:
		return ""
	case DeadLink:
		return ErrorDeadLink
	case RateLimited:
		return ErrorRateLimited
	}
	if v.Reason.Cause == CauseStatus {
		switch v.Status / 100 {
		case 4:
			return ErrorClient
		case 5:
			return ErrorServer
		}
	}
	return v.Reason.Cause.ErrorKind()
}

// ErrorKind returns the kind of error that a page counts as if it was not visited because of c.
func (c Cause) ErrorKind() string {
	switch c {
	case CauseChallenge:
		return ErrorChallenge
	case CausePayment:
		return ErrorPayment
	case CauseDenied:
		return ErrorDenied
	case CauseRefused:
		return ErrorRefused
	case CauseConnectTimeout, CauseTLSTimeout, CauseTimeout:
		return ErrorTimeout
	case CauseNXDomain, CauseDNSTemporary:
		return ErrorDNS
	case CauseRobots, CauseTargetGivenUp, CauseManyTargets:
		return ErrorRobots
	case CauseBadLocation, CauseRedirectLoop, CauseRedirects:
		return ErrorRedirect
	case CauseBadResponse, CauseUnasked304:
		return ErrorResponse
	case CauseRefusedAddress, CauseNoRoute, CauseTLS, CauseReset, CauseTruncated, CauseTooLarge, CauseSlow, CauseProxy,
		CauseSitemap:
		return strings.ReplaceAll(strings.ToLower(c.String()), " ", "_") // each is its own kind
	}
	return ErrorOther
}
