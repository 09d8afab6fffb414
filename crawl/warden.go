package crawl

import (
	"context"
	"log/slog"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/outage"
	"github.com/sumi-ripple/ripple/crawl/ring"
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
	lacked  map[uint64]excuses // for want of means; those that other hosts share count once a minute
	slept   map[uint64]excuses // because the machine was suspended; one counts once
	lacking uint64             // the host that lacked last
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
			timer.Reset(min(beat, time.Until(w.held[0].Done.Add(outage.MaxHold))))
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
			if w.machine.network.Look(time.Now()) {
				w.away("nobody answers")
			}
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
	return nil
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
	case !network.Settled(o.Done, o.Own == fetch.OwnResolver || o.Step.Met && unreached(o), now):
		return false
	case o.Own != fetch.OwnResolver:
	case !network.Anybody(o.Done):
		if network.Begin(now) {
			w.away(o.Reason().String())
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
		if w.machine.network.Answered(host, o.Step.Address, o.Step.Sent, o.Done, now) {
			w.machine.clients.Renew()
			w.log.Info("the network is there again")
		}
	case o.Own == fetch.OwnAddress:
		w.machine.clients.Renew()
	case (o.Own == fetch.OwnMeans || o.Own == fetch.OwnWait) && w.lacked[host].times < maxExcuses:
		w.lacks(&o, host, now)
	case cutOff(&o): // which an outage may explain but does not show
	default:
		f := outage.Failure{
			Host: host, Address: o.Step.Address, Next: o.Next, Sent: o.Step.Sent, Own: o.Own == fetch.OwnNetwork,
			Alone: o.Own == fetch.OwnNothing, Met: o.Step.Met,
		}
		f.Own = f.Own || o.Own == fetch.OwnNoResolver && !w.machine.network.Anybody(time.Time{})
		f.Network = unreached(&o)
		switch w.machine.network.Failed(f, now) {
		case outage.Begun:
			w.away(o.Reason().String())
		case outage.Doubted:
			w.log.Warn("no host answers, but nothing shows that the network of this machine is away: " +
				"hosts that fail are to blame again")
		}
	}
	return o
}

// cutOff reports whether an answer ended too early. One that only came to a halt is not: an
// outage looks like that.
func cutOff(o *ring.Outcome) bool { return o.Status != 0 && o.Cause != fetch.Slow }

// unreached reports what a network that is away looks like.
func unreached(o *ring.Outcome) bool {
	return o.Cause.Connection() || o.Cause == fetch.Timeout || o.Cause == fetch.Slow || o.Cause == fetch.Reset && o.Early
}

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
func (w *warden) away(why string) {
	w.machine.clients.Renew()
	w.log.Warn("the network of this machine is away: one request every 5 to 60 s is sent until a host answers",
		"error", why)
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
