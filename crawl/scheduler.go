package crawl

import (
	"context"
	"errors"
	"time"

	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/schema"
)

// errMiscounted reports a recorder that settled what was not sent, or left
// requests open that it settled: going on could hang or end a run too early.
var errMiscounted = errors.New("crawl: the recorder's count of requests does not match")

type schedulerConfig struct {
	Slots          int // requests that may be open at a time; half of them, rounded up, for failing hosts
	AddressGap     time.Duration
	MaxUncommitted int // requests sent whose outcomes are not committed
	Initial        []Effect
	Paused         bool // begins as after commandPause
}

// A scheduler decides when a host is asked, and which one is next. What it is
// asked, the recorder says by effects; the scheduler reads no store.
//
// It belongs to the goroutine of run, which waits in one select for whatever can
// happen: a visitor takes the next step, the recorder takes a wake or publishes
// effects, a clock runs out, somebody commands. It never waits for one of them
// alone, so the ring cannot deadlock, and it never looks twice without a reason:
// its one timer is set to the next clock.
//
// A host with unsent steps waits in pacer, unless as many of its requests are
// open as may be; then an effect that closes one brings it back. A host without
// steps that wants a plan waits in asleep, in a few bytes.
type scheduler struct {
	cfg     schedulerConfig
	pacer   *pace.Pacer
	asleep  *pace.Pacer // a wake asks no server: no address has a clock here
	lines   map[schema.HostID]*line
	returns []Wake // with revoked steps

	unsent    int // steps in lines
	unsettled int // steps sent, and their outcomes not committed
	failing   int // of these, those of failing hosts
	waking    int // wakes sent and not answered
	sent      uint64

	paused  bool
	stopped bool
	timer   *time.Timer
	armed   time.Time // what timer is set to; zero: not running
}

// newScheduler returns a scheduler that begins with the initial effects.
func newScheduler(cfg schedulerConfig) *scheduler {
	s := &scheduler{
		cfg:    cfg,
		pacer:  pace.New(cfg.AddressGap),
		asleep: pace.New(0),
		lines:  map[schema.HostID]*line{},
		paused: cfg.Paused,
	}
	for i := range cfg.Initial {
		s.apply(&cfg.Initial[i])
	}
	s.cfg.Initial = nil
	return s
}

// run sends steps until nothing is left to do, a command stops it, or effects is
// closed. Then it closes steps, whose only sender it is, and goes on receiving
// until all that was sent is settled. Steps must have no buffer: what lies in one
// would be sent too early.
//
// When ctx is done it closes steps and returns at once; then nobody receives
// effects and commands any more.
func (s *scheduler) run(ctx context.Context, steps chan<- Step, effects <-chan Effects, wakes chan<- Wake, control <-chan command) error {
	s.timer = time.NewTimer(time.Hour)
	s.timer.Stop()
	defer s.timer.Stop()
	err := s.admit(ctx, steps, effects, wakes, control)
	close(steps)
	if err != nil {
		return err
	}
	return s.drain(ctx, effects, control)
}

