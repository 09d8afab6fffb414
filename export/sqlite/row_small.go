package sqlite

import (
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// A depthRow is the depth of a page from an origin.
type depthRow struct {
	id     int64
	page   schema.ID
	origin string
	depth  uint8
}

func depthRelation() relation[depthRow] {
	return relation[depthRow]{"page_depths", []column[depthRow]{
		{"id", integer, func(d *depthRow) any { return d.id }},
		{"page_id", integer, func(d *depthRow) any { return int64(d.page) }},
		{"quality_origin", text, func(d *depthRow) any { return d.origin }},
		{"depth", integer, func(d *depthRow) any { return int64(d.depth) }},
	}}
}

// A kindRow is one of the kinds of a link.
type kindRow struct {
	from, to schema.ID
	kind     schema.LinkKind
}

func kindRelation() relation[kindRow] {
	return relation[kindRow]{"link_kinds", []column[kindRow]{
		{"from_page_id", integer, func(k *kindRow) any { return int64(k.from) }},
		{"to_page_id", integer, func(k *kindRow) any { return int64(k.to) }},
		{"kind", text, func(k *kindRow) any { return k.kind.String() }},
	}}
}

// kindsByName returns the kinds in the order of the key of link_kinds.
func kindsByName() []schema.LinkKind {
	return slices.SortedFunc(slices.Values(schema.LinkKinds()), func(a, b schema.LinkKind) int {
		return strings.Compare(a.String(), b.String())
	})
}

// A factRow is a fact of a page.
type factRow struct {
	page schema.ID
	schema.Fact
}

func factRelation() relation[factRow] {
	return relation[factRow]{"facts", []column[factRow]{
		{"page_id", integer, func(f *factRow) any { return int64(f.page) }},
		{"name", text, func(f *factRow) any { return sanitize.SQL(f.Name) }},
		{"value", text, func(f *factRow) any { return sanitize.SQL(f.Value) }},
	}}
}

// A referrerRow is a link to a listed page.
type referrerRow struct {
	id       int64
	to, from schema.ID
	first    schema.RunID
}

// referrerRelation returns the relation of the pages that link to listed ones; listed is "blacklisted"
// or "stubbed".
func referrerRelation(listed string) relation[referrerRow] {
	return relation[referrerRow]{listed + "_referrers", []column[referrerRow]{
		{"id", integer, func(r *referrerRow) any { return r.id }},
		{listed + "_url_id", integer, func(r *referrerRow) any { return int64(r.to) }},
		{"referrer_page_id", integer, func(r *referrerRow) any { return int64(r.from) }},
		{"discovered_run", integer, func(r *referrerRow) any { return int64(r.first) }},
	}}
}

// A listedRow is a listed page.
type listedRow struct {
	pageRow
	references int // number of pages that link to it
}

func listedRelation(listed string) relation[listedRow] {
	return relation[listedRow]{listed + "_urls", []column[listedRow]{
		{"id", integer, func(l *listedRow) any { return int64(l.id) }},
		{"url", text, func(l *listedRow) any { return l.URL }},
		{"domain", text, func(l *listedRow) any { return l.HostName }},
		{"reference_count", integer, func(l *listedRow) any { return int64(l.references) }},
		{"first_seen_run", integer, func(l *listedRow) any { return int64(l.FirstRun) }},
	}}
}

// A waitingRow is a waiting page.
type waitingRow struct {
	number int64
	pageRow
}

func frontierRelation() relation[waitingRow] {
	return relation[waitingRow]{"frontier", []column[waitingRow]{
		{"id", integer, func(w *waitingRow) any { return w.number }},
		{"page_id", integer, func(w *waitingRow) any { return int64(w.id) }},
		{"priority", integer, func(w *waitingRow) any { return int64(w.Depth) }},
		{"added_at", text, func(w *waitingRow) any { return moment(w.FirstSeen) }},
	}}
}

// A sitemapRow is an entry of a sitemap.
type sitemapRow struct {
	sitemap string
	schema.SitemapEntry
	linked bool // a page links to it as well
}

func sitemapRelation() relation[sitemapRow] {
	return relation[sitemapRow]{"sitemap_urls", []column[sitemapRow]{
		{"page_id", integer, func(s *sitemapRow) any { return int64(s.To) }},
		{"sitemap_url", text, func(s *sitemapRow) any { return s.sitemap }},
		{"lastmod", text, func(s *sitemapRow) any { return moment(s.LastMod) }},
		{"changefreq", text, func(s *sitemapRow) any { return words(s.ChangeFreq) }},
		{"linked", integer, func(s *sitemapRow) any { return flag(s.linked) }},
	}}
}

// A domainRow holds the requests to a host.
type domainRow struct {
	id       int64
	requests int
	limited  bool
	robots   schema.RobotsCopy
	*schema.Host
}

func domainRelation() relation[domainRow] {
	return relation[domainRow]{"domain_states", []column[domainRow]{
		{"id", integer, func(d *domainRow) any { return d.id }},
		{"domain", text, func(d *domainRow) any { return d.Name }},
		{"request_count", integer, func(d *domainRow) any { return int64(d.requests) }},
		{"rate_limited", integer, func(d *domainRow) any { return flag(d.limited) }},
		{"robots_txt", text, func(d *domainRow) any { return words(string(d.robots.Text)) }},
		{"robots_fetched_at", text, func(d *domainRow) any { return moment(d.RobotsAt) }},
	}}
}

// domainOf returns the row of a host, or nil if it received no requests and its robots.txt is unknown.
func domainOf(s *survey.Survey, h *schema.Host) (*domainRow, error) {
	if h.Requests == 0 && h.RobotsAt.IsZero() {
		return nil, nil
	}
	d := &domainRow{Host: h, limited: h.Throttles > 0}
	if h.Run == s.Run().ID {
		d.requests, d.limited = h.RunRequests, d.limited || h.RunGivenUp == schema.GaveUpRateLimit
	}
	var err error
	d.robots, err = s.Hosts.Robots(h.ID)
	return d, err
}
