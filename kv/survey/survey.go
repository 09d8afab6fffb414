package survey

import (
	"context"
	"errors"
	"slices"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
	"github.com/sumi-ripple/ripple/schema/missing"
	"github.com/sumi-ripple/ripple/schema/parked"
	"github.com/sumi-ripple/ripple/schema/scope"
)

// ErrNoRun reports a state file in which nothing has been crawled.
var ErrNoRun = errors.New("nothing has been crawled yet: \"ripple crawl\" begins")

// A Survey is one reading of a store under the configuration of its newest run, or
// of an older one, see [Survey.At]. It is the door to the rooms of this package.
type Survey struct {
	Links Links
	Hosts Hosts

	core      *core
	stands    *stands
	hosts     *hosts
	redirects *redirects
	walks     *walks
	pages     *pages
	tallies   *tallies
	coverage  *coverage

	duplicates *Duplicates // nil: not derived yet
}

// New reads the runs of a store, and the newest one's configuration and seeds. It fails with
// [ErrNoRun] if there is no run.
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
		for i := range s.core.runs {
			s.core.runs[i].JudgedBy("missing", missing.Version)
			s.core.runs[i].JudgedBy("parked", parked.Version())
		}
		if last := &s.core.runs[len(s.core.runs)-1]; last.Walked && last.Status == schema.RunRunning {
			last.Status = schema.RunCompleted // so the outputs show the run as it will be when they are in place
			s.core.unwritten = store.Part() == schema.Part{}
		}
		return s.core.readConfig(tx)
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newSurvey(store *kv.Store) *Survey {
	c := &core{store: store, calls: &calls{}, seeds: make(map[schema.ID]bool)}
	st := &stands{core: c}
	si := &sights{core: c}
	hs := &hosts{core: c, byID: make([]*host, store.Hosts()+1)}
	rd := &redirects{core: c, hosts: hs, next: make(map[schema.ID]schema.ID)}
	ws := &walks{core: c, stands: st, sights: si, hosts: hs}
	ms := &missingPages{core: c, stands: st, hosts: hs}
	pk := &parkedHosts{core: c, stands: st, hosts: hs}
	ps := &pages{core: c, stands: st, sights: si, hosts: hs, redirects: rd, walks: ws, missing: ms, parked: pk}
	ts := &tallies{core: c, hosts: hs, pages: ps}
	wl := &walls{core: c, stands: st, hosts: hs, tallies: ts}
	cv := &coverage{core: c, stands: st, hosts: hs, tallies: ts, walls: wl}
	return &Survey{
		Links: Links{core: c, stands: st, siteWide: &siteWide{core: c, stands: st, walks: ws}},
		Hosts: Hosts{core: c, known: hs, coverage: cv},
		core:  c, stands: st, hosts: hs, redirects: rd, walks: ws, pages: ps, tallies: ts, coverage: cv,
	}
}

// Ever returns the survey of everything that any run saw: no page is gone, and every link ever seen
// is current, as the last run that saw it recorded it. Functions of either survey may be called
// while a function of the other runs.
func (s *Survey) Ever() *Survey {
	all := newSurvey(s.core.store)
	*all.core = *s.core
	all.core.ever = true
	return all
}

// Interrupt says that no process is working on the newest run any more: if it reads running, it is
// interrupted.
func (s *Survey) Interrupt() {
	if s.core.run.Status == schema.RunRunning {
		s.core.run.Status = schema.RunInterrupted
		s.core.runs[len(s.core.runs)-1] = s.core.run
	}
}

// Unwritten reports whether the outputs of the newest run are still missing, though it reads
// completed: they are being written, or the process that wrote them ended before they were in
// place. Shards have no outputs.
func (s *Survey) Unwritten() bool { return s.core.unwritten }

// Until makes long walks over the records end, with the cause, when ctx is done.
func (s *Survey) Until(ctx context.Context) { s.core.until(ctx) }

