// Package meter shows a running crawl to Prometheus.
//
// Counters and histograms are fed after each commit, with what that held, so they agree
// with the state file; everything else is read at the moment of a scrape. No name of a
// host and no URL is ever a label: what a stranger can invent makes no series.
//
// The package owns the names, types and help texts of all that is shown. A new figure is
// a line in describe and one in collect.
package meter

import (
	"context"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// A Moment is what a scrape reads of a crawl.
type Moment struct {
	Status census.Status
	State  int64 // bytes of the state file
}

// A Build says which program crawls.
type Build struct{ Version, Commit, Go string }

// A Meter has the metrics of one crawl. Its methods may be called from any goroutine.
type Meter struct {
	registry *prometheus.Registry
	now      func(context.Context) Moment
	moment   atomic.Pointer[Moment]
	pages    [states]atomic.Int64

	requests *prometheus.CounterVec
	answers  prometheus.Histogram
	commits  prometheus.Histogram
	gauges   gauges
}

// states is the number of states of a page.
const states = int(schema.ContentMismatch) + 1 // no visit ends as foreign

// New returns the metrics of a crawl, whose status now returns.
func New(build Build, now func(context.Context) Moment) *Meter {
	m := &Meter{
		registry: prometheus.NewRegistry(), now: now, gauges: describe(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ripple_requests_total",
			Help: "Requests whose outcome this process has committed, by the status code of the answer; none: no answer.",
		}, []string{"code"}),
		answers: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ripple_request_duration_seconds",
			Help:    "Time from sending a request to the end of its answer, or to its failure, but for waits of this machine.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "ripple_commit_duration_seconds",
			Help:    "Time that it takes to record a batch of outcomes and to sync it to disk.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}),
	}
	built := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ripple_build_info", Help: "Always 1; the labels say which program crawls.",
		ConstLabels: prometheus.Labels{"version": build.Version, "commit": build.Commit, "goversion": build.Go},
	})
	built.Set(1)
	m.registry.MustRegister(m.requests, m.answers, m.commits, built, m)
	return m
}

// Committed counts what a commit held. It costs a fraction of a microsecond a request.
func (m *Meter) Committed(c crawl.Commit) {
	m.commits.Observe(c.Took.Seconds())
	for i := range c.Outcomes {
		o := &c.Outcomes[i]
		if o.Step.Kind == ring.Resolve || o.Moved { // nothing was asked
			continue
		}
		m.requests.WithLabelValues(code(o.Status)).Inc()
		if o.Cause != fetch.NXDomain && o.Cause != fetch.DNSTemporary { // which waits for its turn at a name server
			m.answers.Observe((o.Done.Sub(o.Step.Sent) - o.Waited).Seconds())
		}
	}
}

// code is the label of a status: servers may send any number, and most make no series.
func code(status int) string {
	switch {
	case status == 0:
		return "none"
	case http.StatusText(status) == "":
		return "other"
	}
	return strconv.Itoa(status)
}

// Visited counts a page that was visited, see [crawl.Options].
func (m *Meter) Visited(e crawl.Event) {
	m.pages[e.State].Add(1)
	if e.Again {
		m.pages[e.Was].Add(-1)
	}
}

// Handler answers a scrape.
func (m *Meter) Handler() http.Handler {
	scrape := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := m.now(r.Context())
		m.moment.Store(&now)
		scrape.ServeHTTP(w, r)
	})
}
