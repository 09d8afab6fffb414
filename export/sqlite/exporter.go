package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/inert"
)

// An exporter carries a survey into the tables.
type exporter struct {
	survey   *survey.Survey
	progress export.Progress
	tx       *sql.Tx
	depths   *survey.Depths
	names    []string // of the origins

	runs  *record[schema.Run]
	pages *record[pageRow]
	links *record[linkRow]
	hosts *record[survey.HostReport]

	pageDepths, linkKinds, redirects, facts     *table
	blacklisted, stubbed, frontier, sitemapURLs *table
	domainStates                                *table

	levels []*level
	sites  *export.Fold

	class  []schema.Class // by page
	linked []bool         // by page: another page links there
	graph  *pageGraph
	none   schema.Visit // of a page that was not visited
	page   pageRow      // that is being written
	link   linkRow      // likewise
	body   schema.Link  // of link
}

func newExporter(ctx context.Context, tx *sql.Tx, s *survey.Survey, opts Options) *exporter {
	table := func(name string, columns ...string) *table { return newTable(ctx, tx, name, columns...) }
	n := s.URLs() + 1
	e := &exporter{
		survey: s, progress: opts.Progress, tx: tx,
		runs: newRecord(table("runs"), runColumns()), pages: newRecord(table("pages"), pageColumns()),
		links:       newRecord(table("links"), linkColumns(opts.Columns)),
		pageDepths:  table("page_depths", "id", "page_id", "quality_origin", "depth"),
		linkKinds:   table("link_kinds", "from_page_id", "to_page_id", "kind"),
		redirects:   table("redirects", "from_page_id", "to_page_id", "status"),
		facts:       table("facts", "page_id", "name", "value"),
		blacklisted: table("blacklisted_referrers", "id", "blacklisted_url_id", "referrer_page_id", "discovered_run"),
		stubbed:     table("stubbed_referrers", "id", "stubbed_url_id", "referrer_page_id", "discovered_run"),
		frontier:    table("frontier", "id", "page_id", "priority", "added_at"),
		sitemapURLs: table("sitemap_urls", "page_id", "sitemap_url", "lastmod", "changefreq", "linked"),
		domainStates: table("domain_states",
			"id", "domain", "request_count", "rate_limited", "robots_txt", "robots_fetched_at"),
		class: make([]schema.Class, n), linked: make([]bool, n),
	}
	e.sites = export.NewFold(s, export.LevelSite)
	e.hosts = newRecord(table("hosts"), hostColumns(e))
	e.levels = newLevels(table, e.sites, opts)
	if !opts.NoMetrics {
		e.graph = newPageGraph(metricTable(table("page_metrics"), "page_id", opts.Columns), n)
	}
	for _, origin := range s.Terrain().Origins() {
		e.names = append(e.names, origin.Name)
	}
	return e
}

