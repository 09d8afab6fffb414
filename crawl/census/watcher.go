package census

import (
	"context"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

const (
	atOnce      = 10_000           // hosts that all watchers of a process count at a time; takes a few ms
	leastAtOnce = 100              // minimum number of hosts each of them counts
	rateWindow  = 20 * time.Second // over which pages per second are measured
	rateLeast   = 5 * time.Second  // that it must cover before it says how long the crawl will take
	refreshWait = 2 * time.Second  // to wait for a current status before using an older one
)

// A Watcher follows a crawl and keeps its latest status, which may be read from
// any goroutine.
type Watcher struct {
	crawl  *crawl.Crawl
	cfg    *atomic.Pointer[config.Config]
	latest atomic.Pointer[Status]
	told   atomic.Pointer[[]Origin]
	asked  chan chan struct{} // requests for an immediate look; the inner channel is closed afterwards
	ended  chan struct{}      // closed when Follow has returned

	begun  time.Time
	since  time.Time     // start of the time that counts against max-run-time
	before time.Duration // time that earlier processes worked on the run
	run    schema.Run
	pace   Pace
	next   schema.HostID // where the census continues
	round  count         // the current round
	last   count         // the last complete round
	given  map[schema.HostID]unasked
	marks  []rateMark
}

// watching is the number of watchers in this process.
var watching atomic.Int64

type rateMark struct {
	at    time.Time
	pages int
}

// NewWatcher returns a watcher of c, which crawls run.
func NewWatcher(c *crawl.Crawl, cfg *atomic.Pointer[config.Config], run schema.Run) *Watcher {
	w := &Watcher{
		crawl: c, cfg: cfg, begun: time.Now(), before: run.Running, run: run, next: 1,
		asked: make(chan chan struct{}), ended: make(chan struct{}), given: map[schema.HostID]unasked{},
	}
	if w.since = w.begun; c != nil {
		w.since = c.Since()
	}
	w.last.depth, w.round.depth = -1, -1
	w.told.Store(&[]Origin{})
	w.latest.Store(&Status{RunID: int(run.ID), Status: "running", PID: os.Getpid(), Pages: run.Pages,
		Rendered: run.Rendered, Unrendered: run.Unrendered,
		Groups: []Group{}, Left: Left{Depth: -1}})
	return w
}

// Ended returns the status of a run that no process is working on, with the given errors by kind.
func Ended(tx *kv.Tx, run schema.Run, errs map[string]int) (Status, error) {
	s := Status{
		RunID: int(run.ID), Status: run.Status.String(), Elapsed: run.Running.Seconds(), Pages: run.Pages,
		Rendered: run.Rendered, Unrendered: run.Unrendered, Requests: run.Requests, Errors: errs,
		Left: Left{Depth: -1},
	}
	err := tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
		if h.Trouble(run.ID).Kind == schema.TroubleGivenUp {
			s.Hosts.GivenUp++
		}
		return true, nil
	})
	return s, err
}

// Latest returns the latest status.
func (w *Watcher) Latest() Status { return *w.latest.Load() }

// Origins returns the run's progress by origin, slowest first and at most [MaxOrigins], as of the last
// complete pass over all hosts. A pass takes a second for every 10,000 hosts in all crawls of the process.
func (w *Watcher) Origins() []Origin {
	left := w.Latest().Left
	return left.within(*w.told.Load())
}

// Refresh returns once the latest status is current, or after a short time-out. [Watcher.Follow] must be
// running or about to.
func (w *Watcher) Refresh(ctx context.Context) {
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

// Follow looks at the crawl every second and on [Watcher.Refresh], until the crawl or ctx has ended, and
// calls seen after each look. It must be called only once.
func (w *Watcher) Follow(ctx context.Context, seen func(Status)) error {
	defer close(w.ended)
	watching.Add(1)
	defer watching.Add(-1)
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
		seen(w.Latest())
		select {
		case <-tick.C:
		case looked = <-w.asked:
		case <-ctx.Done():
			return nil
		}
	}
}

