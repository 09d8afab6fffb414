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

// An attribution decides, between visitors and recorder, whether a failure is the fault of a host or of this
// machine. Failures caused by an outage of the network or the resolver, or by a lack of resources, are passed on
// as cancelled requests. Failures that may belong to an outage are held back until that is known.
type attribution struct {
	shared  *Shared
	crawl   uint64 // distinguishes its hosts from those of other crawls
	log     *slog.Logger
	held    []ring.Outcome
	changes uint64 // count of network changes when all of held were last examined
	pulse   pulse
	lacked  map[uint64]excuses      // for a lack of resources; one that other hosts share counts once a minute
	slept   map[uint64]excuses      // because the machine was suspended; each suspension counts once
	lacking uint64                  // the host of the last lack of resources
	stuck   func(schema.End)        // ends the walk, because waiting does not help; nil: the walk continues
	told    *atomic.Pointer[[]Held] // some of held, for other goroutines to read; nil: not published
	out     chan<- ring.Outcome
}

// excuses counts the failures of a host that were attributed to this machine since the host last answered.
type excuses struct {
	times   int
	counted time.Time
}

// maxExcuses is the number of such failures after which the host is to blame.
const maxExcuses = 5

// run passes outcomes on until the visitors close in.
func (a *attribution) run(walking context.Context, in <-chan ring.Outcome) error {
	defer close(a.out)
	a.pulse.suspended = a.shared.suspended
	defer a.pulse.start(a.wake)()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for in != nil {
		var due <-chan time.Time
		looked := len(a.held) // examined, and nothing has changed since
		if len(a.held) > 0 {
			wait := beat
			if left := time.Until(a.held[0].Done.Add(outage.MaxHold)); left > 0 {
				wait = min(beat, left)
			}
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case o, open := <-in:
			a.wake()
			if !open {
				in = nil
				break
			}
			a.held = append(a.held, a.judge(o, time.Now()))
		case <-due:
			looked = 0
			a.wake()
			a.tell(a.shared.network.Look(time.Now()))
		case <-walking.Done():
			return walking.Err()
		}
		if changes := a.shared.network.Changes(); changes != a.changes || in == nil {
			looked, a.changes = 0, changes
		}
		if err := a.release(walking, looked, in == nil); err != nil {
			return err
		}
	}
	return nil
}

// release passes on the held outcomes that are settled, skipping the first looked ones, which were examined before;
// with all it passes on every one. If a crawl stops before it is known whether a host is to blame, the next crawl
// requests the page again.
func (a *attribution) release(walking context.Context, looked int, all bool) error {
	kept := a.held[:looked]
	for _, o := range a.held[looked:] {
		if !a.settle(&o, all, time.Now()) {
			kept = append(kept, o)
			continue
		}
		select {
		case a.out <- o:
		case <-walking.Done():
			return walking.Err()
		}
	}
	clear(a.held[len(kept):])
	a.held = kept
	a.tellHeld()
	return nil
}

// tellHeld publishes the failures that are held back.
func (a *attribution) tellHeld() {
	if a.told == nil {
		return
	}
	if told := a.told.Load(); len(a.held) > 0 || told != nil && len(*told) > 0 {
		held := heldOf(a.held)
		a.told.Store(&held)
	}
}

// settle reports whether it is known whose fault a failure is, and clears the host if it is not the host's.
func (a *attribution) settle(o *ring.Outcome, all bool, now time.Time) bool {
	network := &a.shared.network
	switch {
	case o.Answered() || o.Cause == fetch.Cancelled || o.Step.Entrusted():
	case network.Blameless(o.Step.Sent) || o.Own == fetch.OwnAddress || a.sleptThrough(o):
		blameless(o)
	case cutOff(o):
	case all:
		blameless(o)
	case !network.Settled(a.failure(o), o.Done, now):
		return false
	case o.Own != fetch.OwnResolver:
	case !network.Anybody(o.Done):
		if network.Begin(o.Reason().String(), now) {
			a.away()
		}
		blameless(o)
	case o.Cause == fetch.DNSTemporary:
		blameless(o)
	}
	return true
}

// judge uses an outcome as evidence for or against an outage.
func (a *attribution) judge(o ring.Outcome, now time.Time) ring.Outcome {
	host := a.id(&o)
	switch {
	case o.Step.Kind == ring.Render, o.Step.Entrusted(): // no evidence about this machine
	case o.Moved || o.Cause == fetch.Cancelled || o.Answered() && o.Status == 0: // a look-up
	case o.Answered():
		delete(a.lacked, host)
		delete(a.slept, host)
		network, step := &a.shared.network, &o.Step
		if network.Answered(host, siteOf(step), step.Address, step.Sent, o.Done, now) {
			a.tell(outage.Ended)
		}
	case o.Own == fetch.OwnAddress:
		a.shared.clients.Renew()
	case (o.Own == fetch.OwnMeans || o.Own == fetch.OwnWait) && a.lacked[host].times < maxExcuses:
		a.lacks(&o, host, now)
	case cutOff(&o): // an outage may explain it, but it is no evidence of one
	default:
		a.tell(a.shared.network.Failed(*a.failure(&o), now))
		if key, why, stuck := a.shared.network.Stuck(now); stuck && a.stuck != nil {
			a.stuck(schema.End{Kind: schema.EndStopped, Detail: "no host can be reached: " + why + " (" + key + ")"})
		}
	}
	return o
}

