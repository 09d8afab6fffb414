package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// An exporter writes a survey into the tables.
type exporter struct {
	survey   *survey.Survey
	progress export.Progress
	depths   *survey.Depths
	names    []string // of the origins

	runs     *record[schema.Run]
	pages    *record[pageRow]
	depth    *record[depthRow]
	links    *record[linkRow]
	kinds    *record[kindRow]
	redirect *record[pageRow]
	facts    *record[factRow]
	frontier *record[waitingRow]
	sitemaps *record[sitemapRow]
	domains  *record[domainRow]
	hosts    *record[hostRow]
	inlinks  *record[inlinkRow]
	listed   []*listed

	levels []*level
	sites  *export.Fold

	class      []schema.Class // by page
	references []uint32       // by page: number of pages that link to it
	graph      *pageGraph
	duplicates *survey.Duplicates
	page       pageRow     // being written
	link       linkRow     // being written
	body       schema.Link // of link
}

// A listed is the tables for the pages of a class that is never visited.
type listed struct {
	class     schema.Class
	urls      *record[listedRow]
	referrers *record[referrerRow]
}

func newExporter(ctx context.Context, tx *sql.Tx, s *survey.Survey, opts Options) *exporter {
	table := func() *table { return newTable(ctx, tx) }
	n := s.URLs() + 1
	e := &exporter{
		survey: s, progress: opts.Progress, sites: export.NewFold(s, export.LevelSite),
		runs: newRecord(table(), runRelation()), pages: newRecord(table(), pageRelation()),
		depth: newRecord(table(), depthRelation()), links: newRecord(table(), linkRelation(opts.Columns)),
		kinds: newRecord(table(), kindRelation()), redirect: newRecord(table(), redirectRelation()),
		facts: newRecord(table(), factRelation()), frontier: newRecord(table(), frontierRelation()),
		sitemaps: newRecord(table(), sitemapRelation()), domains: newRecord(table(), domainRelation()),
		hosts: newRecord(table(), hostRelation()), inlinks: newRecord(table(), inlinkRelation()),
		class: make([]schema.Class, n), references: make([]uint32, n),
	}
	for _, class := range listedClasses() {
		e.listed = append(e.listed, &listed{
			class: class, urls: newRecord(table(), listedRelation(listedAs(class))),
			referrers: newRecord(table(), referrerRelation(listedAs(class))),
		})
	}
	e.levels = newLevels(table, e.sites, opts)
	if !opts.NoMetrics {
		e.graph = &pageGraph{
			table: newRecord(table(), metricRelation("page", opts.Columns)), counted: opts.Counted,
		}
	}
	for _, origin := range s.Scope().Origins() {
		e.names = append(e.names, origin.Name)
	}
	return e
}

// run fills all tables. References may point forward or back; they are valid when everything is
// written.
func (e *exporter) run() error {
	defer e.graph.stop()
	var err error
	if e.depths, err = e.survey.OriginDepths(); err != nil {
		return err
	}
	for _, step := range []func() error{
		e.addRuns, e.addHosts, e.addPages, e.measure, e.addLinks, e.addSitemapURLs, e.addListed, e.addInlinks,
		e.end,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) end() error {
	var errs []error
	for _, t := range e.tables() {
		errs = append(errs, t.end())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, l := range e.levels {
		e.progress.At(l.links.name, 0, 0)
		if err := l.end(e.pages.ctx); err != nil {
			return err
		}
		e.levels[i] = nil
	}
	e.progress.At("metrics", 0, 0)
	return e.graph.end()
}

// measure starts measuring the pages.
func (e *exporter) measure() error {
	e.depths = nil // frees memory for the metrics
	return e.graph.begin(e.pages.ctx, e.survey)
}

// tables returns the tables that do not belong to levels or graph.
func (e *exporter) tables() []*table {
	all := []*table{
		e.runs.table, e.pages.table, e.depth.table, e.links.table, e.kinds.table, e.redirect.table, e.facts.table,
		e.frontier.table, e.sitemaps.table, e.domains.table, e.hosts.table,
		e.inlinks.table,
	}
	for _, l := range e.listed {
		all = append(all, l.urls.table, l.referrers.table)
	}
	return all
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
		if !p.Gone {
			e.class[p.ID] = p.Class
		}
		for _, l := range e.levels {
			l.fold.AddPage(p, !p.Gone)
		}
		return errors.Join(e.addPage(p), e.addDepths(p), e.addVisit(p))
	})
}

