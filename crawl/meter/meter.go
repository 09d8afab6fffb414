// Package meter exports metrics of running crawls to Prometheus: of one crawl for a whole terrain, or of the
// shards that a node holds.
//
// Counters and histograms belong to the process and are updated after each commit, so they agree with the
// state files. Everything else is read at scrape time, from each crawl separately; several crawls have the
// label shard, and sums over it count nothing twice. Names of hosts, nodes and pages are never labels, so
// outsiders cannot create series.
//
// The package owns the names, types and help texts of all metrics. A new counter or histogram is declared in New and
// updated in Committed. A new value read at scrape time is a field of gauges, a line in describe and in Describe, and
// one in Collect; one of a whole terrain is in terrain.go. Each needs a panel in grafana.json (cmd/ripple/docs).
package meter

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema/missing"
)

// A Build identifies the crawling program.
type Build struct{ Version, Commit, Go string }

// A Meter holds the metrics of the crawls of a process. Its methods are safe for concurrent use.
type Meter struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	walls    *prometheus.CounterVec
	probes   *prometheus.CounterVec
	answers  prometheus.Histogram
	commits  prometheus.Histogram

	mu    sync.Mutex
	shown map[shown]bool // sources read before a scrape
}

// A shown source has values that are read at scrape time.
type shown interface {
	read(context.Context)
}

// New returns the metrics of a process that is not crawling yet.
func New(build Build) *Meter {
	m := &Meter{
		registry: prometheus.NewRegistry(), shown: map[shown]bool{},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ripple_requests_total",
			Help: "Requests whose outcome this process has committed, by the status code of the answer; " +
				"none: no answer.",
		}, []string{"code"}),
		walls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ripple_walls_total",
			Help: "Answers that were walls instead of pages, among those in ripple_requests_total, by the rule that " +
				"recognised them.",
		}, []string{"rule"}),
		probes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ripple_missing_page_probes_total",
			Help: "Requests for pages that do not exist, among those in ripple_requests_total, by how the host answered: " +
				"honest (404 or 410), soft (as for a page that exists), unknown.",
		}, []string{"manner"}),
		answers: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "ripple_request_duration_seconds",
			Help: "Time from sending a request to the end of its answer, or to its failure, excluding waits on this " +
				"machine.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ripple_commit_duration_seconds",
			Help:    "Time to record a batch of outcomes and sync it to disk.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}),
	}
	built := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ripple_build_info", Help: "Always 1; the labels identify the crawling program.",
		ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "goversion": build.Go},
	})
	built.Set(1)
	held := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "ripple_memory_bytes", Help: "Memory of the process that has not been returned to the system.",
	}, func() float64 { return float64(memory()) })
	m.registry.MustRegister(m.requests, m.walls, m.probes, m.answers, m.commits, built, held)
	return m
}

// Committed counts the outcomes of a commit. It costs a fraction of a microsecond per request.
func (m *Meter) Committed(c crawl.Commit) {
	m.commits.Observe(c.Took.Seconds())
	for i := range c.Outcomes {
		o := &c.Outcomes[i]
		if o.Step.Kind == ring.Resolve || o.Moved { // no request was made
			continue
		}
		m.requests.WithLabelValues(code(o.Status)).Inc()
		if o.Wall != nil {
			m.walls.WithLabelValues(o.Wall.ID).Inc()
		}
		if o.Step.Kind == ring.Probe && o.Cause != fetch.Cancelled {
			answer := o.MissingProbe(1) // it depends on no run
			m.probes.WithLabelValues(missing.MannerOf(&answer).String()).Inc()
		}
		if o.Cause != fetch.NXDomain && o.Cause != fetch.DNSTemporary { // such failures include the wait for a name server
			m.answers.Observe((o.Done.Sub(o.Step.Sent) - o.Waited).Seconds())
		}
	}
}

// code returns the label of a status. Servers may send any number; unknown ones share the label other.
func code(status int) string {
	switch {
	case status == 0:
		return "none"
	case http.StatusText(status) == "":
		return "other"
	}
	return strconv.Itoa(status)
}

// show starts or stops reading a source before each scrape.
func (m *Meter) show(s shown, shows bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if shows {
		m.shown[s] = true
	} else {
		delete(m.shown, s)
	}
}

// read reads all sources concurrently, because each may wait for a commit.
func (m *Meter) read(ctx context.Context) {
	m.mu.Lock()
	var g errgroup.Group
	for s := range m.shown {
		g.Go(func() error { s.read(ctx); return nil })
	}
	m.mu.Unlock()
	_ = g.Wait()
}

// Handler returns a handler that answers scrapes.
func (m *Meter) Handler() http.Handler {
	scrape := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.read(r.Context())
		scrape.ServeHTTP(w, r)
	})
}
