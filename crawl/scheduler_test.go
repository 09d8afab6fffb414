package crawl

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema"
)

// A rig is a running scheduler whose other ends the test holds.
type rig struct {
	t       *testing.T
	start   time.Time
	steps   chan ring.Step
	wakes   chan ring.Wake
	effects chan ring.Effects
	control chan command
	ended   chan error
	cancel  context.CancelFunc
}

func newRig(t *testing.T, cfg schedulerConfig, initial ...ring.Effect) *rig {
	if cfg.MaxUncommitted == 0 {
		cfg.MaxUncommitted = 1024
	}
	if cfg.Share == nil {
		cfg.Share = slots.New(0).Share(100) // visitors return no slots here
	}
	ctx, cancel := context.WithCancel(t.Context())
	b := &rig{
		t: t, start: time.Now(), steps: make(chan ring.Step), wakes: make(chan ring.Wake),
		effects: make(chan ring.Effects), control: make(chan command), ended: make(chan error, 1), cancel: cancel,
	}
	s := knowing(cfg, initial)
	go func() { b.ended <- s.run(ctx, b.steps, b.effects, b.wakes, b.control) }()
	return b
}

// knowing returns a scheduler that knows hosts before it runs.
func knowing(cfg schedulerConfig, initial []ring.Effect) *scheduler {
	s := newScheduler(cfg)
	for i := range initial {
		s.apply(&initial[i])
	}
	return s
}

// offered returns the ids of all steps that are offered now.
func (b *rig) offered() (ids []schema.ID) {
	for {
		synctest.Wait()
		select {
		case s, open := <-b.steps:
			if !open {
				return ids
			}
			ids = append(ids, s.ID)
		default:
			return ids
		}
	}
}

func (b *rig) want(what string, ids ...schema.ID) {
	b.t.Helper()
	if got := b.offered(); !slices.Equal(got, ids) {
		b.t.Errorf("%s after %v: steps %v, want %v", what, time.Since(b.start), got, ids)
	}
}

func (b *rig) command(do commandKind) Status {
	reply := make(chan Status, 1)
	b.control <- command{do, reply}
	return <-reply
}

func (b *rig) wantRunning() {
	b.t.Helper()
	synctest.Wait()
	select {
	case err := <-b.ended:
		b.t.Fatalf("run has ended: %v", err)
	default:
	}
}

func (b *rig) wantEnd(want error) {
	b.t.Helper()
	synctest.Wait()
	select {
	case err := <-b.ended:
		if !errors.Is(err, want) {
			b.t.Errorf("run returned %v, want %v", err, want)
		}
	default:
		b.t.Fatal("run goes on")
	}
	if _, open := <-b.steps; open {
		b.t.Error("a step was sent at the end")
	}
	b.cancel()
}

// asking is an effect with steps for one request at a time.
func asking(host schema.HostID, ready time.Time, ids ...schema.ID) ring.Effect {
	e := ring.Effect{Host: host, Ready: ready, Limit: 1}
	for _, id := range ids {
		e.Steps = append(e.Steps, ring.Step{Kind: ring.Get, Host: host, ID: id})
	}
	return e
}

func settling(e ring.Effect) ring.Effects {
	e.Closed = 1
	return ring.Effects{List: []ring.Effect{e}, Settled: 1}
}

func TestNothingToDo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newRig(t, schedulerConfig{Slots: 1})
		b.wantEnd(nil)
	})
}

func TestOneAfterTheOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now := time.Now()
		low := asking(2, now, 20)
		low.Priority = 1
		b := newRig(t, schedulerConfig{Slots: 4}, low, asking(1, now, 10, 11), asking(3, now.Add(time.Second), 30))
		b.want("by priority", 10, 20)
		time.Sleep(time.Second - time.Nanosecond)
		b.want("not before its time")
		time.Sleep(time.Nanosecond)
		b.want("at its time", 30)
		time.Sleep(time.Hour)
		b.want("host 1 is leased")
		b.effects <- settling(asking(1, time.Now().Add(time.Second), 12))
		time.Sleep(time.Second)
		b.want("in the order of its line", 11)
		b.effects <- settling(asking(1, time.Now()))
		b.want("new steps behind the old ones", 12)
		b.effects <- settling(asking(1, time.Now()))
		b.effects <- settling(asking(2, time.Now()))
		b.wantRunning() // host 3 is open
		b.effects <- settling(asking(3, time.Now()))
		b.wantEnd(nil)
	})
}

func TestAddressClock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var initial []ring.Effect
		for i := range schema.HostID(3) {
			e := asking(i+1, time.Now(), schema.ID(i+1))
			e.Address = "192.0.2.1"
			initial = append(initial, e)
		}
		initial[1].Steps[0].Kind = ring.Resolve // sends nothing to a server, and has no clock
		b := newRig(t, schedulerConfig{Slots: 4, AddressGap: 100 * time.Millisecond}, initial...)
		b.want("the first", 1)
		time.Sleep(100*time.Millisecond - time.Nanosecond)
		b.want("within the gap")
		time.Sleep(time.Nanosecond)
		b.want("after the gap", 2, 3)
		b.command(commandStop)
		b.effects <- ring.Effects{Settled: 3}
		b.wantEnd(nil)
	})
}

