package meter

import (
	"runtime/metrics"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sumi-ripple/ripple/schema"
)

// gauges describe what is read at the moment of a scrape.
type gauges struct {
	pages, hosts, frontier, open, next, state, memory, run *prometheus.Desc
}

func describe() gauges {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return gauges{
		pages:    desc("ripple_pages", "Pages that the run has visited, by their state.", "state"),
		hosts:    desc("ripple_hosts", "Hosts of the run: active, waiting, suspended, given_up.", "condition"),
		frontier: desc("ripple_frontier_urls", "Pages that wait, as last counted."),
		open:     desc("ripple_open_requests", "Requests that are open."),
		next: desc("ripple_next_request_timestamp_seconds",
			"When the clock of the next host runs out; 0: none is waited for."),
		state:  desc("ripple_state_bytes", "Size of the state file."),
		memory: desc("ripple_memory_bytes", "Memory of the process that was not given back to the system."),
		run:    desc("ripple_run_info", "Always 1; the labels say which run it is, and what it does.", "run_id", "status"),
	}
}

// Describe implements [prometheus.Collector].
func (m *Meter) Describe(to chan<- *prometheus.Desc) {
	g := &m.gauges
	for _, d := range []*prometheus.Desc{g.pages, g.hosts, g.frontier, g.open, g.next, g.state, g.memory, g.run} {
		to <- d
	}
}

// Collect implements [prometheus.Collector]: it shows the moment that the scrape has read.
func (m *Meter) Collect(to chan<- prometheus.Metric) {
	now := m.moment.Load()
	if now == nil {
		return
	}
	g, s := &m.gauges, &now.Status
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for state := range m.pages {
		if n := m.pages[state].Load(); n != 0 {
			tell(g.pages, float64(n), schema.State(state).String())
		}
	}
	tell(g.hosts, float64(s.Hosts.Active), "active")
	tell(g.hosts, float64(s.Hosts.Waiting), "waiting")
	tell(g.hosts, float64(s.Hosts.Suspended), "suspended")
	tell(g.hosts, float64(s.Hosts.GivenUp), "given_up")
	tell(g.frontier, float64(s.PagesWaiting))
	tell(g.open, float64(s.Hosts.Active))
	next := 0.0
	if !s.Next.IsZero() {
		next = float64(s.Next.UnixMilli()) / 1000
	}
	tell(g.next, next)
	tell(g.state, float64(now.State))
	tell(g.memory, float64(memory()))
	tell(g.run, 1, strconv.Itoa(s.RunID), s.Status)
}

// memory is what the runtime has from the system, less what it has given back.
func memory() uint64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
