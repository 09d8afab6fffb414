package sqlite

import (
	"cmp"
	"encoding/hex"
	"reflect"
	"slices"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/preference"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// A pageRow is a page with its visit, which is the zero visit if there is none.
type pageRow struct {
	id schema.ID
	*survey.Page
	visit *schema.Visit

	// For a row that is read piece by piece:
	read  func(schema.ID) (*survey.Page, error) // reads the page
	whole bool                                  // the page was read; if not, Page is &some or nil
	some  survey.Page

	duplicateOf schema.ID // see [survey.Duplicates]
}

// A linkRow is a link between two pages, with the id of its row.
type linkRow struct {
	id int64
	export.Link

	// For a row that is read piece by piece: the scan to read it with and, once Page is set, what has
	// been read in addition.
	scan             *linkScan
	anchored, marked bool
}

// A hostRow is a host with its site.
type hostRow struct {
	id   schema.HostID
	name string
	*survey.HostReport
	site       uint32
	duplicates *survey.Duplicates
}

// duplicateShare returns which part of the host's pages are near-duplicates of another page, or NULL if none has a text
// that is long enough.
func (h *hostRow) duplicateShare() any {
	if share, ok := h.duplicates.Share(h.id); ok {
		return share
	}
	return nil
}

func runRelation() relation[schema.Run] {
	type run = schema.Run
	return relation[run]{"runs", []column[run]{
		{"id", integer, func(r *run) any { return int64(r.ID) }},
		{"started_at", text, func(r *run) any { return moment(r.Started) }},
		{"finished_at", text, func(r *run) any { return moment(r.Finished) }},
		{"config_hash", text, func(r *run) any { return hex.EncodeToString(r.Config[:]) }},
		{"status", text, func(r *run) any { return r.Status.String() }},
		{"reason", text, func(r *run) any { return words(r.End.String()) }},
		{"pages", integer, func(r *run) any { return int64(r.Pages) }},
		{"requests", integer, func(r *run) any { return int64(r.Requests) }},
		{"rules", text, func(r *run) any { return words(r.Rules) }},
		{"kind", text, func(r *run) any { return r.Kind.String() }},
		{"oldest_capture_at", text, func(r *run) any { return moment(r.Oldest) }},
		{"newest_capture_at", text, func(r *run) any { return moment(r.Newest) }},
	}}
}

func pageRelation() relation[pageRow] {
	return relation[pageRow]{"pages", []column[pageRow]{
		{"id", integer, func(p *pageRow) any { return int64(p.id) }},
		{"url", text, func(p *pageRow) any { return p.URL }},
		{"domain", text, func(p *pageRow) any { return p.HostName }},
		{"state", text, func(p *pageRow) any { return p.State.String() }},
		{"title", text, func(p *pageRow) any { return words(p.visit.Title) }},
		{"status_code", integer, func(p *pageRow) any { return number(p.Status()) }},
		{"content_type", text, func(p *pageRow) any { return words(p.visit.ContentType) }},
		{"last_modified", text, func(p *pageRow) any { return words(p.visit.LastModified) }},
		{"visited_at", text, func(p *pageRow) any { return p.ifAsked(moment(p.visit.At)) }},
		{"discovered_at", text, func(p *pageRow) any { return moment(p.FirstSeen) }},
		{"discovered_run", integer, func(p *pageRow) any { return int64(p.FirstRun) }},
		{"error_message", text, func(p *pageRow) any { return words(p.Error) }},
		{"retry_count", integer, func(p *pageRow) any { return int64(p.Retries) }},
		{"surt_key", text, func(p *pageRow) any { return weburl.SURT(p.URL) }},
		{"class", text, func(p *pageRow) any { return p.Class.String() }},
		{"rule", text, func(p *pageRow) any { return words(p.Rule) }},
		{"fetch_url", text, func(p *pageRow) any { return words(p.FetchURL) }},
		{"redirect_to", integer, func(p *pageRow) any { return number(p.RedirectTo) }},
		{"redirect_count", integer, func(p *pageRow) any { return int64(p.RedirectCount) }},
		{"referrer_id", integer, func(p *pageRow) any { return number(p.Referrer) }},
		{"charset", text, func(p *pageRow) any { return words(p.visit.Charset) }},
		{"etag", text, func(p *pageRow) any { return words(p.visit.ETag) }},
		{"content_length", integer, (*pageRow).length},
		{"body_sha256", text, func(p *pageRow) any { return digest(p.visit.SHA256) }},
		{"response_ms", integer, func(p *pageRow) any { return p.ifAsked(p.visit.ResponseTime.Milliseconds()) }},
		{"noindex", integer, func(p *pageRow) any { return flag(p.visit.NoIndex) }},
		{"nofollow", integer, func(p *pageRow) any { return flag(p.visit.NoFollow) }},
		{"page_type", text, func(p *pageRow) any { return words(p.PageType) }},
		{"stored_path", text, func(p *pageRow) any { return words(p.visit.StoredPath) }},
		{"server_date", text, func(p *pageRow) any { return words(p.visit.ServerDate) }},
		{"first_run", integer, func(p *pageRow) any { return int64(p.FirstRun) }},
		{"last_run", integer, func(p *pageRow) any { return int64(p.LastRun) }},
		{"needs_scripts", text, func(p *pageRow) any { return words(p.visit.Shell.String()) }},
		{"rendered", text, func(p *pageRow) any { return words(p.visit.Rendering.Tell(p.visit.Shell, p.visit.Refusals)) }},
		{"render_requests", integer, func(p *pageRow) any { return int64(p.visit.RenderAsked) }},
		{"own", integer, (*pageRow).own},
		{"answer", text, func(p *pageRow) any { return words(p.Answer.String()) }},
		{"answer_rule", text, func(p *pageRow) any { return words(p.AnswerRule) }},
		{"words", integer, (*pageRow).wordCount},
		{"simhash", text, func(p *pageRow) any { return words(p.visit.SimHash.String()) }},
		{"preferences", text, func(p *pageRow) any { return words(preference.Applied(p.visit.Preferences)) }},
		{"duplicate_of", integer, func(p *pageRow) any { return number(p.duplicateOf) }},
	}}
}

// own returns whether the host itself names the page, or NULL if the run has not reached it.
func (p *pageRow) own() any {
	if !p.InRun {
		return nil
	}
	return flag(p.Own)
}

// wordCount returns the number of words of the page, or NULL if it is not HTML: only such pages have a charset.
func (p *pageRow) wordCount() any {
	if p.visit.Charset == "" {
		return nil
	}
	return int64(p.visit.WordCount)
}

// of sets p to the row of a page.
func (p *pageRow) of(page *survey.Page) {
	p.id, p.Page, p.visit = page.ID, page, page.Visit
	if p.visit == nil {
		p.visit = &schema.Visit{}
	}
}

// load reads the page.
func (p *pageRow) load() error {
	if p.whole {
		return nil
	}
	page, err := p.read(p.id)
	if err == nil {
		p.of(page)
		p.whole = true
	}
	return err
}

// loadSome loads the parts of the page that are in memory; false: the column needs more.
func (p *pageRow) loadSome(d *DB, column string) (ok bool, err error) {
	if p.whole {
		return true, nil
	}
	switch column {
	case "domain":
		p.some.HostName, err = d.survey.Hosts.Name(d.survey.Hosts.Of(p.id))
	case "state", "class":
		m := d.marks
		if m == nil {
			return false, nil
		}
		p.some.State, p.some.Class = m.state[p.id], m.class[p.id]
	default:
		return false, nil
	}
	p.Page = &p.some
	return true, err
}

// ifAsked returns NULL for a page that was not requested.
func (p *pageRow) ifAsked(v any) any {
	if p.FetchURL == "" {
		return nil
	}
	return v
}

// length returns NULL for a body that was not read.
func (p *pageRow) length() any {
	if p.Visit == nil || p.visit.Length < 0 {
		return nil
	}
	return p.visit.Length
}

func redirectRelation() relation[pageRow] {
	return relation[pageRow]{"redirects", []column[pageRow]{
		{"from_page_id", integer, func(p *pageRow) any { return int64(p.id) }},
		{"to_page_id", integer, func(p *pageRow) any { return int64(p.RedirectTo) }},
		{"status", integer, func(p *pageRow) any { return int64(p.visit.Status) }},
	}}
}

func linkRelation(c *export.Columns) relation[linkRow] {
	all := []column[linkRow]{
		{"id", integer, func(l *linkRow) any { return l.id }},
		{"from_page_id", integer, func(l *linkRow) any { return int64(l.From) }},
		{"to_page_id", integer, func(l *linkRow) any { return int64(l.To) }},
		{"discovered_run", integer, func(l *linkRow) any { return int64(l.First) }},
	}
	for _, f := range figures(c.Links, export.InLinks) {
		of := func(l *linkRow) any { return f.of(&l.Link) }
		if f.name == "place" { // empty for a redirect, never NULL
			of = func(l *linkRow) any { return l.Page.Where() }
		}
		all = append(all, column[linkRow]{f.name, f.kind, of})
	}
	return relation[linkRow]{"links", all}
}

// hostRelation has the columns in the order of the schema, where a new figure comes last.
func hostRelation() relation[hostRow] {
	type row = hostRow
	all := slices.Concat([]column[row]{
		{"id", integer, func(h *row) any { return int64(h.id) }},
		{"domain", text, func(h *row) any { return h.name }},
		{"site_id", integer, func(h *row) any { return int64(h.site) }},
		{"class", text, func(h *row) any { return h.Class.String() }},
	}, hostColumns(func(h *row) *survey.HostFigures { return &h.HostFigures }),
		hostColumns(func(h *row) *survey.HostDetails { return &h.HostDetails }), []column[row]{
			{"tags", text, func(h *row) any { return words(h.Noted.TagText()) }},
			{"note", text, func(h *row) any { return words(h.Noted.Note) }},
			{"duplicate_share", export.Real, (*row).duplicateShare},
		})
	order := schema.Columns("hosts")
	slices.SortFunc(all, func(a, b column[row]) int {
		return cmp.Compare(slices.Index(order, a.name), slices.Index(order, b.name))
	})
	return relation[row]{"hosts", all}
}

// hostColumns returns a column for each of the figures of a host that the table has.
func hostColumns[F any](of func(*hostRow) *F) []column[hostRow] {
	var all []column[hostRow]
	figures := reflect.TypeFor[F]()
	for i := range figures.NumField() {
		f := figures.Field(i)
		if f.Tag.Get("sql") == "-" {
			continue
		}
		kind := integer
		if f.Type.Kind() == reflect.String {
			kind = text
		}
		all = append(all, column[hostRow]{f.Tag.Get("json"), kind, func(h *hostRow) any {
			return figure(reflect.ValueOf(of(h)).Elem().Field(i))
		}})
	}
	return all
}

// figure returns the value of a column; a nil pointer is NULL.
func figure(v reflect.Value) any {
	switch v.Kind() {
	case reflect.String:
		return words(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return figure(v.Elem())
	}
	return v.Int()
}
