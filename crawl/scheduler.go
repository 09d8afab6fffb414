package crawl

import (
	"context"
	"errors"
	"time"

	"github.com/sumi-ripple/ripple/crawl/outage"
	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// errMiscounted reports that the recorder settled steps that were not sent, or left requests open that it settled.
// Continuing could hang the run or end it too early.
var errMiscounted = errors.New("crawl: the recorder's count of requests does not match")

// maxAwake is the number of waiting steps from which on hosts that never answered are left asleep.
const maxAwake = 20_000

type schedulerConfig struct {
	Slots          int           // requests that may be open at a time
	Share          *slots.Share  // shared with other crawls; nil: one of its own
	Clocks         *pace.Clocks  // of addresses, shared with other crawls; nil: its own
	Network        *outage.Watch // says when no requests may be sent; nil: one of its own
	Trust          *trust        // what is known of hosts; nil: nothing
	AddressGap     time.Duration
	Soon           time.Duration // within which a proven host has a slot left for it
	MaxUncommitted int           // requests sent whose outcomes are not committed
	Paused         bool          // begins as after commandPause
	Stays          bool          // an empty frontier does not end the run before commandFinish
}

// A scheduler decides when a host gets a request, and which host is next. The steps come from the recorder by effects;
// the scheduler reads no store.
//
// It belongs to the goroutine of run, which waits in one select for everything that can happen: a visitor takes the
// next step, the recorder takes a wake or publishes effects, a clock runs out, a command arrives. It never waits for
// one of them alone, so the ring cannot deadlock. It never polls: its one timer is set to the next clock.
//
// A host with unsent steps waits in pacer, unless it has as many open requests as it may; then an effect that closes
// one brings it back. A host without steps that needs a plan waits in asleep, which costs a few bytes.
type scheduler struct {
	cfg     schedulerConfig
	pacer   *pace.Pacer
	asleep  *pace.Pacer // a wake sends no request, so addresses have no clocks here
	lines   map[schema.HostID]*line
	returns []ring.Wake // with revoked steps

	unsent    int         // steps in lines
	unsettled int         // steps sent whose outcomes are not committed
	returning slots.Tally // hosts that can send nothing until a request is settled
	waking    int         // wakes sent and not answered
	sent      uint64

	share   *slots.Share
	clocks  *pace.Clocks
	trust   *trust
	network *outage.Watch
	changed chan struct{} // the network is away, or back
	offered offer
	refused bool // the share had no slot for the last choice

	paused   bool
	stopped  bool
	finished bool // commandFinish came, and nothing is left to do
	timer    *time.Timer
	armed    time.Time // when timer fires; zero: it is not running
}

// newScheduler returns a scheduler that knows no host. Effects may be applied before run.
func newScheduler(cfg schedulerConfig) *scheduler {
	s := &scheduler{
		cfg:    cfg,
		pacer:  pace.New(cfg.AddressGap, cfg.Soon),
		asleep: pace.New(0, cfg.Soon),
		lines:  map[schema.HostID]*line{},
		paused: cfg.Paused,
		share:  cfg.Share,
		clocks: cfg.Clocks,
		trust:  cfg.Trust,

		network: cfg.Network,
		changed: make(chan struct{}, 1),
	}
	if s.network == nil {
		s.network = new(outage.Watch)
	}
	if s.share == nil {
		s.share = slots.New(0).Share(cfg.Slots)
	}
	if s.clocks == nil {
		s.clocks = new(pace.Clocks)
	}
	if s.trust == nil {
		s.trust = new(trust)
	}
	return s
}

// run sends steps until nothing is left to do, a command stops it, or effects is closed. A scheduler that stays also
// needs commandFinish. Then it closes steps, whose only sender it is, and continues to receive until all that was sent
// is settled. steps must have no buffer: a buffered step would be sent too early.
//
// When ctx is done it closes steps and returns at once. After that it receives no effects and no commands.
func (s *scheduler) run(ctx context.Context, steps chan<- ring.Step, effects <-chan ring.Effects,
	wakes chan<- ring.Wake, control <-chan command) error {
	s.timer = time.NewTimer(time.Hour)
	s.timer.Stop()
	defer s.timer.Stop()
	defer s.network.Listen(s.changed)()
	err := s.sendSteps(ctx, steps, effects, wakes, control)
	s.stopped = true
	s.withdraw()
	close(steps)
	if err != nil {
		return err
	}
	return s.drain(ctx, effects, control)
}

func (s *scheduler) sendSteps(ctx context.Context, steps chan<- ring.Step, effects <-chan ring.Effects,
	wakes chan<- ring.Wake, control <-chan command) error {
	for !s.stopped {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.idle() && (!s.cfg.Stays || s.finished) {
			return s.end()
		}
		now := time.Now()
		step, toVisitor := s.nextStep(now, steps)
		wake, toRecorder := s.nextWake(now, wakes)
		s.arm()
		select {
		case toVisitor <- step:
			s.handedOver(&step, time.Now())
		case toRecorder <- wake:
			s.woke(&wake)
		case e, open := <-effects:
			if !open {
				return nil // the recorder has ended and reports why
			}
			if err := s.receive(e); err != nil {
				return err
			}
		case <-s.share.Freed():
		case <-s.changed:
		case <-s.timer.C:
			s.armed = time.Time{}
		case c, open := <-control:
			if !open {
				control = nil
			}
			s.obey(c)
		case <-ctx.Done():
		}
	}
	return nil
}

// drain receives until all outcomes are settled and all wakes answered.
func (s *scheduler) drain(ctx context.Context, effects <-chan ring.Effects, control <-chan command) error {
	for s.unsettled > 0 || s.waking > 0 {
		select {
		case e, open := <-effects:
			if !open {
				return nil
			}
			if err := s.settle(&e); err != nil {
				return err
			}
		case c, open := <-control:
			if !open {
				control = nil
			}
			s.obey(c)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// idle reports whether nothing can happen any more: no host waits for its time, and nothing is under way that could
// change that.
func (s *scheduler) idle() bool {
	return s.pacer.Len() == 0 && s.asleep.Len() == 0 && len(s.returns) == 0 && s.unsettled == 0 && s.waking == 0
}

// end is the exact end of a run. Steps could be left only in lines that wait for
// requests to close that are settled.
func (s *scheduler) end() error {
	if s.unsent > 0 {
		return errMiscounted
	}
	return nil
}

// handedOver follows a step that was sent. Its slot is the visitor's now.
func (s *scheduler) handedOver(step *ring.Step, now time.Time) {
	l := s.lines[step.Host]
	if !step.Kind.Asks() {
		s.pacer.Remove(step.Host)
	} else {
		s.pacer.Take(step.Host, now)
		l.asked = now
	}
	if s.offered.address != "" {
		s.clocks.Start(s.offered.address, s.cfg.AddressGap, now)
	}
	s.offered = offer{}
	if _, _, away := s.network.Away(); away && step.Kind != ring.Render && !step.Entrusted() {
		s.network.Probed(now)
	}
	l.pass()
	l.open++
	s.unsent--
	s.unsettled++
	s.sent++
	s.place(step.Host, l)
}

// wakeable returns the worst standing of hosts that are woken. While there is enough work, hosts that never answered
// stay asleep; each costs a few bytes.
func (s *scheduler) wakeable(now time.Time) uint8 {
	if s.unsent+s.waking < maxAwake {
		return uint8(slots.Unknown)
	}
	if _, ready := s.pacer.Next(now, uint8(slots.Unknown)); ready || s.waking > 0 {
		return uint8(slots.Answering)
	}
	return uint8(slots.Unknown)
}

// nextWake returns the wake to send and the channel, or nil if there is none.
func (s *scheduler) nextWake(now time.Time, wakes chan<- ring.Wake) (ring.Wake, chan<- ring.Wake) {
	id, ok := s.asleep.Next(now, s.wakeable(now))
	switch {
	case s.paused:
		return ring.Wake{}, nil
	case len(s.returns) > 0:
		return s.returns[0], wakes
	case ok:
		return ring.Wake{Host: id}, wakes
	}
	return ring.Wake{}, nil
}

// woke follows a wake that was sent.
func (s *scheduler) woke(w *ring.Wake) {
	s.waking++
	if w.Unsent == nil {
		s.asleep.Remove(w.Host)
		return
	}
	s.returns[0] = ring.Wake{}
	s.returns = s.returns[1:]
}

// receive takes what a commit means.
func (s *scheduler) receive(e ring.Effects) error {
	for i := range e.List {
		s.apply(&e.List[i])
	}
	return s.settle(&e)
}

// settle counts what is open no longer.
func (s *scheduler) settle(e *ring.Effects) error {
	s.unsettled -= e.Settled
	s.waking -= e.Woken
	if s.unsettled < 0 || s.waking < 0 {
		return errMiscounted
	}
	return nil
}

// apply replaces what is known of a host. Its clock is tied to the monotonic one
// now, so a later jump of the wall clock moves nothing.
func (s *scheduler) apply(e *ring.Effect) {
	l := s.lines[e.Host]
	if l == nil {
		l = &line{}
		s.lines[e.Host] = l
	}
	l.open = max(0, l.open-e.Closed)
	now := time.Now()
	l.ready = now.Add(e.Ready.Sub(now))
	l.address, l.delay, l.priority = e.Address, e.Delay, e.Priority
	l.limit, l.suspension, l.met = max(1, e.Limit), e.Suspension, e.Met
	switch {
	case e.Failing:
		s.trust.failed(e.Host)
	case e.Proved:
		s.trust.proved(e.Host)
	case e.Answered:
		s.trust.answered(e.Host)
	}
	l.standing = s.trust.standing(e.Host)
	if e.Revoke && len(l.steps) > 0 {
		s.unsent -= len(l.steps)
		s.returns = append(s.returns, ring.Wake{Host: e.Host, Unsent: l.revoke()})
	}
	l.add(e.Host, e.Steps)
	s.unsent += len(e.Steps)
	if e.Wake && len(l.steps) == 0 {
		s.asleep.Set(e.Host, pace.Entry{Ready: l.ready, Priority: e.Priority, Class: uint8(l.standing)})
	} else {
		s.asleep.Remove(e.Host)
	}
	s.place(e.Host, l)
}

// place puts a host where its line says.
func (s *scheduler) place(id schema.HostID, l *line) {
	sends := len(l.steps) > 0 && l.open < l.limit
	s.returning.Sub(l.returning)
	l.returning = slots.Tally{}
	if l.open > 0 && !sends {
		l.returning[l.standing] = 1
	}
	s.returning.Add(l.returning)
	if sends {
		s.pacer.Set(id, pace.Entry{Address: l.address, Ready: l.next(), Priority: l.priority, Class: uint8(l.standing)})
		return
	}
	s.pacer.Remove(id)
	if len(l.steps) == 0 && l.open == 0 {
		delete(s.lines, id)
	}
}

// arm sets the timer to the next clock. Both pacers have been asked what is ready
// now, so that it lies ahead.
func (s *scheduler) arm() {
	next, ok := s.pacer.NextTime()
	if at, some := s.asleep.NextTime(); some && (!ok || at.Before(next)) {
		next, ok = at, true
	}
	if _, probe, away := s.network.Away(); away && (!ok || probe.Before(next)) && time.Until(probe) > 0 {
		next, ok = probe, true
	}
	if s.refused {
		if grows := s.share.Grows(); !grows.IsZero() && (!ok || grows.Before(next)) {
			next, ok = grows, true
		}
	}
	switch {
	case !ok:
		s.timer.Stop()
		s.armed = time.Time{}
	case !next.Equal(s.armed):
		s.timer.Reset(time.Until(next))
		s.armed = next
	}
}