// End sets the latest status from the file of a crawl that has ended; the last look may be a second old, and
// the last pass over all hosts older. Follow must have returned.
func (w *Watcher) End(store *kv.Store) error {
	w.round, w.next = count{depth: -1}, 1
	err := store.View(func(tx *kv.Tx) (err error) {
		if w.run, err = tx.Runs.At(w.run.ID); err != nil {
			return err
		}
		for {
			if err := w.countHosts(store, tx, nil); err != nil || w.next == 1 {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	s := w.status(&crawl.Status{Stopped: true}, nil, nextHost{})
	s.Elapsed, s.Left = w.run.Running.Seconds(), w.last.leftBy(w.pace)
	s.rest()
	w.latest.Store(s)
	return nil
}

func (w *Watcher) look() error {
	var next nextHost
	st, err := w.crawl.Status()
	if err != nil {
		return err
	}
	flights := w.crawl.Flights()
	hushes := hushesOf(flights, w.crawl.Held(), time.Now())
	err = w.crawl.Query(func(store *kv.Store) error {
		return store.View(func(tx *kv.Tx) error {
			var err error
			if w.run, err = tx.Runs.At(w.run.ID); err != nil {
				return err
			}
			if st.NextHost != 0 {
				if next, err = w.nextHost(tx, st.NextHost); err != nil {
					return err
				}
			}
			return w.countHosts(store, tx, hushes)
		})
	})
	if err != nil {
		return err
	}
	w.latest.Store(w.status(&st, flights, next))
	return nil
}

// countHosts continues the census.
func (w *Watcher) countHosts(store *kv.Store, tx *kv.Tx, hushes map[schema.HostID]hush) error {
	seen, most := 0, max(leastAtOnce, atOnce/max(1, int(watching.Load())))
	w.keepPace(tx)
	err := tx.Hosts.Each(w.next, func(h *schema.Host) (bool, error) {
		w.round.add(w.pace, store.Generation(), h, hushes[h.ID])
		w.next = h.ID + 1
		seen++
		return seen < most, w.addUnasked(store, tx, h)
	})
	if int(w.next) > store.Hosts() {
		w.last, w.round, w.next = w.round, count{depth: -1}, 1
		origins := w.last.foremost()
		w.told.Store(&origins)
	}
	return err
}

// keepPace updates the pace, which looks up hosts in a transaction. Under a changed configuration
// the census starts over.
func (w *Watcher) keepPace(tx *kv.Tx) {
	if cfg := w.cfg.Load(); w.pace.cfg != cfg {
		w.pace = NewPace(cfg, &w.run, nil)
		w.round, w.next = count{depth: -1}, 1
	}
	w.pace = w.pace.at(&w.run)
	w.pace.find = finder(tx)
}

// A nextHost is the host to be requested next, and why it waits until then.
type nextHost struct{ name, why string }

func (w *Watcher) nextHost(tx *kv.Tx, id schema.HostID) (nextHost, error) {
	w.keepPace(tx)
	h, err := tx.Hosts.At(id)
	if err != nil {
		return nextHost{}, err
	}
	return nextHost{h.Name, w.pace.whyNext(h)}, nil
}

func (w *Watcher) status(st *crawl.Status, flights []crawl.Flight, next nextHost) *Status {
	s := &Status{
		RunID: int(w.run.ID), Status: "running", PID: os.Getpid(),
		Elapsed: (w.before + time.Since(w.begun)).Round(time.Millisecond).Seconds(),
		Pages:   w.run.Pages, Rendered: w.run.Rendered, Unrendered: w.run.Unrendered,
		Requests: w.run.Requests, PagesWaiting: w.last.waiting, PagesPerSecond: w.rate(), Next: st.Next,
		Left: w.last.left(w.pace), Errors: w.errors(), Lost: w.last.lost,
		Troubles: w.last.told(), Troubled: w.last.troubled, Groups: w.last.grouped(),
		Hosts: Hosts{Active: hostsOf(flights), Suspended: w.last.suspended, GivenUp: w.last.givenUp},
	}
	// The schedule lacks hosts whose answers are being recorded. The census has them, and may be behind it.
	s.Hosts.Waiting = max(st.Hosts.Sum()+st.Asleep.Sum(), w.last.hosts-s.Hosts.Active)
	switch {
	case st.Stopped:
		s.Status = "stopping"
	case st.Paused:
		s.Status = "paused"
	}
	if s.PagesPerSecond > 0 && w.measured() >= rateLeast {
		s.ETA = max(s.ETA, float64(s.PagesToVisit)/s.PagesPerSecond)
	}
	s.Fetching = len(flights)
	if s.Wait = waitOf(st, s.PagesToVisit, next); !s.Wait.Since.IsZero() {
		since := s.Wait.Since.UTC()
		s.WaitsSince = &since
	}
	if s.ETA > 0 { // the hosts of a recreated file rest for longer
		s.ETA = max(s.ETA, s.Wait.Rest.Seconds())
	}
	s.endBy(w.pace.cfg.Crawler.MaxRunTime, time.Since(w.since))
	if s.rests() {
		s.rest()
	}
	if s.Wait.Cause() != NoCause {
		s.noETA()
	}
	if s.rests() { // the rate is measured again from the next request
		w.marks = nil
	}
	return s
}

// hostsOf returns the number of hosts with open requests.
func hostsOf(flights []crawl.Flight) int {
	hosts := map[schema.HostID]bool{}
	for _, f := range flights {
		hosts[f.Host] = true
	}
	return len(hosts)
}

// rate returns the pages per second within rateWindow.
func (w *Watcher) rate() float64 {
	now := time.Now()
	w.marks = append(w.marks, rateMark{now, w.run.Pages})
	for len(w.marks) > 2 && now.Sub(w.marks[0].at) > rateWindow {
		w.marks = w.marks[1:]
	}
	if passed := w.measured().Seconds(); passed > 0 {
		return float64(w.run.Pages-w.marks[0].pages) / passed
	}
	return 0
}

// measured returns the time over which the rate is measured.
func (w *Watcher) measured() time.Duration {
	return w.marks[len(w.marks)-1].at.Sub(w.marks[0].at)
}
