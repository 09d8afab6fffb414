package meter

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/census"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/wall"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

func newMeter() (*Meter, *Collector) {
	m := New(Build{"v1.2.3", "abc", "go1.26"})
	return m, m.Whole(running)
}

// running is a moment of a running crawl.
func running(context.Context) Moment {
	return Moment{State: 4096, Outbox: 5, Status: census.Status{
		RunID: 7, Status: "running", PagesWaiting: 9, Fetching: 6, Next: time.UnixMilli(1_700_000_000_500),
		Condition: census.Condition{Cause: census.CauseDisk},
		Hosts:     census.Hosts{Active: 1, Waiting: 2, Suspended: 3, GivenUp: 4},
	}}
}

func scrape(t testing.TB, m *Meter) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// outcome returns the outcome of a request that took a second.
func outcome(status int, cause fetch.Cause) ring.Outcome {
	sent := time.Unix(1, 0)
	return ring.Outcome{Step: ring.Step{Kind: ring.Get, Sent: sent}, Status: status, Cause: cause,
		Done: sent.Add(time.Second)}
}

// fed returns the meter after a short crawl.
func fed() *Meter {
	m, p := newMeter()
	look, moved := outcome(0, fetch.None), outcome(0, fetch.None)
	look.Step.Kind, moved.Moved = ring.Resolve, true
	walled := outcome(403, fetch.None)
	walled.Wall = &wall.Rule{ID: "anubis-challenge"}
	honest, soft, login := outcome(404, fetch.None), outcome(302, fetch.None), outcome(302, fetch.None)
	for _, o := range []*ring.Outcome{&honest, &soft, &login} {
		o.Step.Kind, o.Step.Norm = ring.Probe, "https://a.test/pqrs"
	}
	soft.Location = &ring.Target{URL: weburl.URL{Norm: "https://a.test/"}}
	login.Location = &ring.Target{URL: weburl.URL{Norm: "https://a.test/login"}}
	held := outcome(404, fetch.None)
	held.Done, held.Waited = held.Done.Add(time.Hour), time.Hour
	m.Committed(crawl.Commit{Took: 3 * time.Millisecond, Outcomes: []ring.Outcome{
		outcome(200, fetch.None), outcome(200, fetch.None), held, outcome(999, fetch.None),
		outcome(0, fetch.Refused), outcome(0, fetch.DNSTemporary), look, moved, walled,
		honest, soft, login,
	}})
	p.Visited(crawl.Event{State: schema.Processed})
	p.Visited(crawl.Event{State: schema.DeadLink})
	p.Visited(crawl.Event{State: schema.Processed, Again: true, Was: schema.DeadLink})
	return m
}