func (e *exporter) addPage(p *survey.Page) error {
	e.page.of(p)
	e.page.duplicateOf = e.duplicates.Of(p.ID)
	return e.pages.put(&e.page)
}

func (e *exporter) addDepths(p *survey.Page) error {
	for origin, depth := range e.depths.Of(p.ID) {
		if err := e.depth.put(&depthRow{e.depth.number(), p.ID, e.names[origin], depth}); err != nil {
			return err
		}
	}
	if !p.Waits() {
		return nil
	}
	return e.frontier.put(&waitingRow{e.frontier.number(), e.page})
}

func (e *exporter) addVisit(p *survey.Page) error {
	if p.Visit == nil || p.Gone {
		return nil
	}
	for _, f := range p.Visit.Facts {
		if err := e.facts.put(&factRow{p.ID, f}); err != nil {
			return err
		}
	}
	if p.RedirectTo == 0 {
		return nil
	}
	return e.redirect.put(&e.page)
}

func (e *exporter) addLinks() error {
	kinds := kindsByName()
	return e.survey.Links.Each(func(from schema.ID, link schema.Link, first, last schema.RunID) error {
		e.progress.Passing("links", int(from), e.survey.URLs())
		e.references[link.To]++
		e.body = link
		e.link = linkRow{id: e.links.number(), Link: export.NewPageLink(from, &e.body, first, last)}
		if err := e.links.put(&e.link); err != nil {
			return err
		}
		for _, kind := range kinds {
			if !link.Kinds.Has(kind) {
				continue
			}
			if err := e.kinds.put(&kindRow{from, link.To, kind}); err != nil {
				return err
			}
		}
		return e.addReferrer(from, link.To, first)
	})
}

func (e *exporter) addReferrer(from, to schema.ID, first schema.RunID) error {
	for _, l := range e.listed {
		if l.class == e.class[to] {
			return l.referrers.put(&referrerRow{l.referrers.number(), to, from, first})
		}
	}
	return nil
}

// listedClasses returns the classes of pages that are never visited.
func listedClasses() [2]schema.Class {
	return [...]schema.Class{schema.ClassBlacklisted, schema.ClassStub}
}

// listedAs returns the prefix of the table names for such a class.
func listedAs(c schema.Class) string {
	if c == schema.ClassStub {
		return "stubbed"
	}
	return "blacklisted"
}

// addListed writes the listed pages. The number of links to them must be known before.
func (e *exporter) addListed() error {
	for _, l := range e.listed {
		for id, class := range e.class {
			if id == 0 || class != l.class {
				continue
			}
			p, err := e.survey.Page(schema.ID(id))
			if err != nil {
				return err
			}
			row := listedRow{references: int(e.references[id])}
			row.of(p)
			if err := l.urls.put(&row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *exporter) addSitemapURLs() error {
	return e.survey.EachSitemapEntry(func(sitemap string, entry schema.SitemapEntry) error {
		return e.sitemaps.put(&sitemapRow{sitemap, entry, e.references[entry.To] > 0})
	})
}

func (e *exporter) addHosts() (err error) {
	if e.duplicates, err = e.survey.Duplicates(); err != nil {
		return err
	}
	return e.survey.Hosts.Each(func(r *survey.HostReport) error {
		for _, l := range e.levels {
			l.fold.AddHost(r)
		}
		d, err := domainOf(e.survey, r.Host)
		if err == nil && d != nil {
			d.id = e.domains.number()
			err = e.domains.put(d)
		}
		if err != nil {
			return err
		}
		return e.hosts.put(&hostRow{r.Host.ID, r.Host.Name, r, e.sites.NodeOfHost(r.Host.ID), e.duplicates})
	})
}