func TestUncommitted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now := time.Now()
		b := newRig(t, schedulerConfig{Slots: 4, MaxUncommitted: 2}, asking(1, now, 1), asking(2, now, 2),
			asking(3, now, 3))
		b.want("up to the limit", 1, 2)
		if st := b.command(commandStatus); !st.Full || st.Open != 2 || st.Hosts != (pace.Counts{Ready: 1}) {
			t.Errorf("status %+v", st)
		}
		b.effects <- settling(asking(2, now))
		b.want("when one is settled", 3)
		b.command(commandStop)
		b.effects <- ring.Effects{Settled: 2}
		b.wantEnd(nil)
	})
}

func TestWake(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := ring.Effect{Host: 7, Ready: time.Now().Add(time.Hour), Wake: true}
		later := asking(8, e.Ready.Add(time.Hour), 80)
		later.Wake = true // it has a step, and is requested
		b := newRig(t, schedulerConfig{Slots: 1}, e, later)
		if st := b.command(commandStatus); st.NextHost != 7 || !st.Next.Equal(e.Ready) || st.Asleep.Waiting != 1 {
			t.Errorf("status %+v", st)
		}
		if w := <-b.wakes; w.Host != 7 || w.Unsent != nil || !time.Now().Equal(e.Ready) {
			t.Errorf("woken %+v at %v, want host 7 at %v", w, time.Now(), e.Ready)
		}
		b.wantRunning() // the recorder has not answered
		b.effects <- ring.Effects{List: []ring.Effect{asking(7, time.Now(), 70)}, Woken: 1}
		b.want("the plan", 70)
		b.effects <- settling(ring.Effect{Host: 7})
		b.wantRunning()
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case w := <-b.wakes:
			t.Errorf("woken %+v", w)
		default:
		}
		b.want("the other host", 80)
		b.effects <- settling(ring.Effect{Host: 8})
		b.wantEnd(nil)
	})
}

func TestRevoke(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := asking(1, time.Now(), 1, 2, 3, 4)
		e.Limit, e.Delay, e.Suspension = 2, time.Second, 5
		b := newRig(t, schedulerConfig{Slots: 4}, e)
		if s := <-b.steps; s.ID != 1 || s.Suspension != 5 || !s.Sent.Equal(b.start) {
			t.Errorf("sent %+v", s)
		}
		time.Sleep(time.Second)
		b.want("a delay later", 2)
		e = asking(1, time.Now().Add(time.Minute), 9)
		e.Suspension, e.Revoke = 6, true
		b.effects <- settling(e)
		w := <-b.wakes
		if ids := []schema.ID{w.Unsent[0].ID, w.Unsent[1].ID}; len(w.Unsent) != 2 || ids[0] != 3 || ids[1] != 4 {
			t.Errorf("returned %v, want 3 and 4", ids)
		}
		b.effects <- ring.Effects{Woken: 1}
		time.Sleep(time.Minute)
		b.want("the other one is still open")
		e = asking(1, time.Now())
		e.Suspension = 6
		b.effects <- settling(e)
		if s := <-b.steps; s.ID != 9 || s.Suspension != 6 {
			t.Errorf("sent %+v", s)
		}
		b.effects <- settling(ring.Effect{Host: 1, Revoke: true}) // nothing is returned
		b.wantEnd(nil)
	})
}

func TestPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		now := time.Now()
		asleep := ring.Effect{Host: 3, Ready: now, Wake: true}
		b := newRig(t, schedulerConfig{Slots: 4}, asking(1, now, 1), asking(2, now.Add(time.Minute), 2), asleep)
		<-b.steps
		if st := b.command(commandPause); !st.Paused {
			t.Errorf("status %+v", st)
		}
		time.Sleep(time.Hour)
		b.want("paused")
		b.effects <- settling(asking(1, time.Now(), 10)) // effects are received
		want := Status{
			Open:  1,
			Hosts: pace.Counts{Ready: 2}, Asleep: pace.Counts{Ready: 1}, Unsent: 2, Sent: 1,
			Paused: true,
		}
		if diff := cmp.Diff(want, b.command(commandStatus)); diff != "" {
			t.Error(diff)
		}
		b.command(commandUnpause)
		b.want("again", 2, 10)
		<-b.wakes
		b.command(commandStop)
		b.wantRunning()
		b.effects <- ring.Effects{Settled: 2}
		b.wantRunning()
		b.effects <- ring.Effects{Woken: 1}
		b.wantEnd(nil)
	})
}