// The metrics show what was fed, under the names that dashboards and alerts use.
func TestShown(t *testing.T) {
	var got []string
	for line := range strings.Lines(scrape(t, fed())) {
		if !strings.HasPrefix(line, "#") && !strings.Contains(line, "_bucket") && !strings.Contains(line, "memory") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	want := []string{
		`ripple_build_info{commit="abc",goversion="go1.26",version="v1.2.3"} 1`,
		`ripple_commit_duration_seconds_count 1`, `ripple_commit_duration_seconds_sum 0.003`,
		`ripple_frontier_urls 9`,
		`ripple_hosts{condition="active"} 1`, `ripple_hosts{condition="given_up"} 4`,
		`ripple_hosts{condition="suspended"} 3`, `ripple_hosts{condition="waiting"} 2`,
		`ripple_next_request_timestamp_seconds 1.7000000005e+09`,
		`ripple_missing_page_probes_total{manner="honest"} 1`, `ripple_missing_page_probes_total{manner="soft"} 1`,
		`ripple_missing_page_probes_total{manner="unknown"} 1`,
		`ripple_open_requests 6`,
		`ripple_pages{state="processed"} 2`,
		`ripple_request_duration_seconds_count 9`, `ripple_request_duration_seconds_sum 9`,
		`ripple_requests_total{code="200"} 2`, `ripple_requests_total{code="302"} 2`,
		`ripple_requests_total{code="403"} 1`, `ripple_requests_total{code="404"} 2`,
		`ripple_requests_total{code="none"} 2`, `ripple_requests_total{code="other"} 1`,
		`ripple_run_info{run_id="7",status="running"} 1`,
		`ripple_state_bytes 4096`,
		`ripple_walls_total{rule="anubis-challenge"} 1`,
		`ripple_waiting{for="disk"} 1`, `ripple_waiting{for="hub"} 0`, `ripple_waiting{for="network"} 0`,
		`ripple_waiting{for="people"} 0`, `ripple_waiting{for="shard"} 0`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if memory := regexp.MustCompile(`(?m)^ripple_memory_bytes [1-9]`); !memory.MatchString(scrape(t, fed())) {
		t.Error("the memory of the process is missing")
	}
}

// Names, types, units and help texts follow the conventions of Prometheus.
func TestConventions(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(scrape(t, fed()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Whatever servers answer, the number of series is bounded.
func TestSeriesAreBounded(t *testing.T) {
	m, p := newMeter()
	for status := range 2000 {
		m.Committed(crawl.Commit{Outcomes: []ring.Outcome{outcome(status, fetch.None)}})
	}
	for state := range schema.StateCount {
		p.Visited(crawl.Event{State: state, URL: "https://a.test/"})
	}
	text := scrape(t, m)
	if n := strings.Count(text, "\n"); n > 250 {
		t.Errorf("%d lines", n)
	}
	if strings.Contains(text, "a.test") {
		t.Error("a URL is a label")
	}
}

// Concurrent scrapes and the crawl do not interfere.
func TestScrapesAtOnce(t *testing.T) {
	m, p := newMeter()
	var g sync.WaitGroup
	for range 4 {
		g.Go(func() {
			for range 50 {
				m.Committed(crawl.Commit{Outcomes: []ring.Outcome{outcome(200, fetch.None)}})
				p.Visited(crawl.Event{State: schema.Processed})
			}
		})
	}
	for range 20 {
		scrape(t, m)
	}
	g.Wait()
	if text := scrape(t, m); !strings.Contains(text, "ripple_requests_total{code=\"200\"} 200\n") ||
		!strings.Contains(text, "ripple_pages{state=\"processed\"} 200\n") {
		t.Error(text)
	}
}

// A resumed run shows the pages visited before, each once, and no others.
func TestRecall(t *testing.T) {
	store := crawltest.Open(t, filepath.Join(t.TempDir(), "state.bolt"))
	const n = 2*atOnce + 10
	err := store.Update(func(tx *kv.Tx) error {
		h, err := tx.Hosts.Add("a.test")
		for i := 0; i < n && err == nil; i++ {
			kind, path := schema.KindPage, fmt.Sprintf("/%d", i)
			if i == n-1 {
				kind = schema.KindSitemap
			}
			u := schema.URL{Kind: kind, Host: h.ID, PathQuery: path, FirstSeen: time.Unix(1, 0), FirstRun: 1}
			_, err = tx.URLs.Add(u, store.Hash(kind, "https://a.test"+path))
		}
		return err
	})
	visit := func(id schema.ID, state schema.State) {
		err = store.Update(func(tx *kv.Tx) error {
			_, err := tx.Visits.Add(&schema.Visit{URL: id, Run: 1, At: time.Unix(1, 0), State: state, Length: -1})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	visit(1, schema.Failed) // of the previous run
	first := store.LastSeq() + 1
	err = store.Update(func(tx *kv.Tx) error {
		for id := schema.ID(1); id <= n && err == nil; id++ {
			_, err = tx.Visits.Add(&schema.Visit{URL: id, Run: 2, At: time.Unix(1, 0), State: schema.Processed,
				Length: -1})
		}
		return err
	})
	visit(2, schema.DeadLink)
	last := store.LastSeq()
	visit(3, schema.DeadLink) // counted by the crawl itself
	m, p := newMeter()
	if err := p.Recall(store.View, first, last); err != nil {
		t.Fatal(err)
	}
	text := scrape(t, m)
	for _, want := range []string{fmt.Sprintf("ripple_pages{state=\"processed\"} %d\n", n-2),
		"ripple_pages{state=\"dead_link\"} 1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "failed") {
		t.Error("a visit of an earlier run is counted")
	}
}

// BenchmarkCommitted measures the cost per request.
func BenchmarkCommitted(b *testing.B) {
	m, p := newMeter()
	c := crawl.Commit{Took: time.Millisecond, Outcomes: []ring.Outcome{outcome(200, fetch.None)}}
	e := crawl.Event{State: schema.Processed}
	b.ReportAllocs()
	for b.Loop() {
		m.Committed(c)
		p.Visited(e)
	}
}
