package record

import (
	"time"

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

// errands are the requests that hosts are asked for other shards: for what a robots.txt redirects to,
// as for those of this shard, so that one answer serves all, and for what scripts want, which is got as
// for pages of this shard, so that all shards get one answer. All of it is in memory: who wants
// a report asks for it until it comes, and one that is lost is got again.
type errands struct {
	in      *runState
	hosts   *hosts
	renders *renders
	book    *book
	open    map[errandKey]string // their URLs
	reports map[errandKey]ring.Report
	oldest  []errandKey // of reports
	size    int         // bytes of their bodies
}

type errandKey struct {
	from int
	id   uint64
}

func keyOf(e *ring.Errand) errandKey { return errandKey{e.From, e.ID} }

func newErrands(in *runState, hosts *hosts, renders *renders, book *book) errands {
	return errands{in: in, hosts: hosts, renders: renders, book: book, open: map[errandKey]string{},
		reports: map[errandKey]ring.Report{}}
}

// begin has a host asked, unless it is already, or so many are that the shard has to ask
// again.
func (es *errands) begin(e ring.Errand) error {
	if e.Kind == ring.Asset {
		return es.renders.lend(e.URL)
	}
	key := keyOf(&e)
	_, known := es.reports[key]
	if _, open := es.open[key]; known || open || len(es.open) >= maxErrands {
		return nil
	}
	u, err := es.in.set.Rules.Parse(e.URL)
	if err != nil || u.Form != e.URL || es.in.store.ForeignName(u.Host()) ||
		!es.in.set.Scope.Classify(u.Norm).Class.Visitable() {
		es.unasked(key)
		return nil
	}
	id, err := es.hosts.identify(u.Host())
	if err != nil {
		return err
	}
	es.open[key] = e.URL
	return es.book.ask(id, e.URL, waiter{tell: func(r ring.Report) { es.keep(key, r) }})
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

// Report returns what has come of an errand of another shard, if something has, or what it waits for.
func (r *Recorder) Report(e ring.Errand) (report ring.Report, known bool) {
	report, known = r.errands.reports[keyOf(&e)]
	if url, open := r.errands.open[keyOf(&e)]; open {
		report.Behind = r.book.waitsFor(url)
	}
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
		return t.book.behind(o.Step.URL, o.Behind)
	}
	v := judge.Robots(o, h.Name, false)
	t.ledger.tellVerdict(o, v.Act.String(), v.Reason)
	return t.book.answered(h, live, o, v)
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
