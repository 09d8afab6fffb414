package meter

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sumi-ripple/ripple/crawl/census"
)

// A Terrain is what a scrape reads of a terrain that spans several machines, as one of them sees it.
type Terrain struct {
	Seen   time.Time    // last look; zero: never
	Cause  census.Cause // what the terrain waits for, or this machine
	Nodes  int
	Shards map[string]int    // by state
	Silent map[int]time.Time // by shard that does not answer the shards waiting for it: since when
}

// Terrain exports the state of a terrain, as returned by now.
func (m *Meter) Terrain(now func(context.Context) Terrain) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("ripple_terrain_"+name, help+" All machines show the same.", labels, nil)
	}
	v := &view{
		now:  now,
		seen: desc("seen_timestamp_seconds", "Time of the last look at the shards of the terrain; 0: never."),
		waiting: desc("waiting", "What the terrain waits for, if not for hosts: 1 for that, 0 for all else. "+
			"A machine without a hub shows only that.", "for"),
		nodes: desc("nodes", "Machines that have joined."), shards: desc("shards", "Shards by their state.", "state"),
		silent: desc("silent_since_timestamp_seconds", "Since when a shard has not answered others that wait for it.",
			"shard"),
		oldest: desc("oldest_wait_timestamp_seconds",
			"Start of the oldest wait for a silent shard; 0: none."),
	}
	m.registry.MustRegister(v)
	m.show(v, true)
}

// A view exports a terrain.
type view struct {
	now    func(context.Context) Terrain
	moment atomic.Pointer[Terrain]

	seen, waiting, nodes, shards, silent, oldest *prometheus.Desc
}

func (v *view) read(ctx context.Context) {
	now := v.now(ctx)
	v.moment.Store(&now)
}

// Describe implements [prometheus.Collector].
func (v *view) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{v.seen, v.waiting, v.nodes, v.shards, v.silent, v.oldest} {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. A terrain that was never seen has no figures.
func (v *view) Collect(to chan<- prometheus.Metric) {
	now := v.moment.Load()
	if now == nil {
		return
	}
	tell := teller(to)
	tell(v.seen, seconds(now.Seen))
	if !now.Seen.IsZero() || now.Cause != census.NoCause {
		tellCause(tell, v.waiting, now.Cause)
	}
	if now.Seen.IsZero() {
		return
	}
	tell(v.nodes, float64(now.Nodes))
	for state, n := range now.Shards {
		tell(v.shards, float64(n), state)
	}
	var oldest time.Time
	for shard, since := range now.Silent {
		tell(v.silent, seconds(since), strconv.Itoa(shard))
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
	}
	tell(v.oldest, seconds(oldest))
}

// teller returns a function that sends gauges.
func teller(to chan<- prometheus.Metric) func(d *prometheus.Desc, value float64, labels ...string) {
	return func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
}

// seconds returns a Prometheus timestamp; 0 for the zero time.
func seconds(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}