func (s *scheduler) admit(ctx context.Context, steps chan<- Step, effects <-chan Effects, wakes chan<- Wake, control <-chan command) error {
	for !s.stopped {
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.idle() {
			return s.end()
		}
		now := time.Now()
		step, toVisitor := s.nextStep(now, steps)
		wake, toRecorder := s.nextWake(now, wakes)
		s.arm()
		select {
		case toVisitor <- step:
			s.admitted(&step, time.Now())
		case toRecorder <- wake:
			s.woke(&wake)
		case e, open := <-effects:
			if !open {
				return nil // the recorder has ended, and says why
			}
			if err := s.receive(e); err != nil {
				return err
			}
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
func (s *scheduler) drain(ctx context.Context, effects <-chan Effects, control <-chan command) error {
	s.stopped = true
	for s.unsettled > 0 || s.waking > 0 {
		select {
		case e, open := <-effects:
			if !open {
				return nil
			}
			if err := s.count(&e); err != nil {
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

// idle says whether nothing can happen any more: no host waits for its time, and
// nobody has anything that could change that.
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

// nextStep returns the step to send and the channel, or nil if there is none.
func (s *scheduler) nextStep(now time.Time, steps chan<- Step) (Step, chan<- Step) {
	id, ok := s.pacer.Next(now, s.failing < max(1, (s.cfg.Slots+1)/2))
	if !ok || s.paused || s.full() {
		return Step{}, nil
	}
	l := s.lines[id]
	step := *l.steps[0]
	step.Sent, step.Suspension = now, l.suspension
	return step, steps
}

// admitted follows a step that was sent.
func (s *scheduler) admitted(step *Step, now time.Time) {
	l := s.lines[step.Host]
	if step.Kind == StepResolve { // asks no server
		s.pacer.Remove(step.Host)
	} else {
		s.pacer.Take(step.Host, now)
		l.asked = now
	}
	l.pass()
	l.open++
	s.unsent--
	s.unsettled++
	s.sent++
	if l.failing {
		s.failing++
	}
	s.place(step.Host, l)
}

// nextWake returns the wake to send and the channel, or nil if there is none.
func (s *scheduler) nextWake(now time.Time, wakes chan<- Wake) (Wake, chan<- Wake) {
	id, ok := s.asleep.Next(now, true)
	switch {
	case s.paused:
		return Wake{}, nil
	case len(s.returns) > 0:
		return s.returns[0], wakes
	case ok:
		return Wake{Host: id}, wakes
	}
	return Wake{}, nil
}

// woke follows a wake that was sent.
func (s *scheduler) woke(w *Wake) {
	s.waking++
	if w.Unsent == nil {
		s.asleep.Remove(w.Host)
		return
	}
	s.returns[0] = Wake{}
	s.returns = s.returns[1:]
}

// receive takes what a commit means.
func (s *scheduler) receive(e Effects) error {
	for i := range e.List {
		s.apply(&e.List[i])
	}
	return s.count(&e)
}

func (s *scheduler) count(e *Effects) error {
	s.unsettled -= e.Settled
	s.waking -= e.Woken
	if s.unsettled < 0 || s.waking < 0 {
		return errMiscounted
	}
	return nil
}

// apply replaces what is known of a host. Its clock is tied to the monotonic one
// now, so a later jump of the wall clock moves nothing.
func (s *scheduler) apply(e *Effect) {
	l := s.lines[e.Host]
	if l == nil {
		l = &line{}
		s.lines[e.Host] = l
	}
	if l.failing {
		s.failing -= l.open
	}
	l.open = max(0, l.open-e.Closed)
	now := time.Now()
	l.ready = now.Add(e.Ready.Sub(now))
	l.address, l.delay, l.priority = e.Address, e.Delay, e.Priority
	l.limit, l.failing, l.suspension = max(1, e.Limit), e.Failing, e.Suspension
	if l.failing {
		s.failing += l.open
	}
	if e.Revoke && len(l.steps) > 0 {
		s.unsent -= len(l.steps)
		s.returns = append(s.returns, Wake{Host: e.Host, Unsent: l.revoke()})
	}
	l.add(e.Host, e.Steps)
	s.unsent += len(e.Steps)
	if e.Wake && len(l.steps) == 0 {
		s.asleep.Set(e.Host, pace.Entry{Ready: l.ready, Priority: e.Priority, Failing: e.Failing})
	} else {
		s.asleep.Remove(e.Host)
	}
	s.place(e.Host, l)
}

// place puts a host where its line says.
func (s *scheduler) place(id schema.HostID, l *line) {
	if len(l.steps) > 0 && l.open < l.limit {
		s.pacer.Set(id, pace.Entry{Address: l.address, Ready: l.next(), Priority: l.priority, Failing: l.failing})
		return
	}
	s.pacer.Remove(id)
	if len(l.steps) == 0 && l.open == 0 {
		delete(s.lines, id)
	}
}

func (s *scheduler) full() bool { return s.unsettled >= s.cfg.MaxUncommitted }

// arm sets the timer to the next clock. Both pacers have been asked what is ready
// now, so that it lies ahead.
func (s *scheduler) arm() {
	next, ok := s.pacer.NextTime()
	if at, some := s.asleep.NextTime(); some && (!ok || at.Before(next)) {
		next, ok = at, true
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
