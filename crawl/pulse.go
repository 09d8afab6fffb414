package crawl

import (
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	beat  = time.Second
	noise = 2 * time.Second // by which a beat may be late, or clocks differ
)

// A pulse beats as long as its process runs. What is late by more than noise was
// suspended: the machine, which its clocks tell, or this process alone.
type pulse struct {
	suspended func() time.Duration // of the machine, since its start

	mu     sync.Mutex
	asleep time.Duration
	last   time.Time
}

// start has wake called as often as there should be a beat, until the function returned is
// called.
func (p *pulse) start(wake func()) (stop func()) {
	p.asleep, p.last = p.suspended(), time.Now()
	var g errgroup.Group
	done := make(chan struct{})
	g.Go(func() error {
		ticker := time.NewTicker(beat)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				wake()
			case <-done:
				return nil
			}
		}
	})
	return func() {
		close(done)
		_ = g.Wait() // never fails
	}
}

// slept beats, and returns for how long there was no beat that should have been; 0:
// not at all.
func (p *pulse) slept(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	asleep := p.suspended()
	slept := asleep - p.asleep
	if slept < noise {
		slept = 0
	}
	if late := now.Sub(p.last) - beat; late >= noise {
		slept += late
	}
	p.asleep, p.last = asleep, now
	return slept
}
