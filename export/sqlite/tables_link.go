package sqlite

import (
	"slices"
	"sort"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema"
)

// linksOfPage is the approximate number of links per page.
const linksOfPage = 4

// linkCount returns the number of links, or an estimate until they have been read.
func (d *DB) linkCount() int64 {
	if d.links.all != nil {
		return int64(len(d.links.all.to))
	}
	return linksOfPage * d.urls()
}

// eachLink returns the links in a span of numbers.
func (d *DB) eachLink(s span) (next[linkRow], error) {
	g, err := d.links.graph()
	if err != nil {
		return nil, err
	}
	scan := &linkScan{db: d, graph: g}
	if !s.desc {
		scan.ahead = linksOfPage
	}
	from := schema.ID(0) // source of the previous link
	return eachPlace(s, len(g.to), func(at int, row *linkRow) (bool, error) {
		place := uint32(at)
		if place < g.start[from] || place >= g.start[from+1] {
			from = g.from(place)
		}
		*row = linkRow{id: int64(at) + 1, Link: export.Link{From: uint32(from), To: g.to[place]}, scan: scan}
		return true, nil
	}), nil
}

// linksFrom returns the links of a page, linksTo those to a page.
func (d *DB) linksFrom(page any) (next[linkRow], error) {
	g, err := d.links.graph()
	if err != nil || !g.has(page.(int64)) {
		return none[linkRow], err
	}
	from, to := g.out(schema.ID(page.(int64)))
	return d.linksAt(g, int(to-from), func(i int) uint32 { return from + uint32(i) }), nil
}

func (d *DB) linksTo(page any) (next[linkRow], error) {
	g, err := d.links.graph()
	if err != nil || !g.has(page.(int64)) {
		return none[linkRow], err
	}
	places := g.toward(schema.ID(page.(int64)))
	return d.linksAt(g, len(places), func(i int) uint32 { return places[i] }), nil
}

// linksAt returns the links at n positions.
func (d *DB) linksAt(g *graph, n int, place func(i int) uint32) next[linkRow] {
	scan := &linkScan{db: d, graph: g}
	return eachPlace(all(), n, func(i int, row *linkRow) (bool, error) {
		at := place(i)
		link := export.Link{From: uint32(g.from(at)), To: g.to[at]}
		*row = linkRow{id: int64(at) + 1, Link: link, scan: scan}
		return true, nil
	})
}

// load loads the part of a link that a column needs.
func (l *linkRow) load(column string) error {
	switch column {
	case "id", "from_page_id", "to_page_id":
		return nil
	}
	if anchor := column == "anchor"; l.Page == nil || anchor && !l.anchored {
		if err := l.scan.fill(l, anchor); err != nil {
			return err
		}
	}
	if column == "sitewide" && !l.marked {
		return l.scan.mark(l)
	}
	return nil
}

func linkView(d *DB) virtual {
	v := newView(d, linkRelation(d.columns), d.linkCount, func(l *linkRow) int64 { return l.id }, d.eachLink)
	v.ordered = true
	v.load = func(l *linkRow, column string) error { return l.load(column) }
	v.keys = []key[linkRow]{{"from_page_id", linksOfPage, d.linksFrom}, {"to_page_id", linksOfPage + 1, d.linksTo}}
	return v
}

// A numberedKind is a kind of a link with its row number: that of the link, combined with its position
// among the kinds.
type numberedKind struct {
	kindRow
	number int64
}

// kindPlaces is more than the number of kinds that a link may have.
const kindPlaces = 16

func kindView(d *DB) virtual {
	type numbered = numberedKind
	r := through(kindRelation(), func(k *numbered) *kindRow { return &k.kindRow })
	v := newView(d, r, d.linkCount, func(k *numbered) int64 { return k.number }, func(s span) (next[numbered], error) {
		links, err := d.eachLink(span{s.lo / kindPlaces, s.hi / kindPlaces, s.desc})
		if err != nil {
			return nil, err
		}
		return kindsOf(links, s), nil
	})
	of := func(find func(any) (next[linkRow], error)) func(any) (next[numbered], error) {
		return func(page any) (next[numbered], error) {
			links, err := find(page)
			if err != nil {
				return nil, err
			}
			return kindsOf(links, all()), nil
		}
	}
	v.keys = []key[numbered]{
		{"from_page_id", linksOfPage, of(d.linksFrom)}, {"to_page_id", linksOfPage + 1, of(d.linksTo)},
	}
	return v
}

