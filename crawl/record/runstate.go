package record

import (
	"log/slog"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A runState is what every owner of a turn may read: the transaction, the run that it
// belongs to, and the configuration. The transaction and the time are those of the
// turn, the rest that of the process.
type runState struct {
	store   *kv.Store
	set     *ring.Settings
	log     *slog.Logger
	run     schema.Run // its pages, requests and errors are counted by the ledger
	started time.Time  // of the process; no host is asked before its delay has passed since
	seeds   seeds
	speaks  survey.Speakers // for whom the sitemaps of the run do

	tx  *kv.Tx
	now time.Time
}

// seeds are the pages that the origins begin with.
type seeds struct {
	pages map[schema.ID]bool
	hosts map[schema.HostID][]schema.ID // the same, by host
}

// sharded reports whether the file holds a part of a terrain.
func (in *runState) sharded() bool { return in.store.Part().Shards != 0 }

// visited reports whether a URL has a visit in this run.
func (in *runState) visited(id schema.ID) bool { return in.store.Latest(id) >= in.run.FirstVisit }

// known reports whether an earlier run has visited a URL, and this one has not.
func (in *runState) known(id schema.ID) bool {
	seq := in.store.Latest(id)
	return seq != 0 && seq < in.run.FirstVisit
}

// young reports whether a visit is younger than min-age, or than its answer says.
func (in *runState) young(v *schema.Visit) bool {
	return in.set.Config.Recrawl.Young(in.now.Sub(v.At), v.Fresh)
}

// leftBefore reports whether a page that stands in a line, or waits for another try,
// was left there by an earlier run, and not reached since.
func (in *runState) leftBefore(id schema.ID) bool {
	depth, _ := in.store.Depth(id)
	return in.run.ID > 1 && depth == kv.NoDepth && in.store.Latest(id) == 0
}

// within reports whether a page with these distances is visited.
func (in *runState) within(depth, hops uint8) bool {
	return depth != kv.NoDepth && int(depth) <= in.set.Config.Crawler.MaxDepth && hops <= schema.MaxRedirects
}

// foreign reports whether another shard visits a URL.
func (in *runState) foreign(id schema.ID) bool { return in.store.Foreign(in.store.HostOf(id)) }

// isPage reports whether a URL is a page, and not a sitemap.
func (in *runState) isPage(id schema.ID) bool { return in.store.Kind(id) == schema.KindPage }
