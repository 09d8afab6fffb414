package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// An exporter carries a survey into the tables.
type exporter struct {
	survey *survey.Survey
	tx     *sql.Tx
	depths *survey.Depths
	names  []string // of the origins

	runs, pages, pageDepths, links, linkKinds, redirects, facts *table
	blacklisted, stubbed, frontier, sitemapURLs, domainStates   *table

	hosts  *table
	levels []*level
	sites  *export.Fold

	class  []schema.Class // by page
	linked []bool         // by page: another page links there
	graph  *pageGraph
}

func newExporter(ctx context.Context, tx *sql.Tx, s *survey.Survey, measure bool) *exporter {
	table := func(name string, columns int) *table { return newTable(ctx, tx, name, columns) }
	n := s.URLs() + 1
	e := &exporter{
		survey: s, tx: tx,
		runs: table("runs", 8), pages: table("pages", 32), pageDepths: table("page_depths", 4), links: table("links", 9),
		linkKinds: table("link_kinds", 3), redirects: table("redirects", 3), facts: table("facts", 3),
		blacklisted: table("blacklisted_referrers", 4), stubbed: table("stubbed_referrers", 4),
		frontier: table("frontier", 4), sitemapURLs: table("sitemap_urls", 5), domainStates: table("domain_states", 6),
		hosts: table("hosts", 13),
		class: make([]schema.Class, n), linked: make([]bool, n), graph: newPageGraph(table("page_metrics", 7), n),
	}
	e.sites = export.NewFold(s, export.LevelSite)
	e.levels = []*level{
		{fold: export.NewFold(s, export.LevelHost), links: table("host_links", 7), metrics: table("host_metrics", 7)},
		{fold: e.sites, nodes: table("sites", 4), links: table("site_links", 7), metrics: table("site_metrics", 7)},
		{fold: export.NewFold(s, export.LevelEntity), nodes: table("entities", 4), links: table("entity_links", 7)},
	}
	if !measure {
		e.graph = nil
		e.levels[0].metrics, e.levels[1].metrics = nil, nil
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
		e.runs, e.pages, e.pageDepths, e.links, e.linkKinds, e.redirects, e.facts,
		e.blacklisted, e.stubbed, e.frontier, e.sitemapURLs, e.domainStates, e.hosts,
	} {
		errs = append(errs, t.end())
	}
	for _, l := range e.levels {
		errs = append(errs, l.end())
	}
	errs = append(errs, e.graph.end())
	return errors.Join(errs...)
}

func (e *exporter) addRuns() error {
	for _, r := range e.survey.Runs() {
		err := e.runs.add(int64(r.ID), moment(r.Started), moment(r.Finished), hex.EncodeToString(r.Config[:]),
			r.Status.String(), text(r.Reason), int64(r.Pages), int64(r.Requests))
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) addPages() error {
	return e.survey.EachPage(func(p *survey.Page) error {
		e.class[p.ID] = p.Class
		e.graph.addPage(p.ID)
		for _, l := range e.levels {
			l.fold.AddPage(p, true)
		}
		return errors.Join(e.addPage(p), e.addDepths(p), e.addVisit(p))
	})
}

// addPage writes the row of a page, whose columns are those of terrain.sql.
func (e *exporter) addPage(p *survey.Page) error {
	v := p.Visit
	if v == nil {
		v = &schema.Visit{Length: -1}
	}
	visited, length, response := any(nil), any(nil), any(nil)
	if p.FetchURL != "" {
		visited = moment(v.At)
		response = v.ResponseTime.Milliseconds()
	}
	if v.Length >= 0 {
		length = v.Length
	}
	return e.pages.add(
		int64(p.ID), p.URL, p.HostName, p.State.String(), text(v.Title), number(v.Status), text(v.ContentType),
		text(v.LastModified), visited, moment(p.FirstSeen), int64(p.FirstRun), text(p.Error), int64(p.Retries),
		weburl.SURT(p.URL), p.Class.String(), text(p.Rule), text(p.FetchURL), number(p.RedirectTo), int64(p.RedirectCount),
		number(p.Referrer), text(v.Charset), text(v.ETag), length, digest(v.SHA256), response, flag(v.NoIndex), flag(v.NoFollow),
		text(p.PageType), text(v.StoredPath), text(v.ServerDate), int64(p.FirstRun), int64(p.LastRun),
	)
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
		if err := e.facts.add(int64(p.ID), clean(f.Name), clean(f.Value)); err != nil {
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
		e.linked[link.To] = true
		err := e.links.add(e.links.number(), int64(from), int64(link.To), int64(first), link.Kinds.First().String(),
			text(link.Rel.String()), link.Where(), text(link.Anchor), int64(last))
		if err != nil {
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
		e.graph.addLink(from, link.To)
		for _, l := range e.levels {
			l.fold.AddLink(from, link, first, last)
		}
		return e.addReferrer(from, link.To, first)
	})
}

// kindsByName returns the kinds in the order of the key of link_kinds.
func kindsByName() [5]schema.LinkKind {
	return [...]schema.LinkKind{schema.LinkAnchor, schema.LinkCanonical, schema.LinkFrame, schema.LinkRedirect, schema.LinkRefresh}
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
			SELECT id, url, domain, (SELECT count(*) FROM %[2]s_referrers WHERE %[2]s_url_id = pages.id), first_run
			FROM pages WHERE class = '%[1]s' ORDER BY id`, name[0], name[1]))
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) addSitemapURLs() error {
	return e.survey.EachSitemapEntry(func(sitemap string, entry schema.SitemapEntry) error {
		return e.sitemapURLs.add(int64(entry.To), sitemap, moment(entry.LastMod), text(entry.ChangeFreq), flag(e.linked[entry.To]))
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
		depth := any(nil)
		if r.MinDepth != kv.NoDepth {
			depth = int64(r.MinDepth)
		}
		return e.hosts.add(int64(r.Host.ID), r.Host.Name, int64(e.sites.NodeOfHost(r.Host.ID)), r.Class.String(), text(r.Title), depth,
			int64(r.Known), int64(r.Visited), int64(r.Host.Visits), int64(r.Host.Requests),
			e.survey.FullDelay(r.Host).Milliseconds(), r.Coverage, int64(r.KnownMissing))
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
	return e.domainStates.add(e.domainStates.number(), h.Name, int64(requests), flag(limited), text(string(robots.Text)), moment(h.RobotsAt))
}
