package termination

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// ended returns a round of two shards at the end of the run.
func ended() []Reading {
	one, two := schema.Opening{1}, schema.Opening{2}
	return []Reading{
		{Opening: one, Commit: 8, Run: 1, Configuration: 2, Idle: true, Told: true, Confirmed: []schema.Opening{{}, two}},
		{Opening: two, Commit: 9, Run: 1, Configuration: 2, Idle: true, Told: true, Confirmed: []schema.Opening{one, {}}},
	}
}

// A run is over if every shard was idle twice, had sent everything and stayed unchanged, and no file has gone
// back.
func TestOpen(t *testing.T) {
	tests := []struct {
		name   string
		change func(first, second []Reading)
		want   string // empty: the run is over
	}{
		{"nothing is left", func(_, _ []Reading) {}, ""},
		{"was busy", func(first, _ []Reading) { first[1].Idle = false }, "shard 1 has something to do"},
		{"is busy", func(_, second []Reading) { second[0].Idle = false }, "shard 0 has something to do"},
		{"had to tell", func(first, _ []Reading) { first[0].Told = false }, "shard 0 has unsent messages"},
		{"has to tell", func(_, second []Reading) { second[1].Told = false }, "shard 1 has unsent messages"},
		{"wrote", func(_, second []Reading) { second[1].Commit++ }, "shard 1 was at work"},
		{"was opened again", func(_, second []Reading) { second[0].Opening[5]++ }, "shard 0 was at work"},
		{"another opening confirms", func(first, second []Reading) {
			first[0].Confirmed[1][5], second[0].Confirmed[1][5] = 1, 1
		}, "shard 1 does not confirm what shard 0 sent"},
		{"does not confirm", func(first, second []Reading) {
			first[1].Confirmed, second[1].Confirmed = nil, nil
		}, "shard 0 does not confirm what shard 1 sent"},
		{"in another run", func(first, second []Reading) { first[1].Run, second[1].Run = 2, 2 },
			"shards 0 and 1 are at run 1 and 2, configuration 2 and 2"},
		{"under another number", func(first, second []Reading) { first[1].Configuration, second[1].Configuration = 3, 3 },
			"shards 0 and 1 are at run 1 and 1, configuration 2 and 3"},
		{"under another text", func(first, second []Reading) { first[1].Config[0], second[1].Config[0] = 1, 1 },
			"shards 0 and 1 follow different configurations"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, second := ended(), ended()
			tt.change(first, second)
			got := ""
			if err := Open(first, second); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("it is open because %q, want %q", got, tt.want)
			}
		})
	}
	if Open(nil, nil) == nil || Open(ended()[:1], ended()) == nil {
		t.Error("a run is over that was not read")
	}
}

// A troupe is two shards with scripted answers.
type troupe struct {
	mu       sync.Mutex
	read     int // readings taken
	reading  func(shard, n int) (Reading, error)
	finish   func(shard int) error      // nil: they succeed
	seal     func(agreed Reading) error // nil: it succeeds
	finished [2]bool
	sealed   bool
}

func (p *troupe) Seal(_ context.Context, agreed Reading) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seal != nil {
		if err := p.seal(agreed); err != nil {
			return err
		}
	}
	p.sealed = true
	return nil
}

func (p *troupe) Unseal(context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sealed = false
}

func (p *troupe) Reading(_ context.Context, shard int) (Reading, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read++
	return p.reading(shard, p.read)
}

func (p *troupe) Finish(_ context.Context, shard int, agreed Reading) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.finish != nil {
		if err := p.finish(shard); err != nil {
			return err
		}
	}
	if agreed.Commit != ended()[shard].Commit {
		return errors.New("another reading")
	}
	p.finished[shard] = true
	return nil
}

var errGone = errors.New("nobody is there")

// A shard that does not answer keeps the run open, whatever the other one says.
func TestEndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := true
		p := &troupe{}
		p.reading = func(shard, _ int) (Reading, error) {
			if shard == 1 && away {
				return Reading{}, errGone
			}
			return ended()[shard], nil
		}
		var why error
		over := make(chan error, 1)
		go func() { over <- End(t.Context(), 2, p, each(time.Second), func(err error) { why = err }) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		p.mu.Lock()
		if p.finished != [2]bool{} || !errors.Is(why, errGone) || !strings.HasPrefix(why.Error(), "shard 1: ") {
			t.Errorf("finished: %v, because of %v", p.finished, why)
		}
		away = false
		p.mu.Unlock()
		if err := <-over; err != nil || p.finished != [2]bool{true, true} {
			t.Errorf("finished: %v, %v", p.finished, err)
		}
	})
}

