package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	censusHosts  = 10_000           // counted at a time, in a few ms
	rateWindow   = 20 * time.Second // that pages per second are measured over
	slowestHosts = 3                // that an ETA names
	refreshWait  = 2 * time.Second  // for a status of now; then an older one does
)

// A crawlStatus is a moment of a running crawl, for a person or a program.
type crawlStatus struct {
	RunID          int            `json:"run_id"`
	Status         string         `json:"status"` // running, paused, stopping, writing
	PID            int            `json:"pid"`
	Elapsed        float64        `json:"elapsed_seconds"`
	PagesVisited   int            `json:"pages_visited"`
	Requests       int            `json:"requests"`
	PagesWaiting   int            `json:"pages_waiting"`
	PagesPerSecond float64        `json:"pages_per_second"`
	Depth          int            `json:"depth"` // the smallest that pages wait at; -1: none waits
	Hosts          hostStatus     `json:"hosts"`
	Errors         map[string]int `json:"errors"`
	ETA            float64        `json:"eta_seconds"` // of what is known; 0: nothing waits
	ETAHosts       []hostETA      `json:"eta_hosts"`   // that determine it
	Waits          string         `json:"waits_for"`   // why nothing is being fetched; empty: something is
}

type hostStatus struct {
	Active    int `json:"active"`
	Waiting   int `json:"waiting"`
	Suspended int `json:"suspended"`
	GivenUp   int `json:"given_up"`
}

// A hostETA says how long a host will take with what waits.
type hostETA struct {
	Domain  string  `json:"domain"`
	Waiting int     `json:"pages_waiting"`
	Seconds float64 `json:"eta_seconds"`
}

// A watcher follows a crawl and keeps its latest status, which may be read from
// any goroutine.
type watcher struct {
	crawl  *crawl.Crawl
	cfg    *atomic.Pointer[config.Config]
	latest atomic.Pointer[crawlStatus]
	asked  chan chan struct{} // to look at once; the inner one is closed then
	ended  chan struct{}      // closed when nobody looks any more

	begun  time.Time
	before time.Duration // that earlier processes worked on the run
	run    schema.Run
	next   schema.HostID // where the census goes on
	round  census        // the one that is being taken
	last   census        // the last whole one
	marks  []rateMark
}

type rateMark struct {
	at    time.Time
	pages int
}

// A census counts what the hosts of a run still have to do.
type census struct {
	waiting, suspended, givenUp int
	depth                       int // smallest; -1: none
	slowest                     []hostETA
	work                        float64 // pages that will be visited
}

func newWatcher(c *crawl.Crawl, cfg *atomic.Pointer[config.Config], run schema.Run) *watcher {
	w := &watcher{
		crawl: c, cfg: cfg, begun: time.Now(), before: run.Running, run: run, next: 1,
		asked: make(chan chan struct{}), ended: make(chan struct{}),
	}
	w.last.depth, w.round.depth = -1, -1
	w.latest.Store(&crawlStatus{RunID: int(run.ID), Status: "running", PID: os.Getpid(), Depth: -1, PagesVisited: run.Pages})
	return w
}

// refresh returns when the latest status is of now, or that cannot be had soon.
// [watcher.follow] runs meanwhile, or is about to.
func (w *watcher) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, refreshWait)
	defer cancel()
	looked := make(chan struct{})
	select {
	case w.asked <- looked:
	case <-w.ended:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-looked:
	case <-ctx.Done():
	}
}

