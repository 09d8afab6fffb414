package meter

import (
	"context"
	"runtime/metrics"
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/schema"
)

// A Moment is what a scrape reads from a crawl.
type Moment struct {
	Status census.Status
	State  int64 // bytes of the state file
	Outbox int   // of a shard: messages not yet sent to other shards
}

// A Collector holds the metrics of one crawl, and so of one state file. Its methods are safe for concurrent use.
type Collector struct {
	meter  *Meter
	under  prometheus.Registerer
	shard  bool
	now    func(context.Context) Moment
	moment atomic.Pointer[Moment]
	pages  [schema.StateCount]atomic.Int64
	gauges gauges
}

// Whole exports the crawl of a whole terrain; now returns its current moment.
func (m *Meter) Whole(now func(context.Context) Moment) *Collector {
	return m.add(&Collector{meter: m, under: m.registry, now: now, gauges: describe()})
}

// Shard exports the crawl of a shard. An earlier collector of the same shard must have been dropped.
func (m *Meter) Shard(n int, now func(context.Context) Moment) *Collector {
	labels := prometheus.Labels{"shard": strconv.Itoa(n)}
	return m.add(&Collector{meter: m, under: prometheus.WrapRegistererWith(labels, m.registry), shard: true, now: now,
		gauges: describe()})
}

func (m *Meter) add(c *Collector) *Collector {
	c.under.MustRegister(c)
	m.show(c, true)
	return c
}

// Freeze exports the last moment of a crawl that has ended, and reads it no more.
func (c *Collector) Freeze(last Moment) {
	c.meter.show(c, false)
	c.moment.Store(&last)
}

// Drop stops exporting a crawl. It is idempotent.
func (c *Collector) Drop() {
	c.meter.show(c, false)
	c.under.Unregister(c)
}

// read does not overwrite a moment that was frozen meanwhile.
func (c *Collector) read(ctx context.Context) {
	before := c.moment.Load()
	now := c.now(ctx)
	c.moment.CompareAndSwap(before, &now)
}

// Visited counts a visited page, see [crawl.Options].
func (c *Collector) Visited(e crawl.Event) {
	c.pages[e.State].Add(1)
	if e.Again {
		c.pages[e.Was].Add(-1)
	}
}

// gauges describe the values read at scrape time.
type gauges struct {
	waiting, pages, hosts, frontier, open, next, state, outbox, run *prometheus.Desc
}

func describe() gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return gauges{
		waiting: desc("ripple_waiting", "What the crawl waits for, if not for hosts: 1 for that, 0 for all else.", "for"),
		pages: desc("ripple_pages", "Pages that the run has visited, or given up together with their host, by state.",
			"state"),
		hosts:    desc("ripple_hosts", "Hosts of the run: active, waiting, suspended, given_up.", "condition"),
		frontier: desc("ripple_frontier_urls", "Pages that wait, as last counted."),
		open:     desc("ripple_open_requests", "Requests that are open: what other answers call fetching."),
		next: desc("ripple_next_request_timestamp_seconds",
			"When the clock of the next host runs out; 0: no host is waiting."),
		state:  desc("ripple_state_bytes", "Size of the state file."),
		outbox: desc("ripple_outbox_messages", "URLs not yet sent to other shards."),
		run: desc("ripple_run_info", "Always 1; the labels identify the run and its status.", "run_id",
			"status"),
	}
}

// Describe implements [prometheus.Collector].
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	g := &c.gauges
	all := []*prometheus.Desc{g.waiting, g.pages, g.hosts, g.frontier, g.open, g.next, g.state, g.outbox, g.run}
	for _, d := range all {
		to <- d
	}
}

// Collect implements [prometheus.Collector]: it exports the moment read by the scrape.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	now := c.moment.Load()
	if now == nil {
		return
	}
	g, s := &c.gauges, &now.Status
	tell := teller(to)
	tellCause(tell, g.waiting, s.Condition.Cause)
	for state := range c.pages {
		if n := c.pages[state].Load() + int64(s.Lost[schema.State(state)]); n != 0 {
			tell(g.pages, float64(n), schema.State(state).String())
		}
	}
	tell(g.hosts, float64(s.Hosts.Active), "active")
	tell(g.hosts, float64(s.Hosts.Waiting), "waiting")
	tell(g.hosts, float64(s.Hosts.Suspended), "suspended")
	tell(g.hosts, float64(s.Hosts.GivenUp), "given_up")
	tell(g.frontier, float64(s.PagesWaiting))
	tell(g.open, float64(s.Fetching))
	tell(g.next, seconds(s.Next))
	tell(g.state, float64(now.State))
	if c.shard {
		tell(g.outbox, float64(now.Outbox))
	}
	tell(g.run, 1, strconv.Itoa(s.RunID), s.Status)
}

// tellCause sends a gauge for each cause of a wait, of which at most one is 1.
func tellCause(tell func(*prometheus.Desc, float64, ...string), d *prometheus.Desc, now census.Cause) {
	for _, cause := range census.Causes() {
		value := 0.0
		if cause == now {
			value = 1
		}
		tell(d, value, string(cause))
	}
}

// memory returns the bytes that the runtime has obtained from the system, less those it has returned.
func memory() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