// Context returns the context of [Survey.Until], for work on the records; by default it never ends.
func (s *Survey) Context() context.Context {
	if s.core.ctx == nil {
		return context.Background()
	}
	return s.core.ctx
}

// Hold runs f in one transaction, so that everything it reads is of one state even if other readers
// interleave. Long walks that f begins end with the error of ctx when that is done.
func (s *Survey) Hold(ctx context.Context, f func() error) error { return s.core.hold(ctx, f) }

// Run returns the run of the survey: the newest, unless [Survey.At] says otherwise. Its rules are those that its
// answers were recorded by, and those of this version by which others are derived.
func (s *Survey) Run() schema.Run { return s.core.run }

// Runs returns all runs up to that one, oldest first.
func (s *Survey) Runs() []schema.Run { return s.core.runs }

// Since returns the last completed run; 0: there is none. Pages last seen before it are gone. Those
// seen since are kept until the current run reaches them.
func (s *Survey) Since() schema.RunID { return s.core.since() }

// Config returns the effective configuration of the run.
func (s *Survey) Config() *config.Config { return s.core.cfg }

// Scope returns the lists and rules of the run.
func (s *Survey) Scope() *scope.Scope { return s.core.scope }

// Shard returns the number of the survey's shard, and the number of shards in the terrain; shards
// 0: the survey is not of a single shard.
func (s *Survey) Shard() (shard, shards int) {
	part := s.core.store.Part()
	if part.Merged() {
		return 0, 0
	}
	return part.Shard, part.Shards
}

// URLs returns the last id of a URL, which is the bound of arrays by id.
func (s *Survey) URLs() int { return s.core.urls() }

// Lookup finds a page by its identity.
func (s *Survey) Lookup(norm string) (schema.ID, bool, error) { return s.core.lookup(norm) }

// Warm prepares look-ups of pages by identity: many at once take the time of one.
func (s *Survey) Warm(norms []string) error { return s.core.warm(norms) }

// Norm returns the identity of a URL.
func (s *Survey) Norm(id schema.ID) (string, error) { return s.core.norm(id) }

// Speakers returns a function that reports whether the links of a page count as its statements: the
// page was visited in the run of [Survey.Since] or later, and no list excludes it now. If the lists
// have URL patterns, Speakers first reads the URLs of all pages.
func (s *Survey) Speakers() (func(id schema.ID) bool, error) { return s.walks.speakers() }

// Forms returns the forms under which a URL was seen, in the order in which they are tried.
func (s *Survey) Forms(id schema.ID) (all []string, err error) {
	err = s.core.view(func(tx *kv.Tx) error {
		forms, err := tx.URLs.Forms(id)
		all = forms.All()
		return err
	})
	return all, err
}

// EachPage calls f for every page by id, without sitemap files. A page is valid while f runs. An
// error of f ends the walk.
func (s *Survey) EachPage(f func(*Page) error) error { return s.pages.each(1, f) }

// EachPageFrom is [Survey.EachPage] from an id on.
func (s *Survey) EachPageFrom(id schema.ID, f func(*Page) error) error { return s.pages.each(id, f) }

// EachPlace is [Survey.EachPage] in a third of the time, without what only a visit says: the state,
// what decided it, and for most pages the visit itself.
func (s *Survey) EachPlace(f func(*Page) error) error { return s.pages.places(f) }

// EachURL calls f for the URL of every page by id. An error of f ends the walk.
func (s *Survey) EachURL(f func(schema.URL) error) error { return s.pages.urls(f) }

// EachTitle calls f for the title of every page that has one, in no particular order. A title that is
// kept keeps some others in memory. An error of f ends the walk.
func (s *Survey) EachTitle(f func(id schema.ID, title string) error) error { return s.stands.titles(f) }