// follow looks at the crawl every second, and when it is asked to, until the crawl
// or ctx has ended, and calls seen after each look. It is called once.
func (w *watcher) follow(ctx context.Context, seen func(*crawlStatus)) error {
	defer close(w.ended)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var looked chan struct{}
	for {
		err := w.look()
		if looked != nil {
			close(looked)
			looked = nil
		}
		if errors.Is(err, crawl.ErrEnded) {
			return nil
		} else if err != nil {
			return err
		}
		seen(w.latest.Load())
		select {
		case <-tick.C:
		case looked = <-w.asked:
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *watcher) look() error {
	var next string
	st, err := w.crawl.Status()
	if err != nil {
		return err
	}
	err = w.crawl.Query(func(store *kv.Store) error {
		return store.View(func(tx *kv.Tx) error {
			var err error
			if w.run, err = tx.Run(w.run.ID); err != nil {
				return err
			}
			if st.NextHost != 0 {
				if next, err = tx.HostName(st.NextHost); err != nil {
					return err
				}
			}
			return w.count(store, tx)
		})
	})
	if err != nil {
		return err
	}
	w.latest.Store(w.status(&st, next))
	return nil
}

// count goes on with the census.
func (w *watcher) count(store *kv.Store, tx *kv.Tx) error {
	seen, cfg := 0, w.cfg.Load()
	perPage := 1.0
	if w.run.Pages > 0 {
		perPage = max(1, float64(w.run.Requests)/float64(w.run.Pages))
	}
	err := tx.EachHost(w.next, func(h *schema.Host) (bool, error) {
		w.round.add(cfg, w.run.ID, store.Generation(), h, perPage)
		w.next = h.ID + 1
		seen++
		return seen < censusHosts, nil
	})
	if int(w.next) > store.Hosts() {
		w.last, w.round, w.next = w.round, census{depth: -1}, 1
	}
	return err
}

func (c *census) add(cfg *config.Config, run schema.RunID, generation uint32, h *schema.Host, perPage float64) {
	if h.Run == run && h.RunGivenUp != schema.NotGivenUp {
		c.givenUp++
		return
	}
	waiting := 0
	if h.Generation == generation {
		waiting = h.Waiting
	}
	left := float64(cfg.Terrain().Budget(h.Name, cfg.Crawler.MaxDomainRequests))
	if h.Run == run {
		waiting += len(h.Retries)
		left -= float64(h.RunRequests)
	}
	if waiting == 0 || left <= 0 {
		return
	}
	c.waiting += waiting
	if len(h.Queues) > 0 {
		if d := int(h.Queues[0].Priority&63) / 2; c.depth < 0 || d < c.depth {
			c.depth = d
		}
	}
	pages := min(float64(waiting), left/perPage)
	c.work += pages
	gap := max(cfg.Crawler.MinimumTimeOnPage, h.CrawlDelay, h.Smoothed) << min(h.Timeouts, 6)
	seconds := pages * perPage * gap.Seconds()
	if rest := time.Until(h.SuspendedTo); h.Throttles > 0 && rest > 0 {
		c.suspended++
		seconds += rest.Seconds()
	}
	c.rank(hostETA{h.Name, waiting, seconds})
}

// rank keeps the hosts that will take longest.
func (c *census) rank(e hostETA) {
	if len(c.slowest) == slowestHosts && c.slowest[slowestHosts-1].Seconds >= e.Seconds {
		return
	}
	c.slowest = append(c.slowest, e)
	slices.SortStableFunc(c.slowest, func(a, b hostETA) int { return cmp.Compare(b.Seconds, a.Seconds) })
	c.slowest = c.slowest[:min(len(c.slowest), slowestHosts)]
}

func (w *watcher) status(st *crawl.Status, next string) *crawlStatus {
	s := &crawlStatus{
		RunID: int(w.run.ID), Status: "running", PID: os.Getpid(),
		Elapsed:      (w.before + time.Since(w.begun)).Round(time.Millisecond).Seconds(),
		PagesVisited: w.run.Pages, Requests: w.run.Requests, PagesWaiting: w.last.waiting,
		PagesPerSecond: w.rate(), Depth: w.last.depth, Errors: w.run.Errors, ETAHosts: w.last.slowest,
		Hosts: hostStatus{
			Active: st.Open, Waiting: st.Hosts.Waiting + st.Hosts.Held + st.Asleep.Waiting + st.Asleep.Held,
			Suspended: w.last.suspended, GivenUp: w.last.givenUp,
		},
	}
	switch {
	case st.Stopped:
		s.Status = "stopping"
	case st.Paused:
		s.Status = "paused"
	}
	if len(w.last.slowest) > 0 {
		s.ETA = w.last.slowest[0].Seconds
	}
	if s.PagesPerSecond > 0 {
		s.ETA = max(s.ETA, w.last.work/s.PagesPerSecond)
	}
	s.Waits = waits(s, st, next)
	return s
}

// rate returns the pages per second of the last while.
func (w *watcher) rate() float64 {
	now := time.Now()
	w.marks = append(w.marks, rateMark{now, w.run.Pages})
	for len(w.marks) > 2 && now.Sub(w.marks[0].at) > rateWindow {
		w.marks = w.marks[1:]
	}
	first := w.marks[0]
	if passed := now.Sub(first.at).Seconds(); passed > 0 {
		return float64(w.run.Pages-first.pages) / passed
	}
	return 0
}

// waits says why nothing is being fetched.
func waits(s *crawlStatus, st *crawl.Status, next string) string {
	switch {
	case st.Open > 0:
		return ""
	case st.Stopped:
		return "stopping"
	case st.Paused:
		return "paused; \"ripple unpause\" goes on"
	case st.Full:
		return "the disk is behind"
	case st.Waking > 0 || st.Hosts.Ready > 0 || st.Asleep.Ready > 0: // about to
		return ""
	case next == "" && s.PagesWaiting > 0:
		return "deciding what is asked next"
	case next == "":
		return "nothing is left to ask"
	}
	text := count(s.Hosts.Waiting, "host waits", "hosts wait")
	rest := time.Until(st.Next)
	if rest < time.Second {
		return text + fmt.Sprintf(", next in a moment: %s", clean(next, 80))
	}
	if s.Hosts.Suspended > 0 && s.Hosts.Suspended == s.Hosts.Waiting {
		text = strings.Replace(text, "wait", "asked for patience and wait", 1)
	}
	return text + fmt.Sprintf(", next in %s: %s", span(rest), clean(next, 80))
}
