package serve

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/desk"
	"github.com/sumi-ripple/ripple/crawl/control"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const (
	mostLists     = 32              // lists of pages that are kept
	mostListBytes = 128 << 20       // bytes of the lists that are kept
	searchTime    = 3 * time.Second // after which a search ends
)

// A PageList is a section of the list of pages that match, in an order.
type PageList struct {
	Snapshot string       `json:"snapshot"` // identifies the snapshot; pass it to get further sections of the same list
	Total    int          `json:"total"`    // pages that match
	Whole    bool         `json:"whole"`    // false: the search took too long, and did not see all pages
	Offset   int          `json:"offset"`
	Columns  []PageColumn `json:"columns"` // all there are
	Chosen   []string     `json:"chosen"`  // names of those in the rows
	Rows     [][]any      `json:"rows"`
	Choices  *PageChoices `json:"choices"` // null: not asked for
}

// A pageTable lists the pages of a reading. What it derives belongs to that reading.
type pageTable struct {
	survey   *survey.Survey
	store    *kv.Store
	patience time.Duration // of a search

	pages     []uint32   // ids of all pages; nil: not read yet
	facts     []pageFact // by id; nil: not read yet
	stateRank [schema.StateCount]uint32
	in        []uint32 // links to a page, by id; nil: not counted yet

	media, failures, kinds *wordList // made with facts

	lists map[string]*pageList
	clock int // counts the uses of lists
}

// A pageList is a list of pages by id or in the order of a column. A page takes 4 bytes.
type pageList struct {
	ids   []uint32
	known int  // pages with a value in the column; they come first
	whole bool // false: more pages may match
	used  int
}

func newPageTable(s *survey.Survey, store *kv.Store) *pageTable {
	t := &pageTable{survey: s, store: store, patience: searchTime, lists: map[string]*pageList{}}
	names := words(schema.States())
	slices.Sort(names)
	for _, state := range schema.States() {
		t.stateRank[state] = uint32(slices.Index(names, state.String())) + 1
	}
	return t
}

// readPages reads the ids of all pages, once.
func (t *pageTable) readPages() error {
	if t.pages != nil {
		return nil
	}
	pages := []uint32{}
	for id := schema.ID(1); int(id) <= t.survey.URLs(); id++ {
		if ok, err := t.survey.Maps(id); err != nil {
			return err
		} else if ok {
			pages = append(pages, uint32(id))
		}
	}
	t.pages = pages
	return nil
}

// keep returns a list, which it makes if it is not there. The lists used longest ago give way.
func (t *pageTable) keep(name string, make func() (*pageList, error)) (*pageList, error) {
	t.clock++
	if l := t.lists[name]; l != nil {
		l.used = t.clock
		return l, nil
	}
	l, err := make()
	if err != nil {
		return nil, err
	}
	l.used = t.clock
	t.lists[name] = l
	for t.tooMany() {
		oldest := name
		for other, o := range t.lists {
			if o.used < t.lists[oldest].used {
				oldest = other
			}
		}
		if oldest == name {
			break
		}
		delete(t.lists, oldest)
	}
	return l, nil
}

func (t *pageTable) tooMany() bool {
	bytes := 0
	for _, l := range t.lists {
		bytes += 4 * cap(l.ids)
	}
	return len(t.lists) > mostLists || bytes > mostListBytes
}

// selected returns the pages that match a query, in the order of its column.
func (t *pageTable) selected(ctx context.Context, q desk.Query, columns []pageColumn) (*pageList, error) {
	by, key := q.Text("sort"), filterKey(q)
	match, err := t.matching(ctx, q)
	if err != nil {
		return nil, err
	}
	if by == "" || by == "id" {
		return &pageList{ids: match.ids, known: len(match.ids), whole: match.whole}, nil
	}
	at := slices.IndexFunc(columns, func(c pageColumn) bool { return c.Name == by })
	order, err := t.keep("all by "+by, func() (*pageList, error) { return t.order(&columns[at]) })
	if err != nil || key == "" {
		return order, err
	}
	return t.keep(by+" of "+key, func() (*pageList, error) {
		in := make([]bool, t.survey.URLs()+1)
		for _, id := range match.ids {
			in[id] = true
		}
		list := &pageList{ids: make([]uint32, 0, len(match.ids)), whole: match.whole}
		for i, id := range order.ids {
			if in[id] {
				list.ids = append(list.ids, id)
				if i < order.known {
					list.known++
				}
			}
		}
		return list, nil
	})
}

// order sorts all pages by a column, equal ones by id. Pages without a value come last.
func (t *pageTable) order(c *pageColumn) (*pageList, error) {
	list := &pageList{whole: true}
	var last []uint32
	var err error
	switch {
	case c.Name == "links_in":
		if err = t.countIn(); err == nil {
			list.ids, last = ranked(t.pages, func(id uint32) uint32 { return t.in[id] + 1 })
		}
	case c.key != nil:
		if err = t.readFacts(); err == nil {
			list.ids, last = ranked(t.pages, func(id uint32) uint32 { return c.key(t, &t.facts[id]) })
		}
	default:
		list.ids, last, err = t.byValue(c)
	}
	list.known = len(list.ids)
	list.ids = append(list.ids, last...)
	return list, err
}