// failure turns an outcome without an answer into evidence.
func (a *attribution) failure(o *ring.Outcome) *outage.Failure {
	f := &outage.Failure{
		Host: a.id(o), Site: siteOf(&o.Step), Address: o.Step.Address, Next: o.Next, Sent: o.Step.Sent, Way: a.way(o),
		Resolver: o.Own == fetch.OwnResolver, Alone: o.Own == fetch.OwnNothing, Met: o.Step.Met,
		Spoke: o.TLS.Spoke, Alert: o.TLS.Alert, Shaken: o.TLS.Shaken, Why: o.Reason().String(),
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
func (a *attribution) way(o *ring.Outcome) outage.Way {
	switch {
	case o.Own == fetch.OwnNetwork, o.Own == fetch.OwnNoResolver && !a.shared.network.Anybody(time.Time{}):
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

// siteOf returns a hash of the registrable domain of a step.
func siteOf(step *ring.Step) uint64 { return xxh3.HashString(weburl.Site(weburl.Host(step.URL))) }

// tell logs a change of the network.
func (a *attribution) tell(news outage.News) {
	switch news {
	case outage.Begun:
		a.away()
	case outage.Ended:
		a.shared.clients.Renew()
		a.log.Info("the network is available again")
	case outage.Doubted:
		a.log.Warn("no host answers, but nothing shows that the network of this machine is away: " +
			"hosts that fail are to blame again")
	case outage.Refuted:
		a.log.Warn("hosts fail together while the network is there: they are to blame")
	}
}

// cutOff reports whether an answer ended too early. One that merely stalled does not count: an outage looks the
// same.
func cutOff(o *ring.Outcome) bool { return o.Status != 0 && o.Cause != fetch.Slow }

// id returns a number for a host that is unique among the crawls of the machine.
func (a *attribution) id(o *ring.Outcome) uint64 { return a.crawl<<32 | uint64(o.Step.Host) }

// sleptThrough reports whether the machine was suspended while a request was open, which excuses its host. A host
// is excused at most maxExcuses times, even if the machine is late again and again.
func (a *attribution) sleptThrough(o *ring.Outcome) bool {
	woke := a.shared.network.Woke()
	if !o.Step.Sent.Before(woke) {
		return false
	}
	e := a.slept[a.id(o)]
	if e.counted.Equal(woke) {
		return true
	}
	if e.times == maxExcuses {
		return false
	}
	if a.slept == nil {
		a.slept = map[uint64]excuses{}
	}
	a.slept[a.id(o)] = excuses{e.times + 1, woke}
	return true
}

// away logs the start of an outage. The connections are renewed, because the next requests must not use those of
// the previous network.
func (a *attribution) away() {
	a.shared.clients.Renew()
	a.log.Warn("the network of this machine is away: one request every 5 to 60 s is sent until a host answers",
		"error", a.shared.network.Why())
}

// lacks reduces the number of open requests and of idle connections. If only a body had to wait, which can happen
// at any number of requests, it reduces nothing.
func (a *attribution) lacks(o *ring.Outcome, host uint64, now time.Time) {
	if a.lacked == nil {
		a.lacked = map[uint64]excuses{}
	}
	if l := a.lacked[host]; a.lacking == host || now.Sub(l.counted) >= time.Minute {
		a.lacked[host] = excuses{l.times + 1, now}
	}
	a.lacking = host
	if o.Own == fetch.OwnWait {
		blameless(o)
		return
	}
	a.shared.clients.CloseIdle()
	if limit, news := a.shared.slots.Lack(o.Step.Sent, now); news {
		a.log.Warn("this machine lacks descriptors, ports or memory: fewer requests are open for a while",
			"open", limit, "error", o.Reason())
	}
	blameless(o)
}

// wake detects that the machine, or this process, was suspended. The machine may be in another network now, so
// failures of earlier requests say nothing about hosts. A process that is late on its own, because it was stopped
// or gets too little processor time, opens fewer requests from now on; with more, it would only repeat them.
func (a *attribution) wake() {
	g := a.pulse.beat()
	if g == (gap{}) {
		return
	}
	now := time.Now()
	a.shared.network.Suspended(now)
	if g.asleep > 0 || g.late >= outlived {
		a.shared.clients.Renew()
	}
	if g.asleep > 0 || !clocksTell && g.late >= outlived {
		a.log.Info("this machine was suspended", "for", (g.asleep + g.late).Round(time.Second))
		return
	}
	late := g.late.Round(time.Second)
	if limit, news := a.shared.slots.Late(g.since, now); news {
		a.log.Info("this process came late: fewer requests are open for a while", "late", late, "open", limit)
	} else if g.late >= halted {
		a.log.Info("this process came late", "late", late)
	}
}

// blameless turns a failure into a cancelled request, which counts for clocks only.
func blameless(o *ring.Outcome) { o.Cause, o.Uncounted = fetch.Cancelled, true }
