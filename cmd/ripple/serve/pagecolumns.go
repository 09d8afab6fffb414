package serve

import (
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// A PageColumn describes a column of the list of pages.
type PageColumn struct {
	Name  string `json:"name"`  // as in SQL
	Title string `json:"title"` // as a person reads it
	Kind  string `json:"kind"`  // how its values are shown
	Usual bool   `json:"usual"` // shown by default
}

// A pageColumn is the single definition of a column in the list of pages.
type pageColumn struct {
	PageColumn
	of   func(*pageTable, *survey.Page) any // nil, an int64 or a string
	key  func(*pageTable, *pageFact) uint32 // orders pages like the column; 0: no value; nil: their values do
	near bool                               // [survey.Survey.EachPlace] knows the value
}

// pageColumns returns the columns of the list of pages in their order. Those with an empty kind are
// numbers.
func pageColumns() []pageColumn {
	type column = PageColumn
	all := []pageColumn{
		{PageColumn: column{"url", "page", "page", true}, near: true},
		{PageColumn: column{"title", "title", "text", true}},
		{PageColumn: column{"state", "state", "state", true}, key: func(t *pageTable, f *pageFact) uint32 {
			return t.stateRank[f.state]
		}},
		{PageColumn: column{"status_code", "status", "number", true}, key: func(_ *pageTable, f *pageFact) uint32 {
			return uint32(f.status)
		}},
		{PageColumn: column{"content_type", "type", "text", true}, key: func(t *pageTable, f *pageFact) uint32 {
			return t.media.rank(f.media)
		}},
		{PageColumn: column{"depth", "depth", "number", true}, of: depthOfPage,
			key: func(_ *pageTable, f *pageFact) uint32 { return uint32(f.depth + 1) }},
		{PageColumn: column{"links_in", "links in", "number", true},
			of: func(t *pageTable, p *survey.Page) any { return int64(t.in[p.ID]) }},
		{PageColumn: column{"links_out", "links out", "number", true},
			of:  func(_ *pageTable, p *survey.Page) any { return int64(p.LinkCount) },
			key: func(_ *pageTable, f *pageFact) uint32 { return f.links + 1 }},
		{PageColumn: column{"visited_at", "visited", "time", true}, key: func(_ *pageTable, f *pageFact) uint32 {
			return f.visited
		}},
		{PageColumn: column{"response_ms", "answer time", "milliseconds", true},
			key: func(_ *pageTable, f *pageFact) uint32 { return f.response }},
		{PageColumn: column{"content_length", "size", "bytes", true}, key: func(_ *pageTable, f *pageFact) uint32 {
			return f.length
		}},
		{PageColumn: column{"domain", "host", "host", false}, near: true},
		{PageColumn: column{"class", "class", "class", false}, near: true},
		{PageColumn: column{"error_message", "error", "text", false}},
		{PageColumn: column{"rule", "rule", "text", false}},
		{PageColumn: column{"answer", "answer", "text", false}},
		{PageColumn: column{"answer_rule", "answer's rule", "text", false}},
		{PageColumn: column{"preferences", "preferences", "text", false}},
		{PageColumn: column{"page_type", "page type", "text", false}, near: true},
		{PageColumn: column{"discovered_at", "found", "time", false}, near: true},
		{PageColumn: column{"discovered_run", "found in run", "number", false}, near: true},
		{PageColumn: column{"last_run", "last run", "number", false}, near: true},
		{PageColumn: column{"retry_count", "retries", "number", false}},
		{PageColumn: column{"redirect_count", "redirects", "number", false}},
		{PageColumn: column{"fetch_url", "requested as", "text", false}},
		{PageColumn: column{"last_modified", "last modified", "text", false}},
		{PageColumn: column{"charset", "charset", "text", false}},
		{PageColumn: column{"etag", "ETag", "text", false}},
		{PageColumn: column{"body_sha256", "SHA-256", "text", false}},
		{PageColumn: column{"noindex", "noindex", "number", false}},
		{PageColumn: column{"nofollow", "nofollow", "number", false}},
		{PageColumn: column{"needs_scripts", "needs scripts", "text", false}},
		{PageColumn: column{"rendered", "rendered", "text", false}},
		{PageColumn: column{"stored_path", "stored as", "text", false}},
		{PageColumn: column{"id", "id", "number", false}, near: true},
	}
	exported := sqlite.PageColumns()
	for i := range all {
		if c := &all[i]; c.of == nil {
			same := exported[slices.IndexFunc(exported, func(e sqlite.PageColumn) bool { return e.Name == c.Name })]
			c.of = func(_ *pageTable, p *survey.Page) any { return same.Of(p) }
		}
	}
	return all
}

func depthOfPage(_ *pageTable, p *survey.Page) any {
	if p.Depth == kv.NoDepth {
		return nil
	}
	return int64(p.Depth)
}

// pageColumnNames returns the names of all columns.
func pageColumnNames() (names []string) {
	for _, c := range pageColumns() {
		names = append(names, c.Name)
	}
	return names
}

// chosenColumns returns the columns in a list of names, or the usual ones if it is empty.
func chosenColumns(all []pageColumn, list string) (chosen []pageColumn, err error) {
	if list == "" {
		return slices.DeleteFunc(slices.Clone(all), func(c pageColumn) bool { return !c.Usual }), nil
	}
	for name := range strings.SplitSeq(list, ",") {
		at := slices.IndexFunc(all, func(c pageColumn) bool { return c.Name == name })
		if at < 0 {
			return nil, term.Usage("there is no column %q", term.Clean(name, 40))
		}
		if !slices.ContainsFunc(chosen, func(c pageColumn) bool { return c.Name == name }) {
			chosen = append(chosen, all[at])
		}
	}
	return chosen, nil
}