// kindsOf returns the kinds of links whose row numbers are in a span.
func kindsOf(links next[linkRow], s span) next[numberedKind] {
	var link linkRow
	var kinds []numberedKind
	byName := kindsByName()
	return func(row *numberedKind) (bool, error) {
		for {
			for len(kinds) > 0 {
				*row, kinds = kinds[0], kinds[1:]
				if row.number >= s.lo && row.number <= s.hi {
					return true, nil
				}
			}
			ok, err := links(&link)
			if ok && err == nil {
				err = link.load("kind")
			}
			if !ok || err != nil {
				return false, err
			}
			kinds = kinds[:0]
			for at, kind := range byName {
				if link.Page.Kinds.Has(kind) {
					number := link.id*kindPlaces + int64(at)
					kinds = append(kinds, numberedKind{kindRow{schema.ID(link.From), schema.ID(link.To), kind}, number})
				}
			}
			if s.desc {
				slices.Reverse(kinds)
			}
		}
	}
}

// A referrers holds the positions of the links to pages of a class that is never visited.
type referrers struct {
	db     *DB
	class  schema.Class
	places []uint32
}

// read finds the positions, once.
func (r *referrers) read() (*graph, error) {
	g, err := r.db.links.graph()
	if err != nil || r.places != nil {
		return g, err
	}
	m, err := r.db.mark()
	if err != nil {
		return nil, err
	}
	r.places = []uint32{}
	for at, to := range g.to {
		if m.class[to] == r.class {
			r.places = append(r.places, uint32(at))
		}
	}
	return g, nil
}

func (r *referrers) scan(s span) (next[referrerLink], error) {
	g, err := r.read()
	if err != nil {
		return nil, err
	}
	scan := &linkScan{db: r.db, graph: g}
	return eachPlace(s, len(r.places), func(i int, row *referrerLink) (bool, error) {
		at := r.places[i]
		link := linkRow{Link: export.Link{From: uint32(g.from(at)), To: g.to[at]}, scan: scan}
		row.referrerRow = referrerRow{id: int64(i) + 1, to: schema.ID(link.To), from: schema.ID(link.From)}
		row.link = link
		return true, nil
	}), nil
}

// to returns the links to one page.
func (r *referrers) to(page any) (next[referrerLink], error) {
	g, err := r.read()
	if err != nil || !g.has(page.(int64)) {
		return none[referrerLink], err
	}
	places := g.toward(schema.ID(page.(int64)))
	var one next[referrerLink]
	return func(row *referrerLink) (bool, error) {
		for len(places) > 0 {
			i, ok := slices.BinarySearch(r.places, places[0])
			places = places[1:]
			if !ok {
				continue
			}
			if one, err = r.scan(span{int64(i) + 1, int64(i) + 1, false}); err != nil {
				return false, err
			}
			return one(row)
		}
		return false, nil
	}, nil
}

// from returns the links from one page.
func (r *referrers) from(page any) (next[referrerLink], error) {
	g, err := r.read()
	if err != nil || !g.has(page.(int64)) {
		return none[referrerLink], err
	}
	first, end := g.out(schema.ID(page.(int64)))
	at := func(place uint32) int64 {
		return int64(sort.Search(len(r.places), func(i int) bool { return r.places[i] >= place }))
	}
	return r.scan(span{at(first) + 1, at(end), false})
}

// A referrerLink is a link to a listed page, with the means to read more of it.
type referrerLink struct {
	referrerRow
	link linkRow
}

func referrerView(d *DB, class schema.Class) virtual {
	of, r := referrerRelation(listedAs(class)), &referrers{db: d, class: class}
	wider := through(of, func(l *referrerLink) *referrerRow { return &l.referrerRow })
	v := newView(d, wider, d.few, func(l *referrerLink) int64 { return l.id }, r.scan)
	v.ordered = true
	v.load = func(l *referrerLink, column string) error {
		if column != "discovered_run" {
			return nil
		}
		err := l.link.load(column)
		l.first = l.link.First
		return err
	}
	v.keys = []key[referrerLink]{{of.columns[1].name, linksOfPage, r.to}, {of.columns[2].name, 2, r.from}}
	return v
}
