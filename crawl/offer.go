package crawl

import (
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// seatWait is how long a page waits for a browser before it tries again, if other crawls of the
// process use all of them. A page takes about a second.
const seatWait = 100 * time.Millisecond

// An offer is what is reserved for the step that is offered to the visitors.
type offer struct {
	made     bool
	host     schema.HostID
	standing slots.Standing
	address  string              // the reserved address; "": none
	seats    *semaphore.Weighted // one of which is reserved; nil: none
}

// nextStep returns the step to send and the channel, or nil if there is none. A slot, and the
// address of the step's host or a browser, are reserved until it is sent or retracted.
func (s *scheduler) nextStep(now time.Time, steps chan<- ring.Step) (ring.Step, chan<- ring.Step) {
	s.pacer.Advance(now)
	if s.paused || s.full() {
		s.withdraw()
		return ring.Step{}, nil
	}
	_, probe, away := s.network.Away()
	if away && now.Before(probe) {
		s.withdraw()
		return ring.Step{}, nil
	}
	var l *line
	if away { // the answer of a host that has answered before is the best evidence
		l = s.choose(now, slots.Answering)
	}
	if l == nil {
		l = s.choose(now, slots.Unknown)
	}
	if l == nil {
		return ring.Step{}, nil
	}
	step := *l.steps[0]
	step.Sent, step.Suspension = now, l.suspension
	step.Address, step.Standing, step.Met, step.Gap = s.offered.address, l.standing, l.met, 0
	if l.limit > 1 && step.Kind.Asks() {
		step.Gap = l.delay
	}
	return step, steps
}

// choose returns the line of the first host that may be requested, and reserves what it needs. It
// considers only hosts whose standing is worst or better.
func (s *scheduler) choose(now time.Time, worst slots.Standing) *line {
	for {
		id, ok := s.pacer.Next(now, uint8(worst))
		if !ok {
			if worst == slots.Unknown {
				s.withdraw()
			} else {
				s.retract() // it now waits for a slot
			}
			return nil
		}
		l := s.lines[id]
		want := offer{true, id, l.standing, s.spared(l), seatsOf(l)}
		if want == s.offered {
			return l
		}
		s.retract()
		if !s.share.Take(now, l.standing, s.due()) {
			s.refused = true
			if l.standing == slots.Proven {
				return nil
			}
			worst = l.standing - 1
			continue
		}
		s.refused = false
		if again, free := s.reserve(&want, now); !free {
			s.share.Give(l.standing)
			s.hold(id, l, &want, again)
			continue
		}
		s.offered = want
		return l
	}
}

// due counts the hosts that may want a slot soon.
func (s *scheduler) due() slots.Tally {
	due := s.returning
	due.Add(s.pacer.Due())
	due.Add(s.asleep.Due())
	return due
}

// spared returns the address of the next step of a line, if the address has a clock.
func (s *scheduler) spared(l *line) string {
	if s.cfg.AddressGap <= 0 || !l.steps[0].Kind.Asks() {
		return ""
	}
	return l.address
}

// seatsOf returns the semaphore that the next step of a line must acquire; nil if it needs none.
func seatsOf(l *line) *semaphore.Weighted {
	if l.steps[0].Kind != ring.Render {
		return nil
	}
	return l.steps[0].Settings.Seats
}

// reserve reserves the address of an offer, or a browser for it; if that fails, it returns when to
// try again.
func (s *scheduler) reserve(o *offer, now time.Time) (again time.Time, free bool) {
	switch {
	case o.seats != nil:
		return now.Add(seatWait), o.seats.TryAcquire(1)
	case o.address == "":
		return time.Time{}, true
	}
	return s.clocks.Reserve(o.address, s.cfg.AddressGap, now)
}

// hold makes a host wait until the thing that its offer lacks is free: an address, for which others
// wait too, or a browser.
func (s *scheduler) hold(id schema.HostID, l *line, o *offer, until time.Time) {
	if o.seats == nil {
		s.pacer.Hold(id, until)
		return
	}
	l.ready = until
	s.place(id, l)
}

// retract releases what was reserved for a step that is no longer offered.
func (s *scheduler) retract() {
	if !s.offered.made {
		return
	}
	s.share.Give(s.offered.standing)
	if s.offered.address != "" {
		s.clocks.Cancel(s.offered.address)
	}
	if s.offered.seats != nil {
		s.offered.seats.Release(1)
	}
	s.offered = offer{}
}

// withdraw leaves the slots that this scheduler cannot use now to others.
func (s *scheduler) withdraw() {
	s.retract()
	var due slots.Tally
	if !s.paused && !s.stopped {
		due = s.due()
	}
	s.share.Withdraw(due)
	s.refused = false
}

func (s *scheduler) full() bool { return s.unsettled >= s.cfg.MaxUncommitted }
