package record

import (
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const minSweep = 1024 // hosts in memory before the first sweep

// A liveHost is what is in memory of a host that is being asked, or was a moment
// ago.
type liveHost struct {
	ready     time.Time   // not before; carries the monotonic clock
	next      []ring.Step // continued visits, ahead of the host's pages
	open      []schema.ID // of the steps that are out; 0 for robots and look-ups
	assets    []asset     // what scripts of pages ask it for, ahead of its pages
	robots    bool        // its robots.txt is being asked, here or elsewhere
	at        *target     // that its robots.txt has led to; nil: none
	resolved  bool        // its address was looked up in this process
	inherited bool        // ready is that of another configuration
	failing   bool        // since its last effect a request had no whole answer within [retry] timeout
	answered  bool        // since then one had
	proved    bool        // and that with a page or sitemap

	unpermitted []*target   // it is asked for these once its robots.txt permits them
	rendering   []schema.ID // its pages that are being rendered
}

// busy reports whether a page has a step out, or is being rendered.
func (l *liveHost) busy(id schema.ID) bool {
	return slices.Contains(l.open, id) || slices.Contains(l.rendering, id)
}

// idle reports whether nothing is known of a host but a clock that has passed.
func (l *liveHost) idle(now time.Time) bool {
	return len(l.open) == 0 && len(l.next) == 0 && len(l.assets) == 0 && len(l.rendering) == 0 &&
		len(l.unpermitted) == 0 && !l.robots && !l.ready.After(now)
}

// heard notes when the host may be asked again after a request, and whether it had an
// answer in time, but for a connection that was kept too long. That to HEAD or for
// robots.txt says little of pages, which may come slowly for minutes.
func (l *liveHost) heard(cfg *config.Config, h *schema.Host, o *ring.Outcome) {
	switch inTime := o.Answered() && o.Done.Sub(o.Step.Sent)-o.Waited <= cfg.Retry.Timeout; {
	case o.Cause == fetch.Cancelled, o.Stale && o.Done.Sub(o.Step.Sent) < time.Second:
	case !inTime:
		l.failing = true
	default:
		l.answered, l.proved = true, l.proved || o.Step.Kind == ring.Get || o.Step.Kind == ring.Asset
	}
	l.ready = clock.ReadyAfter(cfg, h, l.ready, o)
}

// moved has a step asked once more, before all others, under the clock of the address
// that its host was found at.
func (l *liveHost) moved(step ring.Step) {
	step.Moves++
	l.next = slices.Insert(l.next, 0, step)
}

// goOn puts a step ahead of the host's pages.
func (l *liveHost) goOn(step ring.Step) { l.next = append(l.next, step) }

// liveHosts are the hosts in memory, by id.
type liveHosts struct {
	byID    map[schema.HostID]*liveHost
	out     int // steps planned and not yet taken back
	sweepAt int
}

func newLiveHosts() liveHosts {
	return liveHosts{byID: map[schema.HostID]*liveHost{}, sweepAt: minSweep}
}

// of returns the live host, which is new where there was none.
func (all *liveHosts) of(id schema.HostID) *liveHost {
	l := all.byID[id]
	if l == nil {
		l = &liveHost{}
		all.byID[id] = l
	}
	return l
}

// opened counts a step that is out.
func (all *liveHosts) opened(l *liveHost, id schema.ID) {
	l.open = append(l.open, id)
	all.out++
}

// closed takes a step back that was out.
func (all *liveHosts) closed(l *liveHost, id schema.ID) {
	if i := slices.Index(l.open, id); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
		all.out--
	}
}

// forget lets go of a host that is idle and was given nothing to do.
func (all *liveHosts) forget(id schema.HostID, l *liveHost, now time.Time, steps int) {
	if steps == 0 && l.idle(now) {
		delete(all.byID, id)
	}
}

// sweep forgets the hosts that are idle, once in a while.
func (all *liveHosts) sweep(now time.Time) {
	if len(all.byID) < all.sweepAt {
		return
	}
	for id, l := range all.byID {
		if l.idle(now) {
			delete(all.byID, id)
		}
	}
	all.sweepAt = max(minSweep, 2*len(all.byID))
}

// clocks are the hosts that may not be asked yet, with nothing else of what was
// being done.
func (all *liveHosts) clocks(now time.Time) liveHosts {
	kept := newLiveHosts()
	for id, l := range all.byID {
		if l.ready.After(now) {
			kept.byID[id] = &liveHost{ready: l.ready, resolved: l.resolved, inherited: true}
		}
	}
	return kept
}
