package sqlite

import (
	"encoding/hex"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A pageRow is a page with its visit, which is the zero visit if there is none.
type pageRow struct {
	*survey.Page
	visit *schema.Visit
}

// A linkRow is a link between two pages, with the id of its row.
type linkRow struct {
	export.Link
	id int64
}

func runColumns() []column[schema.Run] {
	type run = schema.Run
	return []column[run]{
		{"id", func(r *run) any { return int64(r.ID) }},
		{"started_at", func(r *run) any { return moment(r.Started) }},
		{"finished_at", func(r *run) any { return moment(r.Finished) }},
		{"config_hash", func(r *run) any { return hex.EncodeToString(r.Config[:]) }},
		{"status", func(r *run) any { return r.Status.String() }},
		{"reason", func(r *run) any { return text(r.End.String()) }},
		{"pages", func(r *run) any { return int64(r.Pages) }},
		{"requests", func(r *run) any { return int64(r.Requests) }},
	}
}

func pageColumns() []column[pageRow] {
	return []column[pageRow]{
		{"id", func(p *pageRow) any { return int64(p.ID) }},
		{"url", func(p *pageRow) any { return p.URL }},
		{"domain", func(p *pageRow) any { return p.HostName }},
		{"state", func(p *pageRow) any { return p.State.String() }},
		{"title", func(p *pageRow) any { return text(p.visit.Title) }},
		{"status_code", func(p *pageRow) any { return number(p.visit.Status) }},
		{"content_type", func(p *pageRow) any { return text(p.visit.ContentType) }},
		{"last_modified", func(p *pageRow) any { return text(p.visit.LastModified) }},
		{"visited_at", func(p *pageRow) any { return p.ifAsked(moment(p.visit.At)) }},
		{"discovered_at", func(p *pageRow) any { return moment(p.FirstSeen) }},
		{"discovered_run", func(p *pageRow) any { return int64(p.FirstRun) }},
		{"error_message", func(p *pageRow) any { return text(p.Error) }},
		{"retry_count", func(p *pageRow) any { return int64(p.Retries) }},
		{"surt_key", func(p *pageRow) any { return weburl.SURT(p.URL) }},
		{"class", func(p *pageRow) any { return p.Class.String() }},
		{"rule", func(p *pageRow) any { return text(p.Rule) }},
		{"fetch_url", func(p *pageRow) any { return text(p.FetchURL) }},
		{"redirect_to", func(p *pageRow) any { return number(p.RedirectTo) }},
		{"redirect_count", func(p *pageRow) any { return int64(p.RedirectCount) }},
		{"referrer_id", func(p *pageRow) any { return number(p.Referrer) }},
		{"charset", func(p *pageRow) any { return text(p.visit.Charset) }},
		{"etag", func(p *pageRow) any { return text(p.visit.ETag) }},
		{"content_length", (*pageRow).length},
		{"body_sha256", func(p *pageRow) any { return digest(p.visit.SHA256) }},
		{"response_ms", func(p *pageRow) any { return p.ifAsked(p.visit.ResponseTime.Milliseconds()) }},
		{"noindex", func(p *pageRow) any { return flag(p.visit.NoIndex) }},
		{"nofollow", func(p *pageRow) any { return flag(p.visit.NoFollow) }},
		{"page_type", func(p *pageRow) any { return text(p.PageType) }},
		{"stored_path", func(p *pageRow) any { return text(p.visit.StoredPath) }},
		{"server_date", func(p *pageRow) any { return text(p.visit.ServerDate) }},
		{"first_run", func(p *pageRow) any { return int64(p.FirstRun) }},
		{"last_run", func(p *pageRow) any { return int64(p.LastRun) }},
	}
}

// ifAsked is NULL for a page that was not asked for.
func (p *pageRow) ifAsked(v any) any {
	if p.FetchURL == "" {
		return nil
	}
	return v
}

// length is NULL for a body that was not read.
func (p *pageRow) length() any {
	if p.Visit == nil || p.visit.Length < 0 {
		return nil
	}
	return p.visit.Length
}

func linkColumns(c *export.Columns) []column[linkRow] {
	all := []column[linkRow]{
		{"id", func(l *linkRow) any { return l.id }},
		{"from_page_id", func(l *linkRow) any { return int64(l.From) }},
		{"to_page_id", func(l *linkRow) any { return int64(l.To) }},
		{"discovered_run", func(l *linkRow) any { return int64(l.First) }},
	}
	for _, f := range figures(c.Links, export.InLinks) {
		if f.name == "place" { // empty for a redirect, and never NULL
			all = append(all, column[linkRow]{f.name, func(l *linkRow) any { return l.Page.Where() }})
			continue
		}
		all = append(all, column[linkRow]{f.name, func(l *linkRow) any { return f.of(&l.Link) }})
	}
	return all
}

// hostColumns are those of hosts, which lie in sites that the exporter numbers.
func hostColumns(e *exporter) []column[survey.HostReport] {
	type report = survey.HostReport
	return []column[report]{
		{"id", func(r *report) any { return int64(r.Host.ID) }},
		{"domain", func(r *report) any { return r.Host.Name }},
		{"site_id", func(r *report) any { return int64(e.sites.NodeOfHost(r.Host.ID)) }},
		{"class", func(r *report) any { return r.Class.String() }},
		{"title", func(r *report) any { return text(r.Title) }},
		{"min_depth", func(r *report) any { return depth(r.MinDepth) }},
		{"pages_known", func(r *report) any { return int64(r.Known) }},
		{"pages_visited", func(r *report) any { return int64(r.Visited) }},
		{"crawl_count", func(r *report) any { return int64(r.Host.Visits) }},
		{"requests", func(r *report) any { return int64(r.Host.Requests) }},
		{"delay_ms", func(r *report) any { return e.survey.Config().BaseDelay(r.Host).Milliseconds() }},
		{"coverage", func(r *report) any { return r.Coverage }},
		{"known_missing", func(r *report) any { return int64(r.KnownMissing) }},
		{"links_omitted", func(r *report) any { return int64(r.LinksOmitted) }},
	}
}

// depth is NULL for none.
func depth(d uint8) any {
	if d == kv.NoDepth {
		return nil
	}
	return int64(d)
}
