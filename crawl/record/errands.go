package record

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
)

// Bounds on what is done for other shards: errands that are open, and the memory of reports,
// of which the oldest goes first.
const (
	maxErrands     = 1024
	maxLent        = 64 // of them: for scripts, of one host, which others may not have to wait for
	maxReports     = 4096
	maxReportBytes = 32 << 20
)

// How long another shard is left alone that has no report yet: at first, and at most.
const (
	firstErrandWait = 250 * time.Millisecond
	lastErrandWait  = 30 * time.Second
)

// errands are the requests that hosts are asked for other shards: for a robots.txt, which the
// lines of the hosts hold like those for their own, and for what scripts want, which is got as
// for pages of this shard, so that all shards get one answer. All of it is in memory: who wants
// a report asks for it until it comes, and one that is lost is got again.
type errands struct {
	in      *scope
	hosts   *hosts
	renders *renders
	book    *book
	open    map[errandKey]bool
	reports map[errandKey]ring.Report
	oldest  []errandKey // of reports
	size    int         // bytes of their bodies
}

type errandKey struct {
	from int
	id   uint64
}

func keyOf(e *ring.Errand) errandKey { return errandKey{e.From, e.ID} }

func newErrands(in *scope, hosts *hosts, renders *renders, book *book) errands {
	return errands{in: in, hosts: hosts, renders: renders, book: book, open: map[errandKey]bool{},
		reports: map[errandKey]ring.Report{}}
}

// begin has a host asked, unless it is already, or so many are that the shard has to ask
// again.
func (es *errands) begin(e ring.Errand) error {
	if e.Kind == ring.Asset {
		return es.renders.lend(e.URL)
	}
	key := keyOf(&e)
	if _, known := es.reports[key]; known || es.open[key] || len(es.open) >= maxErrands {
		return nil
	}
	u, err := es.in.set.Rules.Parse(e.URL)
	if err != nil || u.Form != e.URL || es.in.store.ForeignName(u.Host()) ||
		!es.in.set.Terrain.Classify(u.Norm).Class.Visitable() {
		es.unasked(key)
		return nil
	}
	id, err := es.hosts.identify(u.Host())
	if err != nil {
		return err
	}
	h, err := es.hosts.load(id)
	if err != nil {
		return err
	}
	if noMore(es.in, h) {
		es.unasked(key)
		return nil
	}
	switch why, err := es.book.refuses(h, e.URL); {
	case err != nil:
		return err
	case why == schema.CauseRobots && !clock.TriedOut(es.in.set.Config, h):
		return nil // the shard asks again
	case why != schema.CauseNone:
		es.keep(key, ring.Report{Cause: why})
		return nil
	}
	es.open[key] = true
	es.hosts.put(h)
	es.hosts.live.of(id).goOn(ring.Step{
		Kind: ring.Robots, Host: id, URL: e.URL, Timeout: es.in.set.Timeout(0), Settings: es.in.set, Errand: &e,
	})
	es.hosts.touch(id)
	return nil
}

// noMore reports whether a host is not even asked for what the robots.txt of another one is.
func noMore(in *scope, h *schema.Host) bool {
	return h.RunGivenUp == schema.GaveUpConnection || h.RunGivenUp == schema.GaveUpRateLimit ||
		in.set.Config.AsksTooMuch(h)
}

// apply takes the outcome of an errand. One that was cut short is forgotten.
func (es *errands) apply(h *schema.Host, live *liveHost, o *ring.Outcome) {
	switch v := judge.Robots(o, h.Name, false); v.Act {
	case judge.Forget:
		delete(es.open, keyOf(o.Step.Errand))
		return
	case judge.Ask:
		live.goOn(*v.Next)
		return
	case judge.TryLater:
		es.hosts.giveUpUnreached(h, o.Reason())
	}
	es.keep(keyOf(o.Step.Errand), o.Report())
}

// unasked reports that the host is not asked.
func (es *errands) unasked(key errandKey) {
	es.keep(key, ring.Report{Cause: schema.CauseTargetGivenUp})
}

// keep holds a report for the shard that wants it.
func (es *errands) keep(key errandKey, r ring.Report) {
	delete(es.open, key)
	if len(r.Body) > robots.MaxBytes {
		r.Body = r.Body[:robots.MaxBytes]
	}
	es.reports[key] = r
	es.oldest = append(es.oldest, key)
	es.size += len(r.Body)
	for len(es.oldest) > maxReports || es.size > maxReportBytes {
		es.size -= len(es.reports[es.oldest[0]].Body)
		delete(es.reports, es.oldest[0])
		es.oldest = es.oldest[1:]
	}
}

// Report returns what has come of an errand of another shard, if something has.
func (r *Recorder) Report(e ring.Errand) (report ring.Report, known bool) {
	report, known = r.errands.reports[keyOf(&e)]
	return report, known
}

// Lends reports whether what scripts of another shard want is being asked for on its behalf.
func (r *Recorder) Lends(url string) bool { return r.renders.lent[url] }

// sent takes what another shard says of an errand, or that it has nothing to say yet. Its
// host has no clock here; one that is only waited for paces the next letter.
func (t *turn) sent(h *schema.Host, live *liveHost, o *ring.Outcome) error {
	if o.Step.Kind == ring.Asset {
		t.brought(live, o)
		return nil
	}
	if o.Moved {
		live.ready = t.in.now.Add(errandWait(o.Step.Moves))
		live.moved(o.Step)
		return nil
	}
	v := judge.Robots(o, h.Name, false)
	t.ledger.tellVerdict(o, v.Act.String(), v.Reason)
	return t.book.apply(h, o, v)
}

// errandWait is how long another shard is left alone that had nothing to report so often
// before.
func errandWait(before int) time.Duration {
	if before < 7 {
		return firstErrandWait << before
	}
	return lastErrandWait
}

// brought takes what another shard says of what scripts want, or asks it again later.
func (t *turn) brought(live *liveHost, o *ring.Outcome) {
	again := asset{url: o.Step.URL, tries: o.Step.Visit.Retries}
	switch {
	case o.Moved:
		again.due = t.in.now.Add(errandWait(again.tries))
		again.tries++
	case o.Answered():
		t.renders.answer(o.Step.URL, o.Answer)
		return
	}
	live.assets = append(live.assets, again)
}
