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

// A Recorder owns what is durable of a crawl, and what is in memory of its hosts. Its
// methods may not be called at the same time; none of them but [Recorder.Turn] runs in
// a transaction of the caller.
type Recorder struct {
	// MostTravelled is the number of pages whose depth travels on in one transaction.
	MostTravelled int
	// OnRequest is called for each request of a turn, and must not block; nil: nobody is
	// told.
	OnRequest func(Request)
	// Enter is called first of all in the transaction of [Recorder.Begin] that chooses the
	// run; nil: there is nothing to do.
	Enter func(*kv.Tx) error
	// Tells completes what is told of the end of the run, and reports whether it is told; an
	// error keeps the end from being written. nil: it is told as it is.
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
	reach       reach
	delegated   delegatedRequests
	plan        plan
	ticked      time.Time // until when the run's time is counted
}

// New returns a recorder of a store, which belongs to it until the recorder is let go
// of. It has no run before [Recorder.Begin]. onVisit is called for each visit, must not
// block, and may be nil.
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
	r.quotas = newQuotas(in, &r.hosts)
	r.renderQueue = newRenderQueue(in, &r.hosts)
	r.ledger = ledger{in: in, onVisit: onVisit}
	r.builder = visitBuilder{in: in, urls: &r.urls, pages: &r.pages}
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

// Settings are those that the recorder plans under.
func (r *Recorder) Settings() *ring.Settings { return r.in.set }

// Run is the run as it stands.
func (r *Recorder) Run() schema.Run { return r.in.run }

// Inherit takes over, before [Recorder.Begin], which hosts may not be asked yet, and
// since when the others were not asked, and what robots.txt redirect to, from a recorder of
// the same store that has no step out any more.
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
		renderQueue: &r.renderQueue, ledger: &r.ledger, builder: &r.builder, reach: &r.reach, delegated: &r.delegated,
		plan: &r.plan, onRequest: r.OnRequest,
	}, err
}

// Turn does one transaction of a commit: it applies what is new, lets depths travel on, and
// plans every host that this has touched. There is more to do, by further turns without
// news, while depths have to travel on, or hosts wait for an answer that is there. It is void if the
// transaction fails, and so is the recorder.
func (r *Recorder) Turn(tx *kv.Tx, news ring.News) (effects []ring.Effect, more bool, err error) {
	t, err := r.open(tx)
	if err == nil {
		err = t.applyAll(&news)
	}
	if err == nil { // what is settled from here on stores no page: it needed no request
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
		err = webhook.AddHosts(tx, r.in.set.Config, r.in.run.ID, r.hosts.gone)
	}
	r.hosts.live.sweep(r.in.now)
	r.tick()
	return effects, len(r.reach.work)+len(r.robots.servings) > 0, errors.Join(err, tx.Runs.Put(r.in.run))
}

// tick adds the time since the last turn to the run's.
func (r *Recorder) tick() {
	now := time.Now()
	r.in.run.Running += now.Sub(r.ticked)
	r.ticked = now
}

// EachWaiting gives the hosts that have something to do, to be woken when their full
// delay since the start has passed. It keeps nothing of them: there may be millions.
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
