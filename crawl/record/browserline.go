package record

import (
	"slices"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// mostTimeouts is the number of pages of a host that may run out of time before its pages come last.
const mostTimeouts = 3

// A browserLine holds the pages that wait for a browser. It takes one of each host in turn, so that no host with
// many pages holds up the others. The pages of hosts that cost too much come last, and have one try each.
type browserLine struct {
	usual, last turns
	timeouts    map[schema.HostID]int // pages that ran out of time
}

func newBrowserLine() browserLine {
	return browserLine{usual: newTurns(), last: newTurns(), timeouts: map[schema.HostID]int{}}
}

func (l *browserLine) add(step ring.Step) {
	if l.costly(step.For) {
		l.last.add(step)
	} else {
		l.usual.add(step)
	}
}

// next removes the page whose turn it is.
func (l *browserLine) next() (ring.Step, bool) {
	if step, ok := l.usual.next(); ok {
		return step, true
	}
	return l.last.next()
}

// timedOut counts a page that ran out of time.
func (l *browserLine) timedOut(host schema.HostID) {
	if l.timeouts[host]++; l.timeouts[host] == mostTimeouts {
		for _, step := range l.usual.leave(host) {
			l.last.add(step)
		}
	}
}

// costly reports whether too many pages of a host have run out of time.
func (l *browserLine) costly(host schema.HostID) bool { return l.timeouts[host] >= mostTimeouts }

// turns hold steps by host. The hosts take turns.
type turns struct {
	hosts []schema.HostID // with steps, the next one first
	steps map[schema.HostID][]ring.Step
}

func newTurns() turns { return turns{steps: map[schema.HostID][]ring.Step{}} }

func (t *turns) add(step ring.Step) {
	if len(t.steps[step.For]) == 0 {
		t.hosts = append(t.hosts, step.For)
	}
	t.steps[step.For] = append(t.steps[step.For], step)
}

func (t *turns) next() (ring.Step, bool) {
	if len(t.hosts) == 0 {
		return ring.Step{}, false
	}
	host := t.hosts[0]
	step := t.steps[host][0]
	t.hosts = t.hosts[1:]
	if rest := t.steps[host][1:]; len(rest) > 0 {
		t.steps[host] = rest
		t.hosts = append(t.hosts, host)
	} else {
		delete(t.steps, host)
	}
	return step, true
}

// leave removes the steps of a host.
func (t *turns) leave(host schema.HostID) []ring.Step {
	steps := t.steps[host]
	delete(t.steps, host)
	t.hosts = slices.DeleteFunc(t.hosts, func(id schema.HostID) bool { return id == host })
	return steps
}
