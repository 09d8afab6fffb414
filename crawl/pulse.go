package crawl

import (
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	beat  = time.Second
	noise = 2 * time.Second // tolerance for late beats and for differences between clocks

	// halted is the gap of the process alone from which on each one is reported.
	halted = 5 * time.Second

	// outlived is the gap of the process alone that connections survive.
	outlived = 30 * time.Second
)

// A pulse beats while its process runs. If a beat is late by more than noise, either the machine
// was suspended, which its clocks show, or the process alone was: it was stopped, or had no
// processor.
type pulse struct {
	suspended func() time.Duration // how long the machine has been, since it was started

	mu     sync.Mutex
	asleep time.Duration
	last   time.Time
}

// start calls wake at every beat, until the returned function is called.
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

// A gap is a time in which beats are missing.
type gap struct {
	since  time.Time     // time of the last beat before it
	asleep time.Duration // suspension of the machine, by its clocks; 0: none
	late   time.Duration // delay of the process alone; 0: none
}

// beat records that the process is running, and returns the gap since the last beat. The zero gap
// means that no beat is missing.
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
