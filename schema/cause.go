package schema

import "strings"

// A Cause is why something has come to no good end: a request, a visit, a host. Its
// numbers are part of the file's format; further causes are added at the end.
type Cause uint8

// The causes. Those from CauseNXDomain to CauseCancelled leave a request without an
// answer, the others are what a crawl makes of the answers.
const (
	CauseNone           Cause = iota // nothing is wrong, or it is known in words only
	CauseNXDomain                    // the name does not exist
	CauseDNSTemporary                // SERVFAIL, DNS time-out
	CauseRefused                     // connection refused
	CauseRefusedAddress              // not a public address
	CauseConnectTimeout
	CauseNoRoute // unreachable network or host; also a lack of local sockets
	CauseTLS     // certificate, protocol
	CauseTLSTimeout
	CauseTimeout     // after connecting: no whole header in time
	CauseReset       // the connection ended before the header, or was reset
	CauseTruncated   // the body is shorter than announced
	CauseBadResponse // malformed, header too large, bad encoding; a request that cannot be sent
	CauseTooLarge
	CauseSlow  // body under 1 KiB/s over 10 s, or over 5 min; a time-out for retries
	CauseProxy // the proxy failed, or refused the tunnel
	CauseCancelled

	CauseStatus        // the status says it
	CauseBadLocation   // a redirect that leads nowhere
	CauseUnasked304    // a 304 to a request without conditions
	CauseRedirectLoop  // redirects come back
	CauseRedirects     // too many redirects in a row
	CauseContentType   // of a type that is not accepted
	CauseSitemap       // a sitemap that cannot be read
	CauseDenied        // robots.txt forbids the page
	CauseRobots        // robots.txt is unavailable
	CauseTargetGivenUp // robots.txt redirects to a host that is given up
	CauseConnections   // several connection failures in a row
	CauseAskedToWait   // for longer than max-suspension
	CauseStillToWait   // likewise, what an earlier run was told
	CauseRateLimits    // too many answers in a row that ask for rest
	CauseCrawlDelay    // robots.txt asks for a longer delay than max-crawl-delay, or than max-suspension too
	CauseRefusedPort   // a port at which no web server is asked
	CauseManyTargets   // robots.txt redirects to a host of which ten other addresses were asked so in the run
	causeCount
)

// Known reports whether c is one of the causes that this release knows.
func (c Cause) Known() bool { return c < causeCount }

// String returns a few words for people, which begin the sentence of a [Reason].
func (c Cause) String() string {
	words := [...]string{
		"none", "no such host", "dns failure", "connection refused", "address refused",
		"connect timeout", "no route", "tls error", "tls timeout", "timeout",
		"connection reset", "truncated response", "bad response", "response too large",
		"response too slow", "proxy error", "cancelled",
		"status", "redirect", "304 without a conditional request", "redirect loop", "too many redirects",
		"content type", "sitemap", "denied by robots.txt", "robots.txt unavailable", "redirects to a host that is given up",
		"three connection failures in a row", "asked to wait", "asked to wait, still", "rate limited too often in a row",
		"Crawl-delay", "bad port", "ten other addresses were asked for other hosts",
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

// Unanswered reports a cause for which there was no answer of the host at all.
func (c Cause) Unanswered() bool {
	return c.Connection() || c == CauseTimeout || c == CauseReset
}

// The kinds of errors that a run counts. There are more: see [Cause.ErrorKind].
const (
	ErrorDeadLink    = "dead_link"
	ErrorRateLimited = "rate_limited"
	ErrorRefused     = "connection_refused"
	ErrorTimeout     = "timeout"
	ErrorDenied      = "robots_denied"
	ErrorDNS         = "dns_failure"
	ErrorServer      = "server_error" // an answer of 5xx
	ErrorClient      = "client_error" // another one of 4xx
	ErrorRobots      = "robots_unavailable"
	ErrorRedirect    = "bad_redirect"
	ErrorResponse    = "bad_response"
	ErrorOther       = "other"
)

// Final reports whether a visit ended in an answer that would be the same a little
// later: not by a time-out, an error of the server or of the connection.
func (v *Visit) Final() bool {
	switch v.State {
	case Processed, DeadLink, ContentMismatch:
		return true
	}
	return v.State == Failed && v.Reason.Cause == CauseStatus && v.Status >= 400 && v.Status < 500
}

// ErrorKind returns the kind of error that a visit counts as; empty: it is none.
func (v *Visit) ErrorKind() string {
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

// ErrorKind returns the kind of error that a page counts as which was not to be had for
// a cause.
func (c Cause) ErrorKind() string {
	switch c {
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
		return strings.ReplaceAll(c.String(), " ", "_") // each is one of its own
	}
	return ErrorOther
}
