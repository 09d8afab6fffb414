package crawl

import (
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// Kinds of errors that a run counts: visits that ended in one, and 429s (SPEC 10).
const (
	errorDeadLink    = "dead_link"
	errorRateLimited = "rate_limited"
	errorRefused     = "connection_refused"
	errorTimeout     = "timeout"
	errorRobots      = "robots_denied"
	errorOther       = "other"
)

func (r *recorder) count(kind string) {
	if r.run.Errors == nil {
		r.run.Errors = map[string]int{}
	}
	r.run.Errors[kind]++
}

// countState counts a visit of a page that ended in an error.
func (t *turn) countState(v *schema.Visit) {
	if t.store.Kind(v.URL) != schema.KindPage {
		return
	}
	switch {
	case v.State == schema.Processed, v.State == schema.ContentMismatch:
	case v.State == schema.DeadLink:
		t.count(errorDeadLink)
	case v.State == schema.RateLimited:
		t.count(errorRateLimited)
	case v.Requests == 0:
		t.count(errorRobots)
	case strings.Contains(v.Error, "connection refused"):
		t.count(errorRefused)
	case strings.Contains(v.Error, "time-out") || strings.Contains(v.Error, "timeout"):
		t.count(errorTimeout)
	default:
		t.count(errorOther)
	}
}

// An Event is a visit that a commit is about to hold, for a live view.
type Event struct {
	URL    string
	State  schema.State
	Status int
	Links  int
	Error  string
	Time   time.Duration // to the first byte
}

func (t *turn) report(v *schema.Visit, h *schema.Host) {
	if t.onVisit == nil || t.store.Kind(v.URL) != schema.KindPage {
		return
	}
	norm, err := t.tx.Norm(v.URL)
	if err != nil {
		norm = "https://" + h.Name
	}
	t.onVisit(Event{URL: norm, State: v.State, Status: v.Status, Links: len(v.Links), Error: v.Error, Time: v.ResponseTime})
}
