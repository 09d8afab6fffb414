package crawl

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/outage"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A warden stands between visitors and recorder and lets no host be blamed for
// what this machine lacks. Failures of an outage of its network or resolver, or for
// want of means, go on as cancelled requests; those that may turn out to belong to an outage
// are held back until that is known.
type warden struct {
	machine *Machine
	crawl   uint64 // tells its hosts from those of other crawls
	log     *slog.Logger
	held    []ring.Outcome
	changes uint64 // of the network, when all of held were looked at
	pulse   pulse
	lacked  map[uint64]excuses      // for want of means; those that other hosts share count once a minute
	slept   map[uint64]excuses      // because the machine was suspended; one counts once
	lacking uint64                  // the host that lacked last
	stuck   func(schema.End)        // ends the walk, for no waiting mends what is wrong; nil: it goes on
	told    *atomic.Pointer[[]Held] // some of held, for others to read; nil: nobody does
	out     chan<- ring.Outcome
}

// Excuses are how often a failure of a host was put down to this machine since the host
// answered.
type excuses struct {
	times   int
	counted time.Time
}

// maxExcuses is how often that may be before it is the host that fails.
const maxExcuses = 5

// run passes outcomes on until the visitors have closed them.
func (w *warden) run(walking context.Context, in <-chan ring.Outcome) error {
	defer close(w.out)
	w.pulse.suspended = w.machine.suspended
	defer w.pulse.start(w.wake)()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for in != nil {
		var due <-chan time.Time
		looked := len(w.held) // at those, and nothing has changed since
		if len(w.held) > 0 {
			wait := beat
			if left := time.Until(w.held[0].Done.Add(outage.MaxHold)); left > 0 {
				wait = min(beat, left)
			}
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case o, open := <-in:
			w.wake()
			if !open {
				in = nil
				break
			}
			w.held = append(w.held, w.judge(o, time.Now()))
		case <-due:
			looked = 0
			w.wake()
			w.tell(w.machine.network.Look(time.Now()))
		case <-walking.Done():
			return walking.Err()
		}
		if changes := w.machine.network.Changes(); changes != w.changes || in == nil {
			looked, w.changes = 0, changes
		}
		if err := w.release(walking, looked, in == nil); err != nil {
			return err
		}
	}
	return nil
}

// release passes on what is held back and need not be, but for those that were looked at
// before, or all: who is not known to have failed by itself when a crawl is told to stop
// is asked again by the next one.
func (w *warden) release(walking context.Context, looked int, all bool) error {
	kept := w.held[:looked]
	for _, o := range w.held[looked:] {
		if !w.settle(&o, all, time.Now()) {
			kept = append(kept, o)
			continue
		}
		select {
		case w.out <- o:
		case <-walking.Done():
			return walking.Err()
		}
	}
	clear(w.held[len(kept):])
	w.held = kept
	w.tellHeld()
	return nil
}

// tellHeld says which failures are held back.
func (w *warden) tellHeld() {
	if w.told == nil {
		return
	}
	if told := w.told.Load(); len(w.held) > 0 || told != nil && len(*told) > 0 {
		held := heldOf(w.held)
		w.told.Store(&held)
	}
}

// settle reports whether it is known whose fault a failure is.
func (w *warden) settle(o *ring.Outcome, all bool, now time.Time) bool {
	network := &w.machine.network
	switch {
	case o.Answered() || o.Cause == fetch.Cancelled || o.Step.Entrusted():
	case network.Blameless(o.Step.Sent) || o.Own == fetch.OwnAddress || w.sleptThrough(o):
		blameless(o)
	case cutOff(o):
	case all:
		blameless(o)
	case !network.Settled(w.failure(o), o.Done, now):
		return false
	case o.Own != fetch.OwnResolver:
	case !network.Anybody(o.Done):
		if network.Begin(o.Reason().String(), now) {
			w.away()
		}
		blameless(o)
	case o.Cause == fetch.DNSTemporary:
		blameless(o)
	}
	return true
}

// judge takes an outcome as evidence.
func (w *warden) judge(o ring.Outcome, now time.Time) ring.Outcome {
	host := w.id(&o)
	switch {
	case o.Step.Kind == ring.Render, o.Step.Entrusted(): // it says nothing of this machine
	case o.Moved || o.Cause == fetch.Cancelled || o.Answered() && o.Status == 0: // a look-up
	case o.Answered():
		delete(w.lacked, host)
		delete(w.slept, host)
		network, step := &w.machine.network, &o.Step
		if network.Answered(host, siteOf(step), step.Address, step.Sent, o.Done, now) {
			w.tell(outage.Ended)
		}
	case o.Own == fetch.OwnAddress:
		w.machine.clients.Renew()
	case (o.Own == fetch.OwnMeans || o.Own == fetch.OwnWait) && w.lacked[host].times < maxExcuses:
		w.lacks(&o, host, now)
	case cutOff(&o): // which an outage may explain but does not show
	default:
		w.tell(w.machine.network.Failed(*w.failure(&o), now))
		if key, why, stuck := w.machine.network.Stuck(now); stuck && w.stuck != nil {
			w.stuck(schema.End{Kind: schema.EndStopped, Detail: "no host can be reached: " + why + " (" + key + ")"})
		}
	}
	return o
}

