package record

import (
	"errors"
	"log/slog"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/crawl/webhook"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A Recorder owns the durable state of a crawl, and what is in memory about its hosts. Its methods must not be
// called concurrently. Only [Recorder.Turn] runs in a transaction of the caller.
type Recorder struct {
	// MostTravelled limits the pages whose depths are propagated in one transaction.
	MostTravelled int
	// Waiting returns the number of pages to visit, as last counted, for the history of the run; nil: unknown.
	Waiting func() int
	// OnRequest is called for each request of a turn, and must not block; may be nil.
	OnRequest func(Request)
	// Enter is called first in the transaction of [Recorder.Begin] that chooses the run; may be nil.
	Enter func(*kv.Tx) error
	// Tells completes the webhook message about the end of the run, and reports whether it is sent. An error keeps
	// the end from being recorded. nil: the message is sent as it is.
	Tells func(*webhook.Run) (bool, error)

	in          runState
	hosts       hosts
	urls        urls
	robots      robotsCache
	quotas      quotas
	renderQueue renderQueue
	ledger      ledger
	pages       pageStore
	builder     visitBuilder
	mazes       mazes
	reach       reach
	delegated   delegatedRequests
	plan        plan
	history     schema.History
	replaying   bool      // the run is an earlier one, whose history stays as it is
	ticked      time.Time // the running time is counted up to here
}

// New returns a recorder of a store, and takes ownership of the store. The recorder has no run before
// [Recorder.Begin]. onVisit is called for each visit, must not block, and may be nil.
func New(store *kv.Store, set *ring.Settings, log *slog.Logger, onVisit func(Event)) *Recorder {
	now := time.Now()
	r := &Recorder{MostTravelled: maxTravelled, ticked: now}
	r.in = runState{
		store: store, set: set, log: log, started: now,
		seeds:  seeds{pages: map[schema.ID]bool{}, hosts: map[schema.HostID][]schema.ID{}},
		speaks: survey.Speakers{},
	}
	in, said := &r.in, listings{}
	begun := start{now, schema.HostID(store.Hosts())}
	r.hosts = hosts{in: in, walk: begun, process: begun, live: newLiveHosts()}
	r.urls = urls{in: in, hosts: &r.hosts}
	r.robots = robotsCache{in: in, hosts: &r.hosts, parsed: map[schema.HostID]*robots.Rules{},
		targets: map[string]*target{}}
	r.mazes = mazes{in: in, hosts: &r.hosts, seen: map[schema.HostID]*trails{}}
	r.quotas = newQuotas(in, &r.hosts, &r.mazes)
	r.renderQueue = newRenderQueue(in, &r.hosts)
	r.ledger = ledger{in: in, onVisit: onVisit}
	r.builder = visitBuilder{in: in, urls: &r.urls, robots: &r.robots, pages: &r.pages}
	r.delegated = newDelegatedRequests(in, &r.hosts, &r.renderQueue, &r.robots)
	r.reach = reach{in: in, hosts: &r.hosts, ledger: &r.ledger, listings: said}
	r.plan = plan{
		in: in, hosts: &r.hosts, robots: &r.robots, quotas: &r.quotas, reach: &r.reach, renderQueue: &r.renderQueue,
	}
	r.plan.chooser = pageChooser{
		in: in, hosts: &r.hosts, ledger: &r.ledger, quotas: &r.quotas, listings: said, cutter: cutter{in: in},
		passed: map[schema.ID]bool{},
	}
	return r
}

// Settings returns the settings that the recorder plans under.
func (r *Recorder) Settings() *ring.Settings { return r.in.set }

// Run returns the current run.
func (r *Recorder) Run() schema.Run { return r.in.run }

// Inherit takes over, before [Recorder.Begin], the clocks of hosts and the answers to redirects of robots.txt from a
// recorder of the same store. That recorder must have no open steps.
func (r *Recorder) Inherit(from *Recorder) {
	r.hosts.live, r.hosts.process = from.hosts.live.clocks(time.Now()), from.hosts.process
	r.robots.inherit(&from.robots)
	r.in.run = from.in.run
}

// open begins a turn.
func (r *Recorder) open(tx *kv.Tx) (turn, error) {
	work, err := tx.Depths.Pending()
	r.in.tx, r.in.now = tx, time.Now()
	r.hosts.begin()
	r.ledger.settled = map[schema.ID]bool{}
	r.reach.work = work
	r.robots.served, r.robots.servedBytes = 0, 0
	return turn{
		in: &r.in, hosts: &r.hosts, urls: &r.urls, robots: &r.robots, quotas: &r.quotas,
		renderQueue: &r.renderQueue, ledger: &r.ledger, builder: &r.builder, mazes: &r.mazes, reach: &r.reach,
		delegated: &r.delegated, plan: &r.plan, onRequest: r.OnRequest,
	}, err
}

// Turn does one transaction of a commit: it applies the news, propagates depths, and plans every host that this
// has touched. more reports that further turns without news are needed, because there are depths to propagate or hosts
// wait for an answer that has arrived. If the transaction fails, the turn and the recorder are void.
func (r *Recorder) Turn(tx *kv.Tx, news ring.News) (effects []ring.Effect, more bool, err error) {
	t, err := r.open(tx)
	if err == nil {
		err = t.applyAll(&news)
	}
	if err == nil { // visits settled from here on needed no request, so they store no page
		err = r.pages.sync(&r.in)
	}
	if err == nil {
		err = r.reach.travel(r.MostTravelled)
	}
	if err == nil {
		effects, err = t.planAll()
	}
	if err == nil {
		err = tx.Depths.SetPending(r.reach.work)
	}
	if err == nil && len(r.hosts.gone) > 0 {
		err = errors.Join(webhook.AddHosts(tx, r.in.set.Config, r.in.run.ID, webhook.HostGivenUp, r.hosts.gone),
			webhook.AddHosts(tx, r.in.set.Config, r.in.run.ID, webhook.HostWalled, r.hosts.walled))
	}
	r.hosts.live.sweep(r.in.now)
	r.tick()
	if err == nil {
		err = r.note(tx)
	}
	return effects, len(r.reach.work)+len(r.robots.servings) > 0, errors.Join(err, tx.Runs.Put(r.in.run))
}

// tick adds the time since the last turn to that of the run.
func (r *Recorder) tick() {
	now := time.Now()
	r.in.run.Running += now.Sub(r.ticked)
	r.ticked = now
}

// note adds a point to the history of the run, if one is due.
func (r *Recorder) note(tx *kv.Tx) error {
	if !r.history.Due(r.in.now) {
		return nil
	}
	return r.mark(tx, r.in.now)
}

// mark adds a point to the history of the run.
func (r *Recorder) mark(tx *kv.Tx, now time.Time) error {
	if r.replaying {
		return nil
	}
	p := schema.Point{At: now, Pages: r.in.run.Pages, Requests: r.in.run.Requests}
	for _, n := range r.in.run.Errors {
		p.Errors += n
	}
	if r.Waiting != nil && !r.in.run.Walked { // what was counted before the walk ended is visited, or beyond a limit
		p.Waiting = r.Waiting()
	}
	r.history.Add(p)
	return tx.Runs.PutHistory(r.in.run.ID, r.history)
}

// EachWaiting calls wake for each host that has work, with the time at which its full delay since the start has
// passed. It keeps no host in memory, because there may be millions.
func (r *Recorder) EachWaiting(wake func(*ring.Effect)) error {
	return r.in.store.View(func(tx *kv.Tx) error {
		return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
			if e, ok := r.plan.atStart(h); ok {
				wake(&e)
			}
			return true, nil
		})
	})
}

// ClosePages ends the writing of the page store.
func (r *Recorder) ClosePages() error { return r.pages.close() }
