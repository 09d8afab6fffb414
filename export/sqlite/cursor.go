package sqlite

import (
	"fmt"
	"hash/maphash"
	"math"
	"strconv"
	"strings"

	"modernc.org/sqlite/vtab"

	"github.com/sumi-ripple/ripple/export"
)

// A cursor reads the rows of a view.
type cursor[T any] struct {
	view *view[T]
	next next[T]
	row  T
	end  bool
	read uint // number of rows
}

// Filter starts reading rows.
func (c *cursor[T]) Filter(way int, bounds string, args []vtab.Value) (err error) {
	defer c.view.db.rescue(&err)
	if c.next, err = c.rows(way, bounds, args); err != nil {
		return err
	}
	return c.Next()
}

func (c *cursor[T]) rows(way int, ops string, args []vtab.Value) (next[T], error) {
	v := c.view
	switch w := way &^ descending; {
	case w == byNumber:
		return v.lookUp(-1, args[0])
	case w >= byColumn:
		return v.lookUp(w-byColumn, args[0])
	}
	s := all()
	s.desc = way&descending != 0
	for i, op := range strings.Fields(ops) {
		n, err := strconv.Atoi(op)
		if err != nil || i >= len(args) {
			return nil, fmt.Errorf("a scan of %s is planned by %q", v.name, ops)
		}
		if !s.bound(vtab.ConstraintOp(n), args[i]) {
			return none[T], nil
		}
	}
	return v.scan(s)
}

// bound narrows a span by a comparison, and reports whether it can contain anything.
func (s *span) bound(op vtab.ConstraintOp, v any) bool {
	var n int64
	exact := true
	switch v := v.(type) {
	case nil:
		return false
	case int64:
		n = v
	case float64:
		if math.IsNaN(v) || v < -1<<62 || v > 1<<62 {
			return true
		}
		n = int64(math.Floor(v))
		exact = float64(n) == v
	default:
		return true
	}
	switch {
	case op == vtab.OpGE && exact:
		s.lo = max(s.lo, n)
	case op == vtab.OpGE, op == vtab.OpGT && n < math.MaxInt64:
		s.lo = max(s.lo, n+1)
	case op == vtab.OpLE, op == vtab.OpLT && !exact:
		s.hi = min(s.hi, n)
	case op == vtab.OpLT && n > math.MinInt64:
		s.hi = min(s.hi, n-1)
	}
	return s.lo <= s.hi
}

// none is an iterator without rows.
func none[T any](*T) (bool, error) { return false, nil }

// lookUp returns the rows with a value in a column.
func (v *view[T]) lookUp(column int, arg any) (next[T], error) {
	kind := export.Integer
	if column >= 0 {
		kind = v.columns[column].kind
	}
	value, nothing, unknown := equalTo(arg, kind)
	switch {
	case nothing:
		return none[T], nil
	case unknown:
		return v.scan(all())
	case column < 0:
		return v.scan(span{value.(int64), value.(int64), false})
	}
	if k := v.key(column); k != nil {
		return k.find(value)
	}
	return v.findIndexed(column, value)
}

// scansBefore is the look-up number, by a column without a key, at which an index is built. Building it
// costs as much as one scan.
const scansBefore = 2

// findIndexed returns rows by a column without a key.
func (v *view[T]) findIndexed(column int, value any) (next[T], error) {
	x := v.indexes[column]
	if x == nil {
		if v.asked[column]++; v.asked[column] < scansBefore {
			return v.scan(all())
		}
		var err error
		if x, err = v.index(column); err != nil {
			return nil, err
		}
		v.indexes[column] = x
	}
	return v.eachOf(x.of(value)), nil
}

// eachOf returns the rows with the given numbers.
func (v *view[T]) eachOf(numbers []int64) next[T] {
	return func(row *T) (bool, error) {
		for len(numbers) > 0 {
			n := numbers[0]
			numbers = numbers[1:]
			one, err := v.scan(span{n, n, false})
			if err != nil {
				return false, err
			}
			if ok, err := one(row); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
}

// index reads a column of all rows and returns its index.
func (v *view[T]) index(column int) (*index, error) {
	rows, err := v.scan(all())
	if err != nil {
		return nil, err
	}
	seed := maphash.MakeSeed()
	var hashes []uint32
	var numbers []int64
	for n := 0; ; n++ {
		if n%checkRows == 0 {
			if err := v.db.ctx.Err(); err != nil {
				return nil, err
			}
		}
		var row T
		ok, err := rows(&row)
		if !ok || err != nil {
			return newIndex(seed, hashes, numbers), err
		}
		value, err := v.value(&row, column)
		if err != nil {
			return nil, err
		}
		if value != nil {
			hashes, numbers = append(hashes, hash(seed, value)), append(numbers, v.number(&row))
		}
	}
}

// value returns a column of a row.
func (v *view[T]) value(row *T, column int) (any, error) {
	c := &v.columns[column]
	if v.load != nil {
		if err := v.load(row, c.name); err != nil {
			return nil, err
		}
	}
	return c.of(row), nil
}

// Next reads the next row.
func (c *cursor[T]) Next() (err error) {
	defer c.view.db.rescue(&err)
	if c.read++; c.read%checkRows == 0 {
		if err := c.view.db.ctx.Err(); err != nil {
			return err
		}
	}
	ok, err := c.next(&c.row)
	c.end = !ok
	return err
}

// checkRows is the number of rows between two checks for cancellation.
const checkRows = 64

// Eof reports whether there are no more rows.
func (c *cursor[T]) Eof() bool { return c.end }

// Column returns a column of the current row.
func (c *cursor[T]) Column(column int) (value vtab.Value, err error) {
	defer c.view.db.rescue(&err)
	return c.view.value(&c.row, column)
}

// Rowid returns the number of the current row.
func (c *cursor[T]) Rowid() (int64, error) { return c.view.number(&c.row), nil }

// Close does nothing. It may be called in another goroutine.
func (c *cursor[T]) Close() error { return nil }
