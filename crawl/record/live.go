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

// A liveHost holds what is in memory about a host that has, or just had, open requests.
type liveHost struct {
	ready     time.Time   // earliest next request; carries the monotonic clock
	next      []ring.Step // continued visits, ahead of the host's pages
	open      []schema.ID // pages of the open steps; 0 for robots.txt and look-ups
	assets    []asset     // requests of scripts to it, ahead of its pages
	robots    bool        // its robots.txt is being requested, here or by another shard
	at        *target     // the target of its robots.txt redirect; nil: none
	resolved  bool        // its address was looked up in this process
	inherited bool        // ready was computed under another configuration
	failing   bool        // since its last effect a request got no complete answer within [retry] timeout
	answered  bool        // since then one did
	proved    bool        // and the answer was a page or a sitemap

	unpermitted []*target   // requested once its robots.txt permits them
	rendering   []schema.ID // its pages that are being rendered
}

// busy reports whether a page has an open step, or is being rendered.
func (l *liveHost) busy(id schema.ID) bool {
	return slices.Contains(l.open, id) || slices.Contains(l.rendering, id)
}

// idle reports whether a host has nothing in memory but a clock that has passed.
func (l *liveHost) idle(now time.Time) bool {
	return len(l.open) == 0 && len(l.next) == 0 && len(l.assets) == 0 && len(l.rendering) == 0 &&
		len(l.unpermitted) == 0 && !l.robots && !l.ready.After(now)
}

// heard notes when the host is ready again after a request, and whether the answer came in time. A quick
// failure on a stale connection does not count. An answer to HEAD or for robots.txt says little about pages, which
// may be slow for minutes.
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

// moved repeats a step before all others, under the clock of the address at which its host was found.
func (l *liveHost) moved(step ring.Step) {
	step.Moves++
	l.next = slices.Insert(l.next, 0, step)
}

// goOn puts a step ahead of the host's pages.
func (l *liveHost) goOn(step ring.Step) { l.next = append(l.next, step) }

// liveHosts are the hosts in memory, by id.
type liveHosts struct {
	byID    map[schema.HostID]*liveHost
	out     int // open steps
	sweepAt int
}

func newLiveHosts() liveHosts {
	return liveHosts{byID: map[schema.HostID]*liveHost{}, sweepAt: minSweep}
}

// of returns the live host, and creates it if necessary.
func (all *liveHosts) of(id schema.HostID) *liveHost {
	l := all.byID[id]
	if l == nil {
		l = &liveHost{}
		all.byID[id] = l
	}
	return l
}

// opened counts a step that begins.
func (all *liveHosts) opened(l *liveHost, id schema.ID) {
	l.open = append(l.open, id)
	all.out++
}

// closed counts a step that has ended.
func (all *liveHosts) closed(l *liveHost, id schema.ID) {
	if i := slices.Index(l.open, id); i >= 0 {
		l.open = slices.Delete(l.open, i, i+1)
		all.out--
	}
}

// forget removes a host that is idle and got no new steps.
func (all *liveHosts) forget(id schema.HostID, l *liveHost, now time.Time, steps int) {
	if steps == 0 && l.idle(now) {
		delete(all.byID, id)
	}
}

// sweep removes idle hosts whenever the number of hosts has grown enough.
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

// clocks returns the hosts whose clocks have not passed yet, without their steps.
func (all *liveHosts) clocks(now time.Time) liveHosts {
	kept := newLiveHosts()
	for id, l := range all.byID {
		if l.ready.After(now) {
			kept.byID[id] = &liveHost{ready: l.ready, resolved: l.resolved, inherited: true}
		}
	}
	return kept
}