// Maps reports whether a URL is a page of the run's map. One that the run has not met is not, even if the archives of
// another run hold it.
func (s *Survey) Maps(id schema.ID) (ok bool, err error) {
	if !s.core.isPage(id) || len(s.core.store.Imports()) == 0 {
		return s.core.isPage(id), nil
	}
	err = s.core.view(func(tx *kv.Tx) error {
		unmet, err := s.pages.sights.unmet(tx, id)
		ok = err == nil && !unmet
		return err
	})
	return ok, err
}

// ArchivesOf returns the runs whose archives were the first to name any of some URLs, in order.
func (s *Survey) ArchivesOf(ids []schema.ID) (runs []schema.RunID, err error) {
	err = s.core.view(func(tx *kv.Tx) error {
		for _, id := range ids {
			u, err := tx.URLs.At(id)
			if err != nil {
				return err
			}
			imports := func(r schema.Run) bool { return r.ID == u.FirstRun && r.Kind == schema.RunImport }
			if slices.ContainsFunc(s.core.runs, imports) {
				runs = append(runs, u.FirstRun)
			}
		}
		return nil
	})
	slices.Sort(runs)
	return slices.Compact(runs), err
}

// EachSketch calls f for every page, in no particular order, with what can be counted: its ids,
// class, state and depth, and of its visit what [kv.Visits.Gists] provides, with the number of
// current links. It takes a quarter of the time of [Survey.EachPage]. The page and its visit are
// valid while f runs. An error of f ends the walk.
func (s *Survey) EachSketch(f func(*Page) error) error { return s.tallies.along(f) }

// Page returns a page, or an error that wraps [kv.ErrNotFound].
func (s *Survey) Page(id schema.ID) (*Page, error) { return s.pages.byID(id) }

// AnswerTo returns what a server answered to a visit instead of a page, and the rule that recognised it. Other answers
// than walls are derived from the whole run, for the last visit of each page.
func (s *Survey) AnswerTo(tx *kv.Tx, v *schema.Visit) (schema.Answer, string, error) {
	p := &Page{
		ID: v.URL, Host: s.core.store.HostOf(v.URL), State: v.State, Visit: v, fromVisit: v.Seq == s.core.latest(v.URL),
	}
	if s.core.tx == nil {
		s.core.tx = tx
		defer func() { s.core.tx = nil }()
	}
	err := s.pages.answer(tx, p)
	return p.Answer, p.AnswerRule, err
}

// Redirects returns the pages that the recorded redirects from a page lead to, in order and at most
// most of them. If they come back, the last one is the page that occurs again.
func (s *Survey) Redirects(p *Page, most int) ([]schema.ID, error) {
	return s.redirects.chain(p.ID, p.RedirectTo, most)
}

// Counts counts all pages, once.
func (s *Survey) Counts() (*Counts, error) { return s.tallies.counts() }

// EachSitemapEntry calls f for every page that a sitemap names, with the URL of
// the sitemap: by sitemap, then in its order.
func (s *Survey) EachSitemapEntry(f func(sitemap string, e schema.SitemapEntry) error) error {
	return s.core.eachSitemapEntry(func(_ schema.ID, url string, e schema.SitemapEntry) error { return f(url, e) })
}

// Sitemap returns the URL of a sitemap that the run has read, and its entries. For other URLs it
// returns nothing.
func (s *Survey) Sitemap(id schema.ID) (url string, entries []schema.SitemapEntry, err error) {
	return s.core.sitemap(id)
}

// OriginDepths derives the depths of all pages from every origin by breadth-first
// search over the links that carry depth. Pages that an unfinished run has not
// reached yet have the depths that follow from what earlier runs recorded.
func (s *Survey) OriginDepths() (*Depths, error) { return s.walks.originDepths() }

// Ways returns shortest paths along links that carry depth to a page, from the nearest origins: at
// most limit of them, by depth and then by the origin's number, and none longer than max-depth + 1.
// If an origin has several, it returns the path over the pages that were met first. It reads
// the links of all pages once, and holds four bytes for each while it searches.
func (s *Survey) Ways(id schema.ID, limit int) ([]Way, error) { return s.walks.ways(id, limit) }
