package crawl

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// A Flight is an open request: it was sent, and its answer is not complete.
type Flight struct {
	Host  schema.HostID
	Page  string // the identity of the page or sitemap that the request is for; empty: none
	Kind  string // see [ring.Step.RequestKind]
	URL   string // the form of the URL that is requested
	Since time.Time
}

// flights are the open requests of a crawl. Its methods may be called from any goroutine; the zero
// value is empty.
type flights struct {
	mu   sync.Mutex
	last uint64
	open map[uint64]Flight
}

// begin records the request of a step as open until the returned function is called.
func (f *flights) begin(step *ring.Step, now time.Time) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		f.open = map[uint64]Flight{}
	}
	f.last++
	number := f.last
	f.open[number] = Flight{Host: step.Host, Page: step.Norm, Kind: step.RequestKind(), URL: step.URL, Since: now}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.open, number)
	}
}

// all returns the open requests, oldest first.
func (f *flights) all() []Flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]Flight, 0, len(f.open))
	for _, one := range f.open {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Flight) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.URL, b.URL))
	})
	return all
}

// A Held is the failure of a request that is not recorded until it is known whether the network of
// this machine is at fault.
type Held struct {
	Host  schema.HostID
	Why   string    // the request failed
	Since time.Time // it has failed
}

// maxHeldTold is the most held failures that are published.
const maxHeldTold = 100

// heldOf returns the failures of outcomes that are held back, oldest first.
func heldOf(outcomes []ring.Outcome) []Held {
	held := make([]Held, min(len(outcomes), maxHeldTold))
	for i := range held {
		o := &outcomes[i]
		held[i] = Held{o.Step.Host, o.Reason().String(), o.Done}
	}
	return held
}

// Held returns the failures that are held back now, oldest first and at most 100.
func (c *Crawl) Held() []Held {
	if held := c.held.Load(); held != nil {
		return *held
	}
	return nil
}

// Flights returns the requests that are open now, oldest first.
func (c *Crawl) Flights() []Flight { return c.flights.all() }
