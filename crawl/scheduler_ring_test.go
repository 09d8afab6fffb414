package crawl

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// A fakeAnswer is the outcome of a fake visit.
type fakeAnswer struct {
	step  ring.Step
	first time.Time // when the answer began, or the try ended
}

// A fakeRing closes the ring round a scheduler with visitors that sleep and a recorder that plans.
// Its functions run one at a time.
type fakeRing struct {
	scheduler *scheduler
	slots     int
	control   chan command
	asked     func(ring.Step) time.Duration                 // called when a visitor gets a step; returns how long the answer takes
	plan      func([]fakeAnswer, []ring.Wake) []ring.Effect // returns what the recorder concludes
	linger    func() (collect, commit time.Duration)

	mu        sync.Mutex
	busy      int  // visitors with a step
	recording bool // the recorder receives nothing
}

func (r *fakeRing) run(ctx context.Context) error {
	steps, wakes := make(chan ring.Step), make(chan ring.Wake)
	outcomes, effects := make(chan fakeAnswer), make(chan ring.Effects)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return r.scheduler.run(ctx, steps, effects, wakes, r.control) })
	var visitors sync.WaitGroup
	// held by the visitor that may receive, so that steps are logged in the order in which they are
	// sent
	next := make(chan struct{}, 1)
	for range r.slots {
		visitors.Go(func() { r.visit(next, steps, outcomes) })
	}
	g.Go(func() error { visitors.Wait(); close(outcomes); return nil })
	g.Go(func() error { return r.record(ctx, outcomes, wakes, effects) })
	return g.Wait()
}

func (r *fakeRing) visit(next chan struct{}, steps <-chan ring.Step, outcomes chan<- fakeAnswer) {
	for {
		next <- struct{}{}
		step, open := <-steps
		if !open {
			<-next
			return
		}
		r.mu.Lock()
		r.busy++
		takes := r.asked(step)
		r.mu.Unlock()
		<-next
		time.Sleep(takes)
		outcomes <- fakeAnswer{step, time.Now()}
		r.mu.Lock()
		r.busy--
		r.mu.Unlock()
		r.scheduler.share.Give(step.Standing)
	}
}

// record collects, commits and publishes until outcomes is closed.
func (r *fakeRing) record(ctx context.Context, outcomes <-chan fakeAnswer, wakes <-chan ring.Wake,
	effects chan<- ring.Effects) error {
	for open := true; open; {
		var answers []fakeAnswer
		var woken []ring.Wake
		collect, commit := r.linger()
		var full <-chan time.Time
		for collecting := true; collecting && open; {
			var a fakeAnswer
			select {
			case a, open = <-outcomes:
				if open {
					answers = append(answers, a)
				}
			case w := <-wakes:
				woken = append(woken, w)
			case <-full:
				collecting = false
			}
			if full == nil {
				full = time.After(collect)
			}
		}
		r.mu.Lock()
		r.recording = true
		r.mu.Unlock()
		time.Sleep(commit)
		r.mu.Lock()
		list := r.plan(answers, woken)
		r.mu.Unlock()
		if len(answers)+len(woken)+len(list) > 0 {
			select {
			case effects <- ring.Effects{List: list, Settled: len(answers), Woken: len(woken)}:
			case <-ctx.Done():
			}
		}
		r.mu.Lock()
		r.recording = false
		r.mu.Unlock()
	}
	return nil
}

// bubble runs a test in fake time and finds goroutines that are left behind.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	ignored := goleak.IgnoreCurrent()
	synctest.Test(t, test)
	goleak.VerifyNone(t, ignored)
}

// A politeHost gets one request after another.
type politeHost struct {
	left    int
	delay   time.Duration
	takes   time.Duration
	silent  bool // every request times out after takes
	due     time.Time
	from    time.Time // since when it must not be late
	late    time.Duration
	doubled uint
}

func (h *politeHost) effect(id schema.HostID, closed int) ring.Effect {
	e := ring.Effect{Host: id, Ready: h.due, Limit: 1, Closed: closed, Failing: h.doubled > 0, Answered: closed > 0 &&
		h.doubled == 0}
	if h.left > 0 {
		h.left--
		e.Steps = []ring.Step{{Kind: ring.Get, Host: id}}
	}
	return e
}

// politeRing sends polite requests to hosts. It returns how many, and when all of them were
// settled.
func politeRing(t *testing.T, slots int, hosts []*politeHost) (asked int, settled time.Time) {
	cfg := schedulerConfig{Slots: slots, MaxUncommitted: 1024, Soon: 30 * time.Second,
		AddressGap: 100 * time.Millisecond}
	var initial []ring.Effect
	for i, h := range hosts {
		initial = append(initial, h.effect(schema.HostID(i+1), 0))
	}
	r := &fakeRing{scheduler: knowing(cfg, initial), slots: slots}
	r.linger = func() (collect, commit time.Duration) { return 50 * time.Millisecond, 3 * time.Millisecond }
	r.asked = func(step ring.Step) time.Duration {
		h := hosts[step.Host-1]
		asked++
		now := time.Now()
		if late := now.Sub(h.due); late < 0 {
			t.Errorf("host %d is asked %v early", step.Host, -late)
		} else if now.After(h.from) {
			h.late = max(h.late, late)
		}
		h.due = now.Add(time.Hour)
		return h.takes
	}
	r.plan = func(answers []fakeAnswer, _ []ring.Wake) []ring.Effect {
		var list []ring.Effect
		for _, a := range answers {
			h := hosts[a.step.Host-1]
			if h.silent {
				h.doubled = min(h.doubled+1, 6)
			}
			h.due = a.first.Add(h.delay << h.doubled)
			list = append(list, h.effect(a.step.Host, 1))
		}
		settled = time.Now()
		return list
	}
	if err := r.run(t.Context()); err != nil {
		t.Error(err)
	}
	return asked, settled
}
