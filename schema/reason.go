package schema

import (
	"fmt"
	"net/http"
	"time"
)

// A Reason is a cause with what belongs to it. What follows from a reason is decided
// on its cause; the sentence is for people alone. The zero value is no reason.
type Reason struct {
	Cause  Cause
	Status int           // of [CauseStatus] and [CauseBadLocation]
	Wait   time.Duration // that a host asks for
	Host   string        // robots.txt redirects there, and there it failed; empty: it did not
	Detail string        // what a peer or a library says of it, sanitised; all there is if the cause is none
}

// StatusReason is the reason that lies in the status of an answer.
func StatusReason(status int) Reason { return Reason{Cause: CauseStatus, Status: status} }

// String is the reason in words. They end with its Detail.
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
