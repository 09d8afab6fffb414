package crawl

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// A line is what the scheduler knows of a host with unsent steps or open
// requests.
type line struct {
	steps      []*ring.Step // not yet sent
	open       int
	asked      time.Time // when the last request was sent
	address    string
	ready      time.Time
	delay      time.Duration
	priority   uint8
	limit      int
	standing   slots.Standing
	met        bool        // it has answered, in this process or an earlier one
	returning  slots.Tally // counts the host while it can send nothing until a request is settled
	suspension uint32
}

// pass takes the first step off the line, because it was sent.
func (l *line) pass() { l.steps = slices.Delete(l.steps, 0, 1) }

// add appends steps to the line, which owns them from now on. They are requests to the line's host.
func (l *line) add(host schema.HostID, steps []ring.Step) {
	for i := range steps {
		steps[i].Host = host
		l.steps = append(l.steps, &steps[i])
	}
}

// revoke empties the line and returns what was in it.
func (l *line) revoke() []ring.Step {
	var unsent []ring.Step
	for _, step := range l.steps {
		unsent = append(unsent, *step)
	}
	l.steps = nil
	return unsent
}

// next returns when the host may be requested. With several requests at a time, its clock runs from
// the last one that was sent, which the recorder may not have seen yet.
func (l *line) next() time.Time {
	if next := l.asked.Add(l.delay); l.limit > 1 && next.After(l.ready) {
		return next
	}
	return l.ready
}