// run fills all tables. References lead forward as well as back; they are right
// when all is done.
func (e *exporter) run() error {
	var err error
	if e.depths, err = e.survey.OriginDepths(); err != nil {
		return err
	}
	for _, step := range []func() error{
		e.addRuns, e.addHosts, e.addPages, e.addLinks, e.addSitemapURLs, e.end, e.addListed,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) end() error {
	var errs []error
	for _, t := range []*table{
		e.runs.table, e.pages.table, e.pageDepths, e.links.table, e.linkKinds, e.redirects, e.facts,
		e.blacklisted, e.stubbed, e.frontier, e.sitemapURLs, e.domainStates, e.hosts.table,
	} {
		errs = append(errs, t.end())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	e.depths = nil // it takes room that the metrics need
	for i, l := range e.levels {
		e.progress.At(l.links.name, 0, 0)
		if err := l.end(e.pages.ctx); err != nil {
			return err
		}
		e.levels[i] = nil
	}
	e.progress.At("metrics", 0, 0)
	return e.graph.end(e.pages.ctx, e.survey, e.links.written)
}

func (e *exporter) addRuns() error {
	for _, r := range e.survey.Runs() {
		if err := e.runs.put(&r); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) addPages() error {
	return e.survey.EachPage(func(p *survey.Page) error {
		e.progress.Passing("pages", int(p.ID), e.survey.URLs())
		e.class[p.ID] = p.Class
		e.graph.addPage(p.ID)
		for _, l := range e.levels {
			l.fold.AddPage(p, true)
		}
		return errors.Join(e.addPage(p), e.addDepths(p), e.addVisit(p))
	})
}

func (e *exporter) addPage(p *survey.Page) error {
	e.page = pageRow{Page: p, visit: p.Visit}
	if p.Visit == nil {
		e.page.visit = &e.none
	}
	return e.pages.put(&e.page)
}

func (e *exporter) addDepths(p *survey.Page) error {
	for origin, depth := range e.depths.Of(p.ID) {
		if err := e.pageDepths.add(e.pageDepths.number(), int64(p.ID), e.names[origin], int64(depth)); err != nil {
			return err
		}
	}
	if !p.Waits() {
		return nil
	}
	return e.frontier.add(e.frontier.number(), int64(p.ID), int64(p.Depth), moment(p.FirstSeen))
}

func (e *exporter) addVisit(p *survey.Page) error {
	if p.Visit == nil {
		return nil
	}
	for _, f := range p.Visit.Facts {
		if err := e.facts.add(int64(p.ID), inert.SQL(f.Name), inert.SQL(f.Value)); err != nil {
			return err
		}
	}
	if p.RedirectTo == 0 {
		return nil
	}
	return e.redirects.add(int64(p.ID), int64(p.RedirectTo), int64(p.Visit.Status))
}

func (e *exporter) addLinks() error {
	return e.survey.EachLink(func(from schema.ID, link schema.Link, first, last schema.RunID) error {
		e.progress.Passing("links", int(from), e.survey.URLs())
		e.linked[link.To] = true
		e.body = link
		e.link = linkRow{id: e.links.number(), Link: export.NewPageLink(from, &e.body, first, last)}
		if err := e.links.put(&e.link); err != nil {
			return err
		}
		for _, kind := range kindsByName() {
			if !link.Kinds.Has(kind) {
				continue
			}
			if err := e.linkKinds.add(int64(from), int64(link.To), kind.String()); err != nil {
				return err
			}
		}
		return e.addReferrer(from, link.To, first)
	})
}

// kindsByName returns the kinds in the order of the key of link_kinds.
func kindsByName() [5]schema.LinkKind {
	return [...]schema.LinkKind{schema.LinkAnchor, schema.LinkCanonical, schema.LinkFrame, schema.LinkRedirect,
		schema.LinkRefresh}
}

func (e *exporter) addReferrer(from, to schema.ID, first schema.RunID) error {
	var t *table
	switch e.class[to] {
	case schema.ClassBlacklisted:
		t = e.blacklisted
	case schema.ClassStub:
		t = e.stubbed
	default:
		return nil
	}
	return t.add(t.number(), int64(to), int64(from), int64(first))
}

// addListed derives the tables of listed URLs from the pages and their referrers.
func (e *exporter) addListed() error {
	for _, name := range [][2]string{{"blacklist", "blacklisted"}, {"stub", "stubbed"}} {
		_, err := e.tx.Exec(fmt.Sprintf(`INSERT INTO %[2]s_urls
			SELECT id, url, domain, coalesce(n, 0), first_run FROM pages LEFT JOIN
			(SELECT %[2]s_url_id AS page, count(*) AS n FROM %[2]s_referrers GROUP BY 1) ON page = id
			WHERE class = '%[1]s' ORDER BY id`, name[0], name[1]))
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) addSitemapURLs() error {
	return e.survey.EachSitemapEntry(func(sitemap string, entry schema.SitemapEntry) error {
		return e.sitemapURLs.add(int64(entry.To), sitemap, moment(entry.LastMod), text(entry.ChangeFreq),
			flag(e.linked[entry.To]))
	})
}

func (e *exporter) addHosts() error {
	return e.survey.EachHost(func(r *survey.HostReport) error {
		for _, l := range e.levels {
			l.fold.AddHost(r)
		}
		if err := e.addDomainState(r); err != nil {
			return err
		}
		return e.hosts.put(r)
	})
}

func (e *exporter) addDomainState(r *survey.HostReport) error {
	h := r.Host
	if h.Requests == 0 && h.RobotsAt.IsZero() {
		return nil
	}
	requests, limited := 0, h.Throttles > 0
	if h.Run == e.survey.Run().ID {
		requests, limited = h.RunRequests, limited || h.RunGivenUp == schema.GaveUpRateLimit
	}
	robots, err := e.survey.Robots(h.ID)
	if err != nil {
		return err
	}
	return e.domainStates.add(e.domainStates.number(), h.Name, int64(requests), flag(limited), text(string(robots.Text)),
		moment(h.RobotsAt))
}
