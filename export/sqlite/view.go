package sqlite

import (
	"fmt"
	"math"
	"slices"

	"modernc.org/sqlite/vtab"

	"github.com/sumi-ripple/ripple/export"
)

// A view is a relation whose rows are made while a statement reads them.
//
// A row has a number, its rowid. A scan gives rows by ascending numbers, or descending
// ones; a key gives those with a value in a column, by ascending numbers, and may give
// others too, since SQLite compares all values once more. Columns that cost something to
// read are read when they are asked for.
type view[T any] struct {
	relation[T]
	db      *DB
	rows    func() int64                      // how many there are, roughly, and without counting
	scan    func(span) (next[T], error)       // those whose numbers are in a span
	number  func(*T) int64                    // the rowid of a row
	load    func(row *T, column string) error // before a column is read; nil: all is there
	keys    []key[T]
	ordered bool // the first column is the number

	indexes map[int]*index // by column, of those that no key is for
	asked   map[int]int    // by column: rows were looked for by it
}

// A next reads the next row into row, and reports whether there was one.
type next[T any] func(row *T) (bool, error)

// A span is the numbers from lo to hi.
type span struct {
	lo, hi int64
	desc   bool
}

func all() span { return span{math.MinInt64, math.MaxInt64, false} }

// A key finds rows by the value of a column, which is an int64 or a string as the column is.
type key[T any] struct {
	column string
	each   int64 // rows with one value, roughly; onlyOne: never more
	find   func(value any) (next[T], error)
}

// onlyOne is a promise, where other numbers of rows are guesses.
const onlyOne = 0

// Ways to read a table, as SQLite knows them by their numbers: a scan, or a look-up by
// the number of the row or by a column, counted from byColumn on.
const (
	scanned  = 0
	byNumber = 1
	byColumn = 2

	descending = 1 << 16 // with scanned
)

// BestIndex chooses a way to read the table. A look-up is of one equality; what else a
// statement demands, and that once more, SQLite sees to.
func (v *view[T]) BestIndex(info *vtab.IndexInfo) (err error) {
	defer v.db.rescue(&err)
	rows := max(v.rows(), 1)
	best, at := rows, -1
	for i, c := range info.Constraints {
		if n, ok := v.found(c, rows); ok && (at < 0 || n < best) {
			best, at = n, i
		}
	}
	if at >= 0 {
		c := &info.Constraints[at]
		c.ArgIndex = 0
		info.IdxNum = int64(byColumn + c.Column)
		if v.isNumber(c.Column) {
			info.IdxNum = byNumber
		}
		info.EstimatedRows, info.EstimatedCost = best, 10+2*float64(best)
		if v.isUnique(c.Column) {
			info.IdxFlags = vtab.IndexScanUnique
		}
		info.OrderByConsumed = v.inOrder(info.OrderBy, false)
		return nil
	}
	v.planScan(info, rows)
	return nil
}

// planScan plans to read all rows, or those whose numbers are within bounds.
func (v *view[T]) planScan(info *vtab.IndexInfo, rows int64) {
	info.IdxNum = scanned
	n := 0
	for i := range info.Constraints {
		c := &info.Constraints[i]
		if c.Usable && v.isNumber(c.Column) && isBound(c.Op) {
			c.ArgIndex = n
			info.IdxStr += fmt.Sprintf("%d ", c.Op)
			n++
			rows = rows/4 + 1
		}
	}
	if v.inOrder(info.OrderBy, true) {
		info.IdxNum |= descending
		info.OrderByConsumed = true
	}
	info.OrderByConsumed = info.OrderByConsumed || v.inOrder(info.OrderBy, false)
	info.EstimatedRows, info.EstimatedCost = rows, 10+3*float64(rows)
}

func isBound(op vtab.ConstraintOp) bool {
	return op == vtab.OpGT || op == vtab.OpGE || op == vtab.OpLT || op == vtab.OpLE
}

// found reports whether a constraint is one that rows can be looked up by, and about how
// many have one value.
func (v *view[T]) found(c vtab.Constraint, rows int64) (int64, bool) {
	if !c.Usable || c.Op != vtab.OpEQ {
		return 0, false
	}
	if v.isNumber(c.Column) {
		return 1, true
	}
	if c.Column < 0 || c.Column >= len(v.columns) {
		return 0, false
	}
	if v.db.collates && v.columns[c.Column].kind == export.Text {
		return 0, false
	}
	if k := v.key(c.Column); k != nil {
		return min(max(k.each, 1), rows), true
	}
	return min(rows, 10+rows/100), true
}

// isNumber reports whether a column is the number of its row; SQLite names it -1, too.
func (v *view[T]) isNumber(column int) bool { return column < 0 || column == 0 && v.ordered }

// isUnique reports whether no two rows have the same value in a column: SQLite leaves out a
// LEFT JOIN that could not add a row.
func (v *view[T]) isUnique(column int) bool {
	if v.isNumber(column) {
		return true
	}
	k := v.key(column)
	return k != nil && k.each == onlyOne
}

// key returns the key for a column; nil: there is none.
func (v *view[T]) key(column int) *key[T] {
	i := slices.IndexFunc(v.keys, func(k key[T]) bool { return k.column == v.columns[column].name })
	if i < 0 {
		return nil
	}
	return &v.keys[i]
}

// inOrder reports whether rows come in an order that is asked for: that of their numbers,
// of which no two are the same.
func (v *view[T]) inOrder(by []vtab.OrderBy, desc bool) bool {
	return len(by) > 0 && v.isNumber(by[0].Column) && by[0].Desc == desc
}

// Open begins a cursor.
func (v *view[T]) Open() (vtab.Cursor, error) { return &cursor[T]{view: v}, nil }

// Disconnect and Destroy have nothing to do: a view belongs to its database.
func (v *view[T]) Disconnect() error { return nil }
func (v *view[T]) Destroy() error    { return nil }