// failure is what an outcome without an answer is evidence of.
func (w *warden) failure(o *ring.Outcome) *outage.Failure {
	f := &outage.Failure{
		Host: w.id(o), Site: siteOf(&o.Step), Address: o.Step.Address, Next: o.Next, Sent: o.Step.Sent, Way: w.way(o),
		Resolver: o.Own == fetch.OwnResolver, Alone: o.Own == fetch.OwnNothing, Met: o.Step.Met,
		Spoke: o.TLS.Spoke, Shaken: o.TLS.Shaken, Why: o.Reason().String(),
	}
	switch {
	case o.TLS.Untrusted:
		f.Key = "[network] ca-file"
	case o.Cause == fetch.Refused && o.Step.Settings != nil && o.Step.Settings.Client.Mapped(weburl.Host(o.Step.URL)):
		f.Key = "[network] connect-to"
	}
	return f
}

// way classes a failure for the evidence of an outage.
func (w *warden) way(o *ring.Outcome) outage.Way {
	switch {
	case o.Own == fetch.OwnNetwork, o.Own == fetch.OwnNoResolver && !w.machine.network.Anybody(time.Time{}):
		return outage.Local
	case o.Cause == fetch.Timeout, o.Cause == fetch.Slow, o.Cause == fetch.ConnectTimeout, o.Cause == fetch.TLSTimeout,
		o.Cause == fetch.DNSTemporary:
		return outage.Silent
	case o.TLS.Spoke:
		return outage.Cut
	case o.Cause == fetch.Reset, o.Cause == fetch.TLS && o.TLS.Alert:
		return outage.HungUp
	case o.Cause.Connection():
		return outage.Barred
	}
	return outage.Other
}

// siteOf tells the registrable domain of a step from others.
func siteOf(step *ring.Step) uint64 { return xxh3.HashString(weburl.Site(weburl.Host(step.URL))) }

// tell says what a failure has changed.
func (w *warden) tell(news outage.News) {
	switch news {
	case outage.Begun:
		w.away()
	case outage.Ended:
		w.machine.clients.Renew()
		w.log.Info("the network is there again")
	case outage.Doubted:
		w.log.Warn("no host answers, but nothing shows that the network of this machine is away: " +
			"hosts that fail are to blame again")
	case outage.Refuted:
		w.log.Warn("hosts fail together while the network is there: they are to blame")
	}
}

// cutOff reports whether an answer ended too early. One that only came to a halt is not: an
// outage looks like that.
func cutOff(o *ring.Outcome) bool { return o.Status != 0 && o.Cause != fetch.Slow }

// id tells a host from those of other crawls.
func (w *warden) id(o *ring.Outcome) uint64 { return w.crawl<<32 | uint64(o.Step.Host) }

// sleptThrough reports whether the machine was suspended while a request was open, which
// excuses its host. A machine that is late again and again excuses nobody for ever.
func (w *warden) sleptThrough(o *ring.Outcome) bool {
	woke := w.machine.network.Woke()
	if !o.Step.Sent.Before(woke) {
		return false
	}
	e := w.slept[w.id(o)]
	if e.counted.Equal(woke) {
		return true
	}
	if e.times == maxExcuses {
		return false
	}
	if w.slept == nil {
		w.slept = map[uint64]excuses{}
	}
	w.slept[w.id(o)] = excuses{e.times + 1, woke}
	return true
}

// away tells of an outage that begins. The next requests must not go out over
// connections of the network that was.
func (w *warden) away() {
	w.machine.clients.Renew()
	w.log.Warn("the network of this machine is away: one request every 5 to 60 s is sent until a host answers",
		"error", w.machine.network.Why())
}

// lacks has fewer requests opened from now on, and fewer connections kept. Where only a body had to wait, as it may at
// any number of requests, it changes nothing.
func (w *warden) lacks(o *ring.Outcome, host uint64, now time.Time) {
	if w.lacked == nil {
		w.lacked = map[uint64]excuses{}
	}
	if l := w.lacked[host]; w.lacking == host || now.Sub(l.counted) >= time.Minute {
		w.lacked[host] = excuses{l.times + 1, now}
	}
	w.lacking = host
	if o.Own == fetch.OwnWait {
		blameless(o)
		return
	}
	w.machine.clients.CloseIdle()
	if limit, news := w.machine.slots.Lack(o.Step.Sent, now); news {
		w.log.Warn("this machine lacks descriptors, ports or memory: fewer requests are open for a while",
			"open", limit, "error", o.Reason())
	}
	blameless(o)
}

// wake finds that the machine, or this process, was suspended. The machine may be in another
// network now, and all that was sent before says nothing of hosts. A process that comes late by
// itself, because it was stopped or too little of the processor is left to it, has fewer
// requests open from now on: with more it would do nothing but begin them anew.
func (w *warden) wake() {
	g := w.pulse.beat()
	if g == (gap{}) {
		return
	}
	now := time.Now()
	w.machine.network.Suspended(now)
	if g.asleep > 0 || g.late >= outlived {
		w.machine.clients.Renew()
	}
	if g.asleep > 0 || !clocksTell && g.late >= outlived {
		w.log.Info("this machine was suspended", "for", (g.asleep + g.late).Round(time.Second))
		return
	}
	late := g.late.Round(time.Second)
	if limit, news := w.machine.slots.Late(g.since, now); news {
		w.log.Info("this process came late: fewer requests are open for a while", "late", late, "open", limit)
	} else if g.late >= halted {
		w.log.Info("this process came late", "late", late)
	}
}

// blameless makes a failure a request that was cancelled and counts for nothing but
// clocks.
func blameless(o *ring.Outcome) { o.Cause, o.Uncounted = fetch.Cancelled, true }
