package crawl

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/outage"
	"github.com/sumi-ripple/ripple/crawl/pace"
	"github.com/sumi-ripple/ripple/crawl/slots"
	"github.com/sumi-ripple/ripple/schema/config"
)

// A Machine is what the crawls of one process have in common: the answers of name
// servers, the clocks of addresses, the slots for open requests, and the client and
// browsers where their settings are equal. So several crawls are as polite to an address as
// one, and what one of them changes or closes disturbs no other.
type Machine struct {
	clients fetch.Pool
	clocks  pace.Clocks
	network outage.Watch
	crawls  atomic.Uint64 // begun so far
	memory  atomic.Int64  // soft limit of the process; 0: none
	slots   *slots.Slots
	shows   browsers
	few     int // requests that may be open for the limit of descriptors; 0: it allows what is wanted

	begun     atomic.Pointer[time.Time] // see [Machine.since]
	suspended func() time.Duration      // since the machine was started
}

// mostForBodies is the memory that large bodies may have. Of a soft limit of memory it is
// a quarter at most.
const mostForBodies = 1 << 30

// NewMachine returns a machine on which at most so many requests are open at a time;
// 0: as many as its crawls may have together.
func NewMachine(maxOpen int) *Machine {
	m := &Machine{suspended: suspensions()}
	most, conns := withinDescriptors(maxOpen, descriptors())
	m.clients.Resolver, m.clients.MaxConns, m.clients.MaxOpen = fetch.NewResolver(nil), conns, most
	m.clients.LimitBodies(mostForBodies)
	m.slots = slots.New(most)
	if most != maxOpen {
		m.few = most
	}
	return m
}

// LimitMemory tells the soft limit of what the process holds, in bytes; 0: there is none. Crawls that begin
// after it, or take another configuration, keep less in flight. It sets no limit itself.
func (m *Machine) LimitMemory(bytes int64) {
	m.memory.Store(bytes)
	forBodies := int64(mostForBodies)
	if bytes > 0 {
		forBodies = min(bytes/4, mostForBodies)
	}
	m.clients.LimitBodies(forBodies)
}

// KeepBrowsers keeps the browsers that a configuration asks for open, if any, for crawls that come
// and go, instead of those that were kept before. Where it fails, these are kept.
func (m *Machine) KeepBrowsers(ctx context.Context, cfg *config.Config) error {
	return m.shows.keep(ctx, cfg, openBrowser)
}

// LeaveBrowsers keeps no browsers open any more.
func (m *Machine) LeaveBrowsers() error { return m.shows.leave() }

// Crawls is how many of its crawls run.
func (m *Machine) Crawls() int { return m.slots.Shares() }

// Since is from when on max-run-time counts: this process may have crawled before.
func (c *Crawl) Since() time.Time { return c.opts.Machine.since() }

// since is when the first of its crawls began to run, from which on max-run-time counts: a node crawls a shard
// again whose lease it has lost.
func (m *Machine) since() time.Time {
	now := time.Now()
	m.begun.CompareAndSwap(nil, &now)
	return *m.begun.Load()
}

// ShareAddresses tells how many machines crawl a terrain together: each asks an address so
// many times as rarely. It counts at once, and may be called at any time.
func (m *Machine) ShareAddresses(machines int) { m.clocks.Share(machines) }

// limit says so where a crawl may open fewer requests than it is configured to.
func (m *Machine) limit(wanted int, log *slog.Logger) {
	if m.few > 0 && m.few < wanted {
		log.Warn("the limit of descriptors (ulimit -n) allows fewer open requests", "open", m.few, "wanted", wanted)
	}
}

// reservedDescriptors are left to the state file, outputs, name servers, the socket
// and whoever asks it.
const reservedDescriptors = 128

// withinDescriptors returns how many requests may be open, and how many connections
// kept, where a process may have so many descriptors; 0: any number. A request
// may try two addresses at a time, or ask a name server.
func withinDescriptors(maxOpen, limit int) (open, conns int) {
	if limit <= 0 {
		return maxOpen, 0
	}
	conns = max(2, limit-min(reservedDescriptors, limit/2))
	open = max(1, conns/2)
	if maxOpen > 0 {
		open = min(open, maxOpen)
	}
	return open, conns
}
