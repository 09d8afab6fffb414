package crawl

import (
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sumi-ripple/ripple/crawl/outage"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

// shows is an effect with a page to render.
func shows(seats *semaphore.Weighted) *ring.Effect {
	return &ring.Effect{Host: ring.Browser, Ready: time.Now(), Limit: 1, Proved: true,
		Steps: []ring.Step{{Kind: ring.Render, Settings: &ring.Settings{Seats: seats}}}}
}

// If other crawls use all browsers, a page waits without blocking the scheduler or its host. The
// browser that is reserved for a step is returned with it.
func TestSeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seats := semaphore.NewWeighted(1)
		s := newScheduler(schedulerConfig{Slots: 4, MaxUncommitted: 100})
		s.apply(shows(seats))
		steps := make(chan ring.Step)
		if _, to := s.nextStep(time.Now(), steps); to == nil || seats.TryAcquire(1) {
			t.Error("the page has no browser")
		}
		s.paused = true
		if _, to := s.nextStep(time.Now(), steps); to != nil || !seats.TryAcquire(1) {
			t.Error("the browser is not given back")
		}
		s.paused = false
		s.apply(&ring.Effect{Host: 5, Ready: time.Now(), Limit: 1, Priority: 9, Steps: []ring.Step{{Kind: ring.Get}}})
		if step, to := s.nextStep(time.Now(), steps); to == nil || step.Host != 5 {
			t.Errorf("while a page waits for a browser, host %d is asked", step.Host)
		}
		s.retract()
		s.pacer.Remove(5)
		if next, ok := s.pacer.NextTime(); !ok || time.Until(next) != seatWait {
			t.Errorf("the page is tried again after %v, %t", time.Until(next), ok)
		}
		seats.Release(1)
		time.Sleep(seatWait)
		step, to := s.nextStep(time.Now(), steps)
		if to == nil || step.Kind != ring.Render || seats.TryAcquire(1) {
			t.Fatal("the page does not get the browser that is there")
		}
		s.handedOver(&step, time.Now())
		if s.withdraw(); seats.TryAcquire(1) {
			t.Error("the browser of a page that is being rendered is given to another")
		}
	})
}

// A letter to another shard shows nothing about the network through which hosts are reached.
func TestLetterIsNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(outage.Watch)
		w.Begin("no route", time.Now())
		time.Sleep(6 * time.Second)
		s := newScheduler(schedulerConfig{Slots: 4, MaxUncommitted: 100, Network: w})
		for i, errand := range []*ring.Errand{{}, nil} {
			s.apply(&ring.Effect{Host: 5, Ready: time.Now(), Limit: 9,
				Steps: []ring.Step{{Kind: ring.Asset, Errand: errand,
					Settings: &ring.Settings{}}}})
			step, to := s.nextStep(time.Now(), make(chan ring.Step))
			if to == nil {
				t.Fatal("nothing is asked")
			}
			s.handedOver(&step, time.Now())
			if _, probe, _ := w.Away(); probe.After(time.Now()) != (i == 1) {
				t.Errorf("after a request (a letter: %t) the next probe is in %v", step.Entrusted(), time.Until(probe))
			}
		}
	})
}
