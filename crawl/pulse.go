package crawl

import (
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	beat  = time.Second
	noise = 2 * time.Second // by which a beat may be late, or clocks differ

	// A gap of its process alone from which on it is told each time.
	halted = 5 * time.Second

	// After a shorter gap of its process alone, connections are as they were.
	outlived = 30 * time.Second
)

// A pulse beats as long as its process runs. Where it is late by more than noise, the machine
// was suspended, which its clocks tell, or this process alone: stopped, or without a processor.
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

// A gap is a time without the beats that should have been.
type gap struct {
	since  time.Time     // the beat before
	asleep time.Duration // of the machine, as its clocks tell; 0: it was not
	late   time.Duration // of this process alone; 0: it was not
}

// beat notes that the process runs, and returns what has kept it since the last time. The
// zero gap is none.
func (p *pulse) beat() gap {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, asleep := time.Now(), p.suspended()
	g := gap{since: p.last, asleep: asleep - p.asleep, late: now.Sub(p.last) - beat}
	p.asleep, p.last = asleep, now
	if g.asleep < noise {
		g.asleep = 0
	}
	if g.late < noise {
		g.late = 0
	}
	if g.asleep+g.late == 0 {
		return gap{}
	}
	return g
}
