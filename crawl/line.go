package crawl

import (
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// A line is what the scheduler knows of a host with unsent steps or open
// requests.
type line struct {
	steps      []Step
	passed     int // of steps, those that were sent
	open       int
	asked      time.Time // when the last request was sent
	address    string
	ready      time.Time
	delay      time.Duration
	priority   uint8
	limit      int
	failing    bool
	suspension uint32
}

func (l *line) unsent() []Step { return l.steps[l.passed:] }

// pass drops the first step.
func (l *line) pass() {
	l.steps[l.passed] = Step{}
	l.passed++
	if l.passed == len(l.steps) {
		l.steps, l.passed = l.steps[:0], 0
	}
}

// add puts steps at the end. They ask the host whose line it is. Room at the
// beginning is used again once it is half of all, so a long line costs no more.
func (l *line) add(host schema.HostID, steps []Step) {
	if l.passed > 0 && 2*l.passed >= len(l.steps) && len(l.steps)+len(steps) > cap(l.steps) {
		n := copy(l.steps, l.unsent())
		clear(l.steps[n:])
		l.steps, l.passed = l.steps[:n], 0
	}
	for _, step := range steps {
		step.Host = host
		l.steps = append(l.steps, step)
	}
}
