package sqlite

import (
	"fmt"
	"math"
	"slices"

	"modernc.org/sqlite/vtab"

	"github.com/sumi-ripple/ripple/export"
)

// A view is a relation whose rows are created while a statement reads them.
//
// A row has a number, its rowid. A scan returns rows in ascending or descending order of numbers. A key
// returns the rows with a value in a column in ascending order. It may return others too, because
// SQLite compares all values again. Costly columns are read on request.
type view[T any] struct {
	relation[T]
	db      *DB
	rows    func() int64                      // approximate number of rows, without counting
	scan    func(span) (next[T], error)       // rows whose numbers are in a span
	number  func(*T) int64                    // the rowid of a row
	load    func(row *T, column string) error // called before a column is read; nil: nothing to load
	keys    []key[T]
	ordered bool // the first column is the number

	indexes map[int]*index // by column, for columns without a key
	asked   map[int]int    // by column: number of look-ups
}

// A next reads the next row into row, and reports whether there was one.
type next[T any] func(row *T) (bool, error)

// A span is the numbers from lo to hi.
type span struct {
	lo, hi int64
	desc   bool
}

func all() span { return span{math.MinInt64, math.MaxInt64, false} }

// A key finds rows by the value of a column, which is an int64 or a string like the column.
type key[T any] struct {
	column string
	each   int64 // approximate rows per value; onlyOne: at most one
	find   func(value any) (next[T], error)
}

// onlyOne is a guarantee, while other numbers of rows are estimates.
const onlyOne = 0

// Ways to read a table, in SQLite's idxNum: a scan, or a look-up by row number or by a column, counted
// from byColumn.
const (
	scanned  = 0
	byNumber = 1
	byColumn = 2

	descending = 1 << 16 // combined with scanned
)

// BestIndex chooses a way to read the table. A look-up uses one equality; SQLite checks that again, and
// all other conditions.
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

// planScan plans to read all rows, or those within bounds on their numbers.
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

// found reports whether rows can be looked up by a constraint, and about how many rows have one value.
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

// isNumber reports whether a column is the row number, which SQLite also refers to as -1.
func (v *view[T]) isNumber(column int) bool { return column < 0 || column == 0 && v.ordered }

// isUnique reports whether no two rows have the same value in a column. SQLite omits a LEFT JOIN that
// cannot add a row.
func (v *view[T]) isUnique(column int) bool {
	if v.isNumber(column) {
		return true
	}
	k := v.key(column)
	return k != nil && k.each == onlyOne
}

// key returns the key for a column, or nil if there is none.
func (v *view[T]) key(column int) *key[T] {
	i := slices.IndexFunc(v.keys, func(k key[T]) bool { return k.column == v.columns[column].name })
	if i < 0 {
		return nil
	}
	return &v.keys[i]
}

// inOrder reports whether rows come in the requested order: that of their numbers, which are unique.
func (v *view[T]) inOrder(by []vtab.OrderBy, desc bool) bool {
	return len(by) > 0 && v.isNumber(by[0].Column) && by[0].Desc == desc
}

// Open opens a cursor.
func (v *view[T]) Open() (vtab.Cursor, error) { return &cursor[T]{view: v}, nil }

// Disconnect and Destroy do nothing: a view belongs to its database.
func (v *view[T]) Disconnect() error { return nil }
func (v *view[T]) Destroy() error    { return nil }
