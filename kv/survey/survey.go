package survey

import (
	"context"
	"errors"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/terrain"
)

// ErrNoRun reports a state file in which nothing was ever crawled.
var ErrNoRun = errors.New("nothing has been crawled yet: \"ripple crawl\" begins")

// A Survey is one reading of a store under the configuration of its newest run, or
// of an older one, see [Survey.At]. It is the door to the rooms of this package.
type Survey struct {
	core      *core
	hosts     *hosts
	redirects *redirects
	walks     *walks
	pages     *pages
	tallies   *tallies
	coverage  coverage
	links     links
	siteWide  siteWide
}

// New reads the runs of a store, the newest one's configuration and its seeds.
// It fails with [ErrNoRun] where there is no run.
func New(store *kv.Store) (*Survey, error) {
	s := newSurvey(store)
	err := s.core.view(func(tx *kv.Tx) error {
		var err error
		if s.core.runs, err = tx.Runs.All(); err != nil {
			return err
		}
		if len(s.core.runs) == 0 {
			return ErrNoRun
		}
		if last := &s.core.runs[len(s.core.runs)-1]; last.Walked && last.Status == schema.RunRunning {
			last.Status = schema.RunCompleted // its outputs show it as it will be when they are in place
		}
		return s.core.readConfig(tx)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newSurvey(store *kv.Store) *Survey {
	c := &core{store: store, seeds: make(map[schema.ID]bool)}
	hs := &hosts{core: c, byID: make([]*host, store.Hosts()+1)}
	rd := &redirects{core: c, hosts: hs, next: make(map[schema.ID]schema.ID)}
	ws := &walks{core: c, hosts: hs}
	ps := &pages{core: c, hosts: hs, redirects: rd, walks: ws}
	ts := &tallies{core: c, hosts: hs, pages: ps}
	return &Survey{
		core: c, hosts: hs, redirects: rd, walks: ws, pages: ps, tallies: ts,
		coverage: coverage{core: c, hosts: hs, tallies: ts}, links: links{core: c}, siteWide: siteWide{core: c},
	}
}

// Interrupt says that no process works on the newest run any more: if it reads
// running, it is interrupted.
func (s *Survey) Interrupt() {
	if s.core.run.Status == schema.RunRunning {
		s.core.run.Status = schema.RunInterrupted
		s.core.runs[len(s.core.runs)-1] = s.core.run
	}
}

// Until ends long walks over the records, with the cause, when ctx is done.
func (s *Survey) Until(ctx context.Context) { s.core.until(ctx) }

// Context is that of [Survey.Until], for what is worked out of the records; without one it
// never ends.
func (s *Survey) Context() context.Context {
	if s.core.ctx == nil {
		return context.Background()
	}
	return s.core.ctx
}

// Hold runs f in one transaction, so that what it reads piece by piece is of one state
// even while other readers come and go. Walks over many records that it begins end with
// the error of ctx when that is done.
func (s *Survey) Hold(ctx context.Context, f func() error) error { return s.core.hold(ctx, f) }

// Run returns the run that the survey is of: the newest, unless [Survey.At] says
// otherwise.
func (s *Survey) Run() schema.Run { return s.core.run }

// Runs returns all runs until that one, oldest first.
func (s *Survey) Runs() []schema.Run { return s.core.runs }

// Since returns the last run that was completed, 0 if none was. What was last seen
// before it is gone; what was seen since is kept until the current run reaches it.
func (s *Survey) Since() schema.RunID { return s.core.since() }

// Config returns the effective configuration of the run.
func (s *Survey) Config() *config.Config { return s.core.cfg }

// Terrain returns the lists and rules of the run.
func (s *Survey) Terrain() *terrain.Terrain { return s.core.terrain }

// HostCount returns the last id of a host, which bounds arrays by id.
func (s *Survey) HostCount() int { return s.core.store.Hosts() }

// HostName returns the name of a host.
func (s *Survey) HostName(id schema.HostID) (string, error) { return s.hosts.name(id) }

// LookupHost finds a host by its name.
func (s *Survey) LookupHost(name string) (schema.HostID, bool, error) { return s.hosts.lookup(name) }

// Noted returns what people noted of a host, known or not, as the state has it now.
func (s *Survey) Noted(name string) schema.HostNote { return s.core.notes.Of(name) }

// HostOf returns the host of a URL.
func (s *Survey) HostOf(id schema.ID) schema.HostID { return s.core.store.HostOf(id) }

// Shard returns which shard of a terrain the survey is of, of how many; shards 0: it is of
// no single one.
func (s *Survey) Shard() (shard, shards int) {
	part := s.core.store.Part()
	if part.United() {
		return 0, 0
	}
	return part.Shard, part.Shards
}

// ShardOf returns the shard that a host or site belongs to, known or not.
func (s *Survey) ShardOf(name string) int { return s.core.store.ShardOfName(name) }

// URLs returns the last id of a URL, which bounds arrays by id.
func (s *Survey) URLs() int { return s.core.urls() }

// Lookup finds a page by its identity.
func (s *Survey) Lookup(norm string) (schema.ID, bool, error) { return s.core.lookup(norm) }

// Warm prepares the look-ups of pages by their identities: of many at once in the time of one.
func (s *Survey) Warm(norms []string) error { return s.core.warm(norms) }

// Norm returns the identity of a URL.
func (s *Survey) Norm(id schema.ID) (string, error) { return s.core.norm(id) }

// VisitedSince reports whether a URL was visited in the run of [Survey.Since] or after it.
func (s *Survey) VisitedSince(id schema.ID) bool { return s.core.visitedSince(id) }

// EachPage calls f for every page by id; sitemap files are none. A page is valid
// while f runs. An error of f ends it.
func (s *Survey) EachPage(f func(*Page) error) error { return s.pages.each(1, f) }

// EachPageFrom is [Survey.EachPage] from an id on.
func (s *Survey) EachPageFrom(id schema.ID, f func(*Page) error) error { return s.pages.each(id, f) }

// EachPlace is [Survey.EachPage] in a third of its time, without what only a visit says:
// the state, what decided it, and for most pages the visit itself.
func (s *Survey) EachPlace(f func(*Page) error) error { return s.pages.places(f) }

// IsPage reports whether an id is that of a page.
func (s *Survey) IsPage(id schema.ID) bool { return s.core.isPage(id) }

// EachSketch calls f for every page, in no order that means anything, with what can be
// counted of it: its ids, class, state and depth, and of its visit what [kv.Visits.Gists]
// says, with the number of the links that stand. It takes a quarter of the time of [Survey.EachPage]. The
// page and its visit are valid while f runs. An error of f ends it.
func (s *Survey) EachSketch(f func(*Page) error) error { return s.tallies.along(f) }

// Page returns a page, or an error that wraps [kv.ErrNotFound].
func (s *Survey) Page(id schema.ID) (*Page, error) { return s.pages.byID(id) }

// LastRun returns [Page.LastRun] of a page of [Survey.EachSketch], which does not say it: the last run that
// saw it. At first it may read the links of all pages.
func (s *Survey) LastRun(p *Page) (schema.RunID, error) { return s.pages.lastRun(p) }

// Seen counts what the run has seen; it does so once.
func (s *Survey) Seen() (Seen, error) { return s.tallies.seen() }

// Counts counts all pages; it does so once.
func (s *Survey) Counts() (*Counts, error) { return s.tallies.counts() }

// EachHost calls f for every host by id. A report is valid while f runs. An error
// of f ends it.
func (s *Survey) EachHost(f func(*HostReport) error) error { return s.coverage.each(f) }

// EachHostUntitled is [Survey.EachHost] without titles, for which the front pages of all
// hosts are looked up.
func (s *Survey) EachHostUntitled(f func(*HostReport) error) error { return s.coverage.untitled(f) }

// Host returns the report on a host.
func (s *Survey) Host(id schema.HostID) (*HostReport, error) { return s.coverage.of(id) }

// Robots returns the copy of a host's robots.txt; it is zero where there is none.
func (s *Survey) Robots(id schema.HostID) (schema.RobotsCopy, error) { return s.hosts.robots(id) }

// EachLink calls f for the links that stand, with their anchors: by the page that
// links, then by target, with the first and the last run that saw the link. Those to a
// target that is site-wide are marked. An error of f ends it.
func (s *Survey) EachLink(f LinkFunc) error {
	return s.siteWide.mark(s.links.each, f)
}

// EachLinkEver calls f for the links that any run saw, those included that do not
// stand any more: each as the last run that saw it did, in the order of
// [Survey.EachLink], with the first and the last of these runs.
func (s *Survey) EachLinkEver(f LinkFunc) error {
	return s.siteWide.mark(s.links.eachEver, f)
}

// A LinkFunc is called for a link, with the first and the last run that saw it. An error
// ends the walk.
type LinkFunc = func(from schema.ID, link schema.Link, first, last schema.RunID) error

// EachLinkOf is [Survey.EachLink] for some pages in their order, without anchors. What is
// no page has no links.
func (s *Survey) EachLinkOf(pages []schema.ID, f LinkFunc) error {
	return s.siteWide.mark(func(f LinkFunc) error { return s.links.eachOf(pages, f) }, f)
}

// EachLinkEverOf is [Survey.EachLinkEver] for some pages in their order.
func (s *Survey) EachLinkEverOf(pages []schema.ID, f LinkFunc) error {
	return s.siteWide.mark(func(f LinkFunc) error { return s.links.eachEverOf(pages, f) }, f)
}

// Links returns the links that stand of the pages from one id to another, with their
// anchors if these are wanted. Which are site-wide is for [Survey.SiteWide] to say.
func (s *Survey) Links(from, to schema.ID, anchors bool) ([]PageLinks, error) {
	return s.links.between(from, to, anchors)
}

// SiteWide reports whether a link is to what most pages of the host link to. At first it
// reads the links of all pages.
func (s *Survey) SiteWide(from schema.ID, l schema.Link) (bool, error) {
	if err := s.siteWide.derive(); err != nil {
		return false, err
	}
	return s.siteWide.has(from, &l), nil
}

// EachTarget calls f for the links that stand, by the page that links, without
// what else is known of them: much cheaper than [Survey.EachLink].
func (s *Survey) EachTarget(f func(from, to schema.ID)) error { return s.links.eachTarget(f) }

// EachTargetWritten is [Survey.EachTarget] page by page in the order in which they were
// written, which is several times as fast.
func (s *Survey) EachTargetWritten(f func(from, to schema.ID)) error { return s.links.eachWritten(f) }

// EachLinkTo calls f for the links that stand to what is wanted, which several goroutines may
// ask at once, with their anchors: page by page in the order of [Survey.EachTargetWritten],
// then by target. An error of f ends it.
func (s *Survey) EachLinkTo(want func(to schema.ID) bool, f func(from schema.ID, l schema.Link) error) error {
	return s.links.eachTo(want, f)
}

// EachLinkBetween calls f for the links that stand between pairs of pages, from the first to
// the second, with their anchors and the place of the pair, in an order that reads the file
// from one end to the other. An error of f ends it.
func (s *Survey) EachLinkBetween(pairs [][2]schema.ID, f func(i int, l schema.Link) error) error {
	return s.links.eachBetween(pairs, f)
}

// EachSitemapEntry calls f for every page that a sitemap names, with the URL of
// the sitemap: by sitemap, then in its order.
func (s *Survey) EachSitemapEntry(f func(sitemap string, e schema.SitemapEntry) error) error {
	return s.core.eachSitemapEntry(f)
}

// Sitemap returns the URL of a sitemap that the run has read, and what it names; of
// other URLs nothing.
func (s *Survey) Sitemap(id schema.ID) (url string, entries []schema.SitemapEntry, err error) {
	return s.core.sitemap(id)
}

// Out returns the links of a page that stand, with their anchors.
func (s *Survey) Out(id schema.ID) ([]schema.Link, error) { return s.links.out(id) }

// In returns the links to a page that stand: the first limit of them by the page
// that links, with their anchors, and their number. It reads the links of all pages.
func (s *Survey) In(id schema.ID, limit int) (links []Backlink, total int, err error) {
	return s.links.in(id, limit)
}

// OriginDepths derives the depths of all pages from every origin by breadth-first
// search over the links that carry depth. Pages that an unfinished run has not
// reached yet have the depths that follow from what earlier runs recorded.
func (s *Survey) OriginDepths() (*Depths, error) { return s.walks.originDepths() }

// Ways returns shortest ways along links that carry depth to a page, from the nearest
// origins: at most limit of them, by depth and then by their number, as far as they are
// not longer than max-depth + 1. Of several ways from an origin it is the one over the pages
// that were met first. It reads the links of all pages once, and holds four bytes of each while
// it searches.
func (s *Survey) Ways(id schema.ID, limit int) ([]Way, error) { return s.walks.ways(id, limit) }