// ranked sorts ids by a key. It returns the ids whose key is 0 separately, in rest.
func ranked(ids []uint32, key func(uint32) uint32) (sorted, rest []uint32) {
	keys := make([]uint64, 0, len(ids))
	for _, id := range ids {
		if k := key(id); k > 0 {
			keys = append(keys, uint64(k)<<32|uint64(id))
		} else {
			rest = append(rest, id)
		}
	}
	slices.Sort(keys)
	sorted = make([]uint32, len(keys), len(ids))
	for i, k := range keys {
		sorted[i] = uint32(k)
	}
	return sorted, rest
}

// at returns a page by its rank.
func (l *pageList) at(rank int, desc bool) schema.ID {
	if desc && rank < l.known {
		rank = l.known - 1 - rank
	}
	return schema.ID(l.ids[rank])
}

// answerPages lists pages. It is quick for as long as the lists are kept, so its answers are not.
func (o *opened) answerPages(ctx context.Context, q desk.Query) (any, error) {
	o.moment, o.listed = true, time.Now()
	if o.pages == nil {
		o.pages = newPageTable(o.Survey, o.Store)
	}
	return o.pages.list(ctx, q, o.name)
}

// list answers a question for pages.
func (t *pageTable) list(ctx context.Context, q desk.Query, snapshot string) (*PageList, error) {
	columns := pageColumns()
	chosen, err := chosenColumns(columns, q.Text("columns"))
	if err != nil {
		return nil, err
	}
	list, err := t.selected(ctx, q, columns)
	if err != nil {
		return nil, err
	}
	p := &PageList{Snapshot: snapshot, Total: len(list.ids), Whole: list.whole, Offset: q.Number("offset"),
		Rows: [][]any{}}
	if q.Flag("choices") {
		if p.Choices, err = t.choices(); err != nil {
			return nil, err
		}
	}
	for _, c := range columns {
		p.Columns = append(p.Columns, c.PageColumn)
	}
	for _, c := range chosen {
		p.Chosen = append(p.Chosen, c.Name)
	}
	if slices.Contains(p.Chosen, "links_in") && q.Number("limit") > 0 {
		if err := t.countIn(); err != nil {
			return nil, err
		}
	}
	for rank := p.Offset; rank < min(p.Offset+q.Number("limit"), p.Total); rank++ {
		page, err := t.survey.Page(list.at(rank, q.Flag("desc")))
		if err != nil {
			return nil, err
		}
		row := make([]any, len(chosen))
		for i, c := range chosen {
			row[i] = answer.JSONValue(c.of(t, page))
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// gone reports a snapshot that is no longer open.
func gone() error {
	return &control.Error{Code: http.StatusGone, Text: "the pages were listed from an older snapshot, which is " +
		"no longer kept: refresh the list"}
}

// pageParams returns the parameters that select and order pages.
func pageParams() []desk.Param {
	filter := func(name, doc string, most int) desk.Param {
		return desk.Param{Name: name, Kind: desk.Text, Most: most, Doc: doc}
	}
	return []desk.Param{
		filter("search", "a part of the URL or of the title", 1000),
		{Name: "state", Kind: desk.Text, Words: words(schema.States()), Doc: "in this state alone"},
		{Name: "class", Kind: desk.Text, Words: words(schema.Classes()), Doc: "of this class alone"},
		{Name: "answer", Kind: desk.Text, Words: append([]string{answerPage}, words(schema.Answers()[1:])...),
			Doc: "page: only those that were read; another word: only those where this came instead of a page"},
		filter("status_code", "with this status alone: 404, 4xx, or none", 5),
		filter("content_type", "of this type alone, or none", 300),
		filter("depth", "at this depth alone, or none", 4),
		filter("domain", "of this host alone; *.a.org: of a.org and its subdomains", maxName),
		filter("quality_origin", "of the hosts of this origin alone", maxName),
		filter("error", "that ended in this error alone", 300),
		filter("error_kind", "that the newest run counts as an error of this kind alone", 300),
		{Name: "progress", Kind: desk.Text, Words: []string{progressVisited, progressWaiting, progressMissing},
			Doc: "that the newest run visited or kept, that wait, or that known_missing counts alone"},
		{Name: "run", Kind: desk.Number, Most: 1<<31 - 1, Doc: "that this run requested alone; 0: all"},
		{Name: "change", Kind: desk.Text, Words: words([]survey.Change{survey.Came, survey.Went, survey.Changed}),
			Doc: "that differ in this way between the runs from and to alone"},
		{Name: "from", Kind: desk.Number, Most: 1<<31 - 1, Doc: "with change: the earlier run; 0: the one before the later"},
		{Name: "to", Kind: desk.Number, Most: 1<<31 - 1, Doc: "with change: the later run; 0: the newest"},
		{Name: "sort", Kind: desk.Text, Words: pageColumnNames(), Doc: "the column; without it in the order in which they " +
			"were found. Pages without a value come last"},
		{Name: "desc", Kind: desk.Flag, Doc: "the other way round"},
		filter("columns", "names of columns, with commas between; without it the usual ones", 1000),
		filter("snapshot", "of an earlier answer, so that ranks mean the same; 410 if it is no longer kept", 40),
		{Name: "choices", Kind: desk.Flag, Doc: "also the values that pages can be filtered by"},
		{Name: "offset", Kind: desk.Number, Most: 1<<31 - 1, Doc: "matching pages before the first"},
		{Name: "limit", Kind: desk.Number, Default: 100, Most: 5000, Doc: "pages at most"},
	}
}