// While a crawl is paused, others may use the slots reserved for its hosts.
func TestPauseLeavesSlots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, now := slots.New(4), time.Now()
		var proven, unknown []ring.Effect
		for host := range schema.HostID(4) {
			e := asking(host+1, now, schema.ID(host)+1)
			unknown = append(unknown, e)
			e.Answered, e.Proved = true, true
			proven = append(proven, e)
		}
		a := newRig(t, schedulerConfig{Share: s.Share(4)}, proven...)
		synctest.Wait()
		b := newRig(t, schedulerConfig{Share: s.Share(4)}, unknown...)
		b.want("beside hosts that are due", 1, 2)
		a.command(commandPause)
		b.want("beside a crawl that is paused", 3, 4)
		a.cancel()
		b.cancel()
		<-a.ended
		<-b.ended
	})
}

// New slots are used as soon as they are available, even if nothing else happens.
func TestSlotsGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, now := slots.New(0), time.Now()
		share := s.Share(4)
		s.Lack(now, now)
		b := newRig(t, schedulerConfig{Share: share}, asking(1, now, 1), asking(2, now, 2), asking(3, now, 3))
		b.want("one at a time", 1)
		time.Sleep(5 * time.Second)
		b.want("one more", 2)
		time.Sleep(5 * time.Second)
		b.want("again", 3)
		b.cancel()
		<-b.ended
	})
}

// One effect may close several requests of a host.
func TestClosesSeveral(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := asking(1, time.Now(), 1, 2, 3, 4)
		e.Limit = 2
		b := newRig(t, schedulerConfig{Slots: 4}, e)
		b.want("as many as may be open", 1, 2)
		e = asking(1, time.Now())
		e.Limit, e.Closed = 2, 2
		b.effects <- ring.Effects{List: []ring.Effect{e}, Settled: 2}
		b.want("as many as were closed", 3, 4)
		b.effects <- ring.Effects{List: []ring.Effect{e}, Settled: 2}
		b.wantEnd(nil)
	})
}

func TestBeginsPaused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newRig(t, schedulerConfig{Slots: 4, Paused: true}, asking(1, time.Now(), 1))
		b.want("paused")
		b.command(commandUnpause)
		b.want("again", 1)
		b.effects <- settling(ring.Effect{Host: 1})
		b.wantEnd(nil)
	})
}

// A line returns its steps in order, whatever was added and sent before.
func TestLineKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var added, passed schema.ID
		for _, n := range rapid.SliceOf(rapid.IntRange(-6, 6)).Draw(t, "added or passed") {
			var steps []ring.Step
			for ; n > 0; n-- {
				added++
				steps = append(steps, ring.Step{ID: added})
			}
			l.add(1, steps)
			for ; n < 0 && passed < added; n++ {
				passed++
				if got := l.steps[0].ID; got != passed {
					t.Fatalf("step %d is first, want %d", got, passed)
				}
				l.pass()
			}
			if len(l.steps) != int(added-passed) {
				t.Fatalf("%d unsent steps, want %d", len(l.steps), added-passed)
			}
		}
	})
}

func TestStopSettles(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newRig(t, schedulerConfig{Slots: 4}, asking(1, time.Now(), 1, 2))
		b.want("one", 1)
		b.command(commandStop)
		if _, open := <-b.steps; open {
			t.Error("steps is open after stop")
		}
		b.effects <- settling(asking(1, time.Now(), 3))
		b.wantEnd(nil)
	})
}

func TestEndings(t *testing.T) {
	tests := []struct {
		name string
		end  func(*rig)
		want error
	}{
		{"cancelled", func(b *rig) { b.cancel() }, context.Canceled},
		{"cancelled while stopping", func(b *rig) { b.command(commandStop); b.cancel() }, context.Canceled},
		{"recorder ended", func(b *rig) { close(b.effects) }, nil},
		{"recorder ended while stopping", func(b *rig) { b.command(commandStop); close(b.effects) }, nil},
		{"settled what was not sent", func(b *rig) { b.effects <- ring.Effects{Settled: 2} }, errMiscounted},
		{"answered what was not asked", func(b *rig) { b.effects <- ring.Effects{Woken: 1} }, errMiscounted},
		{"settled without closing", func(b *rig) { b.effects <- ring.Effects{Settled: 1} }, errMiscounted},
		{"no commander any more", func(b *rig) {
			close(b.control)
			b.effects <- settling(ring.Effect{Host: 1, Revoke: true})
			<-b.wakes
			b.effects <- ring.Effects{Woken: 1}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				b := newRig(t, schedulerConfig{Slots: 4}, asking(1, time.Now(), 1, 2))
				b.want("one", 1)
				tt.end(b)
				b.wantEnd(tt.want)
			})
		})
	}
}

// A thousand effects are received while no steps or wakes are taken.
func TestNeverBlocksOnASend(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newRig(t, schedulerConfig{Slots: 1}, asking(1, time.Now(), 1), ring.Effect{Host: 2, Wake: true})
		for i := range schema.HostID(1000) {
			b.effects <- ring.Effects{List: []ring.Effect{asking(3+i, time.Now(), 5), {Host: 2, Wake: true}}}
		}
		if st := b.command(commandStatus); st.Unsent != 1001 || st.Asleep.Ready != 1 {
			t.Errorf("status %+v", st)
		}
		b.cancel()
		b.wantEnd(context.Canceled)
	})
}
