package crawl

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/slots"
)

// TestCeiling runs scheduler and recorder with visitors that only wait, in virtual time. Politeness
// lets a crawl make hosts / (gap + latency) requests a second, and the ring must not cost 5 % of
// that.
func TestCeiling(t *testing.T) {
	t.Parallel()
	const gap, latency, warm = time.Second, 50 * time.Millisecond, 3 * time.Second
	const window = 21 * (gap + latency) // hosts go in step, so it counts whole rounds: 20 of 21 are 95 %
	for _, tt := range []struct {
		name        string
		hosts, open int
	}{
		{"as many open as just suffice", 200, 20},
		{"few hosts", 50, 64},
		{"one host", 1, 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newWaitingRing(t, tt.hosts, tt.open, latency)
				asked := r.run(t, warm, window)
				ceiling := float64(tt.hosts) * window.Seconds() / (gap + latency).Seconds()
				if got := float64(asked); got < 0.95*ceiling || got > ceiling+float64(tt.hosts) {
					t.Errorf("%.0f pages in %s, the ceiling is %.0f", got, window, ceiling)
				}
			})
		})
	}
}

// A waitingRing is a ring whose visitors answer after a while, without a server.
type waitingRing struct {
	open    int
	latency time.Duration
	rec     *committer

	mu    sync.Mutex
	web   *outcomeWeb
	asked int
}

func newWaitingRing(t *testing.T, hosts, open int, latency time.Duration) *waitingRing {
	t.Helper()
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	r := &waitingRing{open: open, latency: latency, web: newOutcomeWeb(hosts)}
	text := strings.Replace(recordConfig, "[politeness]",
		"minimum-time-on-page = 1000\n[politeness]\nadaptive-delay = false", 1)
	set := r.web.settings(t, text)
	t.Cleanup(set.Client.Close)
	r.rec = newCommitter(store, set, quietLog(), nil)
	if _, err := r.rec.recorder.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// run returns the number of pages that were requested within the window, which begins when the ring
// is warm.
func (r *waitingRing) run(t *testing.T, warm, window time.Duration) int {
	t.Helper()
	sched := newScheduler(schedulerConfig{Slots: r.open, MaxUncommitted: maxUncommitted(r.open)})
	if err := r.rec.recorder.EachWaiting(sched.apply); err != nil {
		t.Fatal(err)
	}
	steps, outcomes := make(chan ring.Step), make(chan ring.Outcome, maxBatch)
	effects, wakes, control := make(chan ring.Effects), make(chan ring.Wake), make(chan command)
	g, walking := errgroup.WithContext(t.Context())
	g.Go(func() error { return sched.run(walking, steps, effects, wakes, control) })
	g.Go(func() error { r.visit(walking, sched.share, steps, outcomes); return nil })
	g.Go(func() error { return r.rec.loop(walking, outcomes, wakes, nil, effects) })
	time.Sleep(warm)
	before := r.count()
	time.Sleep(window)
	asked := r.count() - before
	control <- command{do: commandStop}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	return asked
}

func (r *waitingRing) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

func (r *waitingRing) visit(walking context.Context, share *slots.Share, steps <-chan ring.Step,
	outcomes chan<- ring.Outcome) {
	defer close(outcomes)
	var wg sync.WaitGroup
	for range r.open {
		wg.Go(func() {
			for step := range steps {
				step.Sent = time.Now()
				time.Sleep(r.latency)
				select {
				case outcomes <- r.answer(step):
				case <-walking.Done():
					return
				}
				share.Give(step.Standing)
			}
		})
	}
	wg.Wait()
}

func (r *waitingRing) answer(step ring.Step) ring.Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.web.answer(step, r.rec.store.Hash)
	if o.Page != nil {
		r.asked++
	}
	return o
}
