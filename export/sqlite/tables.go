package sqlite

import (
	"sort"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema"
)

// newTables returns all tables in the order of terrain.sql.
func newTables(d *DB) []virtual {
	tables := []virtual{runView(d), pageView(d), depthView(d), linkView(d)}
	for _, class := range listedClasses() {
		tables = append(tables, listedView(d, class), referrerView(d, class))
	}
	tables = append(tables, domainView(d), frontierView(d), kindView(d), redirectView(d), factView(d), sitemapView(d),
		hostView(d), inlinkView(d),
		nodeView(d, siteRelation(d.columns), export.LevelSite), nodeView(d, entityRelation(d.columns), export.LevelEntity))
	for _, level := range []export.Level{export.LevelHost, export.LevelSite, export.LevelEntity} {
		tables = append(tables, levelLinkView(d, level))
	}
	return append(tables, pageMetricView(d), metricView(d, export.LevelHost), metricView(d, export.LevelSite))
}

// newView returns a view of a relation whose rows are scanned.
func newView[T any](d *DB, r relation[T], rows func() int64, number func(*T) int64,
	scan func(span) (next[T], error)) *view[T] {
	return &view[T]{
		relation: r, db: d, rows: rows, number: number, scan: scan,
		indexes: make(map[int]*index), asked: make(map[int]int),
	}
}

func (v *view[T]) title() string { return v.name }

// within returns the part of the span in n rows numbered from 1: those from lo to before hi, counted
// from 0.
func (s span) within(n int) (lo, hi int) {
	return int(max(s.lo, 1) - 1), int(max(min(s.hi, int64(n)), 0))
}

// eachPlace returns an iterator that calls row for the positions of a span among n, until row returns
// true.
func eachPlace[T any](s span, n int, row func(at int, row *T) (bool, error)) next[T] {
	lo, hi := s.within(n)
	return func(r *T) (bool, error) {
		for lo < hi {
			at := lo
			if s.desc {
				hi--
				at = hi
			} else {
				lo++
			}
			if ok, err := row(at, r); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
}

// ofSlice returns a view of rows in memory, sorted by ascending numbers.
func ofSlice[T any](d *DB, r relation[T], rows func() int64, number func(*T) int64, held func() ([]T, error)) *view[T] {
	scan := func(s span) (next[T], error) {
		all, err := held()
		if err != nil {
			return nil, err
		}
		from := sort.Search(len(all), func(i int) bool { return number(&all[i]) >= s.lo })
		to := sort.Search(len(all), func(i int) bool { return number(&all[i]) > s.hi })
		part := all[from:max(from, to)]
		return eachPlace(span{1, int64(len(part)), s.desc}, len(part), func(at int, row *T) (bool, error) {
			*row = part[at]
			return true, nil
		}), nil
	}
	v := newView(d, r, rows, number, scan)
	v.ordered = true
	return v
}

func runView(d *DB) virtual {
	all := d.survey.Runs()
	return ofSlice(d, runRelation(), func() int64 { return int64(len(all)) },
		func(r *schema.Run) int64 { return int64(r.ID) }, func() ([]schema.Run, error) { return all, nil })
}