// A run is not over while the terrain is ahead of all shards. Once it is about to be over, the terrain does
// not advance unless a shard is working again.
func TestEndIsSealed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newer, busy, times := errors.New("the terrain has come further"), false, 0
		p := &troupe{}
		p.reading = func(shard, _ int) (Reading, error) {
			r := ended()[shard]
			r.Idle = !busy
			return r, nil
		}
		p.seal = func(agreed Reading) error {
			if times++; times < 3 {
				return newer
			}
			if agreed.Run != 1 || agreed.Configuration != 2 || p.finished != [2]bool{} {
				t.Errorf("%+v is sealed, finished: %v", agreed, p.finished)
			}
			return nil
		}
		p.finish = func(int) error {
			if !p.sealed {
				t.Error("a run is over that is not sealed")
			}
			if busy = times == 3; busy {
				return ErrBusy
			}
			return nil
		}
		still := func(why error) {
			if wants := times < 3 && !busy; errors.Is(why, newer) != wants {
				t.Errorf("sealed %d times, it is open because %v", times, why)
			}
			if busy && !p.sealed {
				busy = false
			}
		}
		if err := End(t.Context(), 2, p, each(time.Second), still); err != nil || p.finished != [2]bool{true, true} || times != 4 {
			t.Errorf("finished: %v, sealed %d times, %v", p.finished, times, err)
		}
	})
}

// One file that says so ends the run, even if another shard would not agree. A shard that cannot record it is
// asked again, alone.
func TestEndIsFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		times := [2]int{}
		p := &troupe{}
		p.reading = func(shard, n int) (Reading, error) {
			r := ended()[shard]
			r.Told = false
			r.Over = shard == 0 && n > 8
			return r, nil
		}
		p.finish = func(shard int) error {
			if times[shard]++; shard == 1 && times[1] < 3 {
				return errGone
			}
			return nil
		}
		err := End(t.Context(), 2, p, each(time.Second), nil)
		if err != nil || p.finished != [2]bool{true, true} || p.read < 9 {
			t.Errorf("finished: %v after %d readings, %v", p.finished, p.read, err)
		}
		if times != [2]int{1, 3} {
			t.Errorf("they were told %v times", times)
		}
	})
}

// While shards are working one round of readings suffices, and idle shards are not read until the working one
// has finished: each would ask all others. Now and then all are read anyway.
func TestEndReadsOnce(t *testing.T) {
	for _, keeps := range []error{ErrBusy, errGone} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 99500*time.Millisecond)
			defer cancel()
			p, idle := &troupe{}, 0
			p.reading = func(shard, _ int) (r Reading, err error) {
				switch {
				case shard == 0:
					idle++
					r = ended()[shard]
				case keeps == errGone:
					err = errGone
				}
				return r, err
			}
			var why error
			err := End(ctx, 2, p, each(time.Second), func(err error) { why = err })
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(why, keeps) || p.read != 94 || idle != 3 {
				t.Errorf("%v after %d readings, %d of who was idle, because of %v", err, p.read, idle, why)
			}
		})
	}
}

// No shard is finished once the context is done.
func TestEndStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &troupe{}
	p.reading = func(int, int) (Reading, error) { cancel(); return Reading{}, errGone }
	if err := End(ctx, 2, p, each(time.Hour), nil); !errors.Is(err, context.Canceled) || p.finished != [2]bool{} {
		t.Errorf("%v, finished %v", err, p.finished)
	}
}

func each(interval time.Duration) func() time.Duration {
	return func() time.Duration { return interval }
}

// A shard that keeps the run open for long is asked less and less often, and the others much less. When the interval
// becomes shorter, that holds at once.
func TestAsksLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var interval atomic.Int64
		interval.Store(int64(time.Second))
		p := &openRun{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_ = End(ctx, 2, p, func() time.Duration { return time.Duration(interval.Load()) }, nil)
		if all := p.asked[0]; all > 600 || p.asked[1] > 20 {
			t.Errorf("in an hour the shards are asked %v times", p.asked)
		}
		interval.Store(int64(time.Hour))
		time.AfterFunc(time.Minute, func() { interval.Store(int64(time.Second)) })
		ctx, cancel = context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		before := p.asked[0]
		if _ = End(ctx, 2, p, func() time.Duration { return time.Duration(interval.Load()) }, nil); p.asked[0] < before+20 {
			t.Errorf("asked %d times after the interval has become short", p.asked[0]-before)
		}
	})
}

// An openRun has a shard 0 that is always busy.
type openRun struct {
	Readings
	asked [2]int
}

func (*openRun) Unseal(context.Context) {}

func (p *openRun) Reading(_ context.Context, shard int) (Reading, error) {
	p.asked[shard]++
	return Reading{Idle: shard > 0, Told: true}, nil
}
