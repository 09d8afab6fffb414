package record

import (
	"time"

	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/crawl/robots"
	"github.com/sumi-ripple/ripple/schema"
)

// Limits of the work for other shards: open requests, and the memory of their reports. The oldest report is
// dropped first.
const (
	maxErrands     = 1024
	maxLent        = 64 // of them, for scripts and to one host; its own pages must not wait for more
	maxReports     = 4096
	maxReportBytes = 32 << 20
)

// How long to wait before a shard without a report is queried again: at first, and at most.
const (
	firstErrandWait = 250 * time.Millisecond
	lastErrandWait  = 30 * time.Second
)

// delegatedRequests are the requests that this shard makes to its hosts for other shards: for the targets of
// robots.txt redirects, and for resources that scripts load. They share the answers with requests of this shard,
// so that all shards see the same one. All of it is in memory: a shard asks for a report until it gets one, and a
// lost report is fetched again.
type delegatedRequests struct {
	in          *runState
	hosts       *hosts
	renderQueue *renderQueue
	robots      *robotsCache
	open        map[errandKey]string // their URLs
	reports     map[errandKey]ring.Report
	oldest      []errandKey // of reports
	size        int         // bytes of their bodies
}

type errandKey struct {
	from int
	id   uint64
}

func keyOf(e *ring.Errand) errandKey { return errandKey{e.From, e.ID} }

func newDelegatedRequests(in *runState, hosts *hosts, queue *renderQueue, cache *robotsCache) delegatedRequests {
	return delegatedRequests{in: in, hosts: hosts, renderQueue: queue, robots: cache, open: map[errandKey]string{},
		reports: map[errandKey]ring.Report{}}
}

// begin queues a request for another shard, unless it is queued already. If too many are open, the other shard
// repeats it later.
func (d *delegatedRequests) begin(e ring.Errand) error {
	if e.Kind == ring.Asset {
		return d.renderQueue.lend(e.Resource())
	}
	key := keyOf(&e)
	_, known := d.reports[key]
	if _, open := d.open[key]; known || open || len(d.open) >= maxErrands {
		return nil
	}
	u, err := d.in.set.Rules.Parse(e.URL)
	if err != nil || u.Form != e.URL || d.in.store.ForeignName(u.Host()) ||
		!d.in.set.Scope.Classify(u.Norm).Class.Visitable() {
		d.unasked(key)
		return nil
	}
	id, err := d.hosts.identify(u.Host())
	if err != nil {
		return err
	}
	d.open[key] = e.URL
	return d.robots.ask(id, e.URL, waiter{tell: func(r ring.Report) { d.keep(key, r) }})
}

// unasked reports to the other shard that the host is not requested.
func (d *delegatedRequests) unasked(key errandKey) {
	d.keep(key, ring.Report{Cause: schema.CauseTargetGivenUp})
}

// keep holds a report for the shard that wants it.
func (d *delegatedRequests) keep(key errandKey, r ring.Report) {
	delete(d.open, key)
	if len(r.Body) > robots.MaxBytes {
		r.Body = r.Body[:robots.MaxBytes]
	}
	d.reports[key] = r
	d.oldest = append(d.oldest, key)
	d.size += len(r.Body)
	for len(d.oldest) > maxReports || d.size > maxReportBytes {
		d.size -= len(d.reports[d.oldest[0]].Body)
		delete(d.reports, d.oldest[0])
		d.oldest = d.oldest[1:]
	}
}

// Report returns the report for an errand of another shard, if there is one, or otherwise what the
// errand waits for.
func (r *Recorder) Report(e ring.Errand) (report ring.Report, known bool) {
	report, known = r.delegated.reports[keyOf(&e)]
	if url, open := r.delegated.open[keyOf(&e)]; open {
		report.Behind = r.robots.waitsFor(url)
	}
	return report, known
}

// Lends reports whether a resource is being requested for scripts of pages of another shard.
func (r *Recorder) Lends(of render.Resource) bool { return r.renderQueue.lent[of] }

// sent applies a report of another shard, or its answer that there is none yet. The other shard's
// host has no clock here; the clock of a host that waits for it paces the next letter.
func (t *turn) sent(h *schema.Host, live *liveHost, o *ring.Outcome) error {
	if o.Step.Kind == ring.Asset {
		t.brought(live, o)
		return nil
	}
	if o.Moved {
		live.ready = t.in.now.Add(errandWait(o.Step.Moves))
		live.moved(o.Step)
		return t.robots.behind(o.Step.URL, o.Behind)
	}
	v := judge.Robots(o, h.Name, false)
	t.ledger.tellVerdict(o, v.Act.String(), v.Reason)
	return t.robots.answered(h, live, o, v)
}

// errandWait returns how long to wait before another shard is asked again that had no report before
// times in a row.
func errandWait(before int) time.Duration {
	if before < 7 {
		return firstErrandWait << before
	}
	return lastErrandWait
}

// brought applies the report of another shard about a resource for scripts, or asks it again later.
func (t *turn) brought(live *liveHost, o *ring.Outcome) {
	again := asset{Resource: o.Step.Resource(), tries: o.Step.Visit.Retries}
	switch {
	case o.Moved:
		again.due = t.in.now.Add(errandWait(again.tries))
		again.tries++
	case o.Answered() && o.Answer.Refused != "":
		t.renderQueue.refuse(o.Step.Resource(), o.Answer.Refused)
		return
	case o.Answered():
		t.renderQueue.answer(o.Step.Resource(), o.Answer)
		return
	}
	live.assets = append(live.assets, again)
}
