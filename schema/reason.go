package schema

import (
	"fmt"
	"net/http"
	"time"
)

// A Reason is a cause with its details. Programs decide on the cause; the sentence is only for people.
// The zero value is no reason.
type Reason struct {
	Cause  Cause
	Status int           // for [CauseStatus], [CauseBadLocation] and [CausePayment]
	Wait   time.Duration // the wait that the host requests
	Host   string        // robots.txt redirects to this host and failed there; empty: no redirect
	Detail string        // sanitised words of a peer or library
}

// StatusReason returns the reason for an HTTP status.
func StatusReason(status int) Reason { return Reason{Cause: CauseStatus, Status: status} }

// String returns the reason in words, followed by Detail.
func (r Reason) String() string {
	words := r.words()
	switch {
	case r.Detail == "":
		return words
	case words == "":
		return r.Detail
	}
	return words + r.separator() + r.Detail
}

func (r Reason) separator() string {
	if r.Cause == CauseContentType || r.Cause == CauseCrawlDelay {
		return " "
	}
	return ": "
}

func (r Reason) words() string {
	if r.Cause == CauseTargetGivenUp && r.Host != "" {
		return "redirects to " + r.Host + ", which is given up"
	}
	words := r.Cause.String()
	switch r.Cause {
	case CauseNone, CauseSitemap:
		words = ""
	case CauseRedirects:
		words = fmt.Sprintf("more than %d redirects", MaxRedirects)
	case CauseStatus, CauseBadLocation:
		words = statusText(r.Status)
	case CauseAskedToWait, CauseStillToWait:
		words += " " + r.Wait.Round(time.Second).String()
	}
	if r.Host != "" {
		return "redirects to " + r.Host + ": " + words
	}
	return words
}

func statusText(code int) string {
	if text := http.StatusText(code); text != "" {
		return fmt.Sprintf("%d %s", code, text)
	}
	return fmt.Sprintf("status %d", code)
}
