package sqlite

import (
	"slices"

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// urls returns the number of URLs, which is close to the number of pages.
func (d *DB) urls() int64 { return int64(d.survey.URLs()) }

// eachPage returns the pages in a span of ids.
func (d *DB) eachPage(s span, facts bool) next[pageRow] {
	scan := &pageScan{db: d, desc: s.desc, facts: facts}
	read := scan.page
	if s.lo == s.hi && !facts {
		read = d.pages.page
	}
	return eachPlace(s, d.survey.URLs(), func(at int, row *pageRow) (bool, error) {
		*row = pageRow{id: schema.ID(at + 1), read: read}
		return d.survey.Maps(row.id)
	})
}

func pageView(d *DB) virtual {
	v := newView(d, pageRelation(), d.urls, func(p *pageRow) int64 { return int64(p.id) },
		func(s span) (next[pageRow], error) { return d.eachPage(s, false), nil })
	v.ordered = true
	v.load = func(p *pageRow, column string) error {
		switch column {
		case "id":
			return nil
		case "duplicate_of":
			duplicates, err := d.survey.Duplicates()
			if err == nil {
				p.duplicateOf = duplicates.Of(p.id)
			}
			return err
		}
		if ok, err := p.loadSome(d, column); ok || err != nil {
			return err
		}
		return p.load()
	}
	v.keys = []key[pageRow]{
		{"url", onlyOne, d.pageByURL},
		{"domain", d.urls()/max(d.hostCount(), 1) + 1, d.pagesOfHost},
	}
	return v
}

func (d *DB) pageByURL(url any) (next[pageRow], error) {
	id, ok, err := d.survey.Lookup(url.(string))
	if !ok || err != nil {
		return none[pageRow], err
	}
	return d.eachPage(span{int64(id), int64(id), false}, false), nil
}

// pagesOfHost returns the pages of a host, which are known in memory.
func (d *DB) pagesOfHost(name any) (next[pageRow], error) {
	host, ok, err := d.survey.Hosts.Lookup(name.(string))
	if !ok || err != nil {
		return none[pageRow], err
	}
	return eachPlace(all(), d.survey.URLs(), func(at int, row *pageRow) (bool, error) {
		*row = pageRow{id: schema.ID(at + 1), read: d.pages.page}
		if d.survey.Hosts.Of(row.id) != host {
			return false, nil
		}
		return d.survey.Maps(row.id)
	}), nil
}

// redirectView reads every page, because a redirect is part of its visit.
func redirectView(d *DB) virtual {
	v := newView(d, redirectRelation(), d.few, func(p *pageRow) int64 { return int64(p.id) },
		func(s span) (next[pageRow], error) {
			pages := d.eachPage(s, false)
			return func(row *pageRow) (bool, error) {
				for {
					ok, err := pages(row)
					if ok && err == nil {
						err = row.load()
					}
					if !ok || err != nil || row.RedirectTo != 0 {
						return ok, err
					}
				}
			}, nil
		})
	v.ordered = true
	return v
}

// few is an estimate for kinds of pages that are rare.
func (d *DB) few() int64 { return d.urls()/20 + 1 }

// factPlaces is more than the number of facts that a page may have.
const factPlaces = 1 << 20

// factView reads every page, too. The number of a fact combines that of its page and its position
// there.
func factView(d *DB) virtual {
	type numbered = numberedFact
	r := through(factRelation(), func(f *numbered) *factRow { return &f.factRow })
	v := newView(d, r, d.few, func(f *numbered) int64 { return f.number }, d.eachFact)
	v.keys = []key[numbered]{{"page_id", 3, func(page any) (next[numbered], error) {
		id := page.(int64)
		if id < 1 || id > d.urls() {
			return none[numbered], nil
		}
		return d.eachFact(span{id * factPlaces, (id+1)*factPlaces - 1, false})
	}}}
	return v
}

// A numberedFact is a fact with its row number.
type numberedFact struct {
	factRow
	number int64
}

func (d *DB) eachFact(s span) (next[numberedFact], error) {
	pages := d.eachPage(span{s.lo / factPlaces, s.hi / factPlaces, s.desc}, true)
	var page pageRow
	var facts []numberedFact
	return func(row *numberedFact) (bool, error) {
		for {
			for len(facts) > 0 {
				*row, facts = facts[0], facts[1:]
				if row.number >= s.lo && row.number <= s.hi {
					return true, nil
				}
			}
			ok, err := pages(&page)
			if ok && err == nil {
				err = page.load()
			}
			if !ok || err != nil {
				return false, err
			}
			facts = factsOf(page.Page, facts[:0])
			if s.desc {
				slices.Reverse(facts)
			}
		}
	}, nil
}

func factsOf(p *survey.Page, facts []numberedFact) []numberedFact {
	if p.Visit == nil || p.Gone {
		return facts
	}
	for at, f := range p.Visit.Facts {
		facts = append(facts, numberedFact{factRow{p.ID, f}, int64(p.ID)*factPlaces + int64(at)})
	}
	return facts
}

// depthView reads depths, which one search from all origins computes.
func depthView(d *DB) virtual {
	v := newView(d, depthRelation(), d.urls, func(r *depthRow) int64 { return r.id }, d.eachDepth)
	v.ordered = true
	v.keys = []key[depthRow]{{"page_id", 2, func(page any) (next[depthRow], error) {
		id := page.(int64)
		if id < 1 || id > d.urls() {
			return none[depthRow], nil
		}
		t, err := d.depth()
		if err != nil {
			return nil, err
		}
		return d.eachDepth(span{int64(t.first[id]) + 1, int64(t.first[id+1]), false})
	}}}
	return v
}

func (d *DB) eachDepth(s span) (next[depthRow], error) {
	t, err := d.depth()
	if err != nil {
		return nil, err
	}
	var rows []depthRow // of one page
	return eachPlace(s, int(t.first[len(t.first)-1]), func(at int, row *depthRow) (bool, error) {
		number := int64(at) + 1
		if len(rows) == 0 || number < rows[0].id || number > rows[len(rows)-1].id {
			rows = t.rows(rows[:0], number)
		}
		*row = rows[number-rows[0].id]
		return true, nil
	}), nil
}

// rows appends all rows of the page to which a row number belongs.
func (t *depths) rows(rows []depthRow, number int64) []depthRow {
	page := t.of(number)
	id := int64(t.first[page])
	for origin, depth := range t.Of(page) {
		id++
		rows = append(rows, depthRow{id, page, t.names[origin], depth})
	}
	return rows
}

// frontierView reads the waiting pages.
func frontierView(d *DB) virtual {
	scan := func(s span) (next[waitingRow], error) {
		m, err := d.mark()
		if err != nil {
			return nil, err
		}
		return eachPlace(s, len(m.waiting), func(at int, row *waitingRow) (bool, error) {
			*row = waitingRow{int64(at) + 1, pageRow{id: schema.ID(m.waiting[at]), read: d.pages.page}}
			return true, nil
		}), nil
	}
	v := newView(d, frontierRelation(), d.few, func(w *waitingRow) int64 { return w.number }, scan)
	v.ordered = true
	v.load = func(w *waitingRow, column string) error {
		if column == "id" || column == "page_id" {
			return nil
		}
		return w.load()
	}
	v.keys = []key[waitingRow]{{"page_id", onlyOne, func(page any) (next[waitingRow], error) {
		m, err := d.mark()
		if err != nil || page.(int64) < 1 || page.(int64) > d.urls() {
			return none[waitingRow], err
		}
		at, ok := slices.BinarySearch(m.waiting, uint32(page.(int64)))
		if !ok {
			return none[waitingRow], nil
		}
		return scan(span{int64(at) + 1, int64(at) + 1, false})
	}}}
	return v
}

// listedView reads the pages of a class that is never visited.
func listedView(d *DB, class schema.Class) virtual {
	some := func(ids []uint32) (next[listedRow], error) {
		g, err := d.links.graph()
		if err != nil {
			return nil, err
		}
		return eachPlace(all(), len(ids), func(at int, row *listedRow) (bool, error) {
			id := schema.ID(ids[at])
			*row = listedRow{pageRow{id: id, read: d.pages.page}, len(g.toward(id))}
			return true, nil
		}), nil
	}
	scan := func(s span) (next[listedRow], error) {
		m, err := d.mark()
		if err != nil {
			return nil, err
		}
		ids := m.listed[class]
		from, _ := slices.BinarySearch(ids, uint32(min(max(s.lo, 0), d.urls()+1)))
		to, _ := slices.BinarySearch(ids, uint32(min(max(s.hi, -1), d.urls())+1))
		ids = ids[from:max(from, to)]
		if s.desc {
			ids = slices.Clone(ids)
			slices.Reverse(ids)
		}
		return some(ids)
	}
	v := newView(d, listedRelation(listedAs(class)), d.few, func(l *listedRow) int64 { return int64(l.id) }, scan)
	v.ordered = true
	v.load = func(l *listedRow, column string) error {
		if column == "id" || column == "reference_count" {
			return nil
		}
		return l.load()
	}
	v.keys = []key[listedRow]{{"url", onlyOne, func(url any) (next[listedRow], error) {
		id, ok, err := d.survey.Lookup(url.(string))
		if !ok || err != nil {
			return none[listedRow], err
		}
		return scan(span{int64(id), int64(id), false})
	}}}
	return v
}
