package record

import (
	"log/slog"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A runState is what every owner of a turn may read: the transaction, the run that it belongs to,
// and the configuration. The transaction and the time change with every turn, the rest lasts for
// the process.
type runState struct {
	store   *kv.Store
	set     *ring.Settings
	log     *slog.Logger
	run     schema.Run   // its pages, requests and errors are counted by the ledger
	earlier []schema.Run // those that were there when the run began
	imports *Import      // what is imported; nil: the run asks servers
	started time.Time    // start of the process; no host is requested before its delay has passed since then
	seeds   seeds
	speaks  survey.Speakers // which hosts the sitemaps of the run speak for

	tx  *kv.Tx
	now time.Time
}

// seeds are the seeds of the origins.
type seeds struct {
	pages map[schema.ID]bool
	hosts map[schema.HostID][]schema.ID // the same, by host
}

// sharded reports whether the file holds a part of a terrain.
func (in *runState) sharded() bool { return in.store.Part().Shards != 0 }

// latest returns the last visit of a URL; 0: none. For a crawl, what archives hold does not count.
func (in *runState) latest(id schema.ID) schema.Seq {
	if in.imports != nil {
		return in.store.Latest(id)
	}
	return in.store.Asked(id)
}

// visited reports whether a URL has a visit in this run.
func (in *runState) visited(id schema.ID) bool { return in.latest(id) >= in.run.FirstVisit }

// known reports whether an earlier run has requested a URL, and this one has not.
func (in *runState) known(id schema.ID) bool { return !in.neverAsked(id) && !in.visited(id) }

// neverAsked reports whether no run has requested a URL: an archive at most knows its page.
func (in *runState) neverAsked(id schema.ID) bool { return in.store.Asked(id) == 0 }

// earlierOf returns the runs that were there when a run began.
func earlierOf(run *schema.Run, runs []schema.Run) []schema.Run {
	return slices.DeleteFunc(slices.Clone(runs), func(r schema.Run) bool { return !run.Knew(&r) })
}

// begunAfter reports whether the run began after another one. An import that joined it later was not there.
func (in *runState) begunAfter(run schema.RunID) bool {
	return slices.ContainsFunc(in.earlier, func(r schema.Run) bool { return r.ID == run })
}

// young reports whether a visit is younger than min-age, or than the freshness that its answer
// declared.
func (in *runState) young(v *schema.Visit) bool {
	return v.Answer == schema.AnswerPage && in.set.Config.Recrawl.Young(in.now.Sub(v.At), v.Fresh)
}

// leftBefore reports whether a page that is in a line, or waits for a retry, was left there by an
// earlier run and has not been reached since.
func (in *runState) leftBefore(id schema.ID) bool {
	depth, _ := in.store.Depth(id)
	return len(in.earlier) > 0 && depth == kv.NoDepth && in.neverAsked(id)
}

// within reports whether a page at these distances is visited.
func (in *runState) within(depth, hops uint8) bool {
	return depth != kv.NoDepth && int(depth) <= in.set.Config.Crawler.MaxDepth && hops <= schema.MaxRedirects
}

// foreign reports whether another shard visits a URL.
func (in *runState) foreign(id schema.ID) bool { return in.store.Foreign(in.store.HostOf(id)) }

// isPage reports whether a URL is a page, and not a sitemap.
func (in *runState) isPage(id schema.ID) bool { return in.store.Kind(id) == schema.KindPage }
