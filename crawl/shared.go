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

// Shared is what the crawls of one process share: the answers of name servers, the clocks of
// addresses, the slots for open requests, and, where their settings are equal, the client and the
// browsers. So several crawls are together as polite to an address as one, and no crawl is
// disturbed when another changes or closes something.
type Shared struct {
	clients fetch.Pool
	clocks  pace.Clocks
	network outage.Watch
	crawls  atomic.Uint64 // number of crawls begun
	memory  atomic.Int64  // soft limit of the process; 0: none
	slots   *slots.Slots
	shows   browsers
	few     int // most open requests, by the limit of descriptors; 0: that limit does not matter

	begun     atomic.Pointer[time.Time] // see [Shared.since]
	suspended func() time.Duration      // how long the machine has been suspended since it was started
}

// mostForBodies is the most memory for large bodies. If the process has a soft memory limit, they
// get a quarter of it at most.
const mostForBodies = 1 << 30

// NewShared returns a Shared that allows at most maxOpen requests open at a time; 0: as many as its
// crawls may have together.
func NewShared(maxOpen int) *Shared {
	s := &Shared{suspended: suspensions()}
	most, conns := withinDescriptors(maxOpen, descriptors())
	s.clients.Resolver, s.clients.MaxConns, s.clients.MaxOpen = fetch.NewResolver(nil), conns, most
	s.clients.LimitBodies(mostForBodies)
	s.slots = slots.New(most)
	if most != maxOpen {
		s.few = most
	}
	return s
}

// LimitMemory says what the soft memory limit of the process is, in bytes; 0: there is none. It
// does not set that limit. Crawls that begin afterwards, or get another configuration, keep less in
// flight.
func (s *Shared) LimitMemory(bytes int64) {
	s.memory.Store(bytes)
	forBodies := int64(mostForBodies)
	if bytes > 0 {
		forBodies = min(bytes/4, mostForBodies)
	}
	s.clients.LimitBodies(forBodies)
}

// KeepBrowsers keeps the browsers that a configuration needs open between crawls, in place of those
// kept before. If it fails, the earlier ones are kept.
func (s *Shared) KeepBrowsers(ctx context.Context, cfg *config.Config) error {
	return s.shows.keep(ctx, cfg, openBrowser)
}

// LeaveBrowsers stops keeping browsers open.
func (s *Shared) LeaveBrowsers() error { return s.shows.leave() }

// Crawls returns how many crawls are running in the process.
func (s *Shared) Crawls() int { return s.slots.Shares() }

// Since returns the start of max-run-time. It may lie before c began: the process may have run
// other crawls.
func (c *Crawl) Since() time.Time { return c.opts.Shared.since() }

// since returns when the first crawl of the process began to run. max-run-time counts from there,
// because a node crawls a shard again after it has lost the lease.
func (s *Shared) since() time.Time {
	now := time.Now()
	s.begun.CompareAndSwap(nil, &now)
	return *s.begun.Load()
}

// ShareAddresses sets how many machines crawl a terrain together. Each of them multiplies its delay
// between requests to an address by that number. It takes effect at once, and may be called at any
// time.
func (s *Shared) ShareAddresses(machines int) { s.clocks.Share(machines) }

// limit logs that a crawl may open fewer requests than it is configured to.
func (s *Shared) limit(wanted int, log *slog.Logger) {
	if s.few > 0 && s.few < wanted {
		log.Warn("the limit of descriptors (ulimit -n) allows fewer open requests", "open", s.few, "wanted", wanted)
	}
}

// reservedDescriptors are left for the state file, outputs, name servers, and the socket with its
// clients.
const reservedDescriptors = 128

// withinDescriptors returns how many requests may be open and how many connections kept under a
// limit of descriptors; 0: any number. A request takes two descriptors: it may try two addresses at
// a time, or query a name server.
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
