package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"strings"
	"time"

	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// batchRows is the number of rows that one statement inserts.
const batchRows = 50

// A table collects rows of a database table.
type table struct {
	name    string
	columns []string
	ctx     context.Context
	tx      *sql.Tx
	many    *sql.Stmt // inserts batchRows rows
	values  []any
	written int64 // number of rows, including those in values
}

func newTable(ctx context.Context, tx *sql.Tx) *table { return &table{ctx: ctx, tx: tx} }

// added counts a row whose values have been appended.
func (t *table) added() error {
	t.written++
	if len(t.values) < batchRows*len(t.columns) {
		return nil
	}
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if t.many == nil {
		var err error
		if t.many, err = t.tx.Prepare(t.insert(batchRows)); err != nil {
			return err
		}
	}
	_, err := t.many.Exec(t.values...)
	t.values = t.values[:0]
	return err
}

// number returns the id of the next row.
func (t *table) number() int64 { return t.written + 1 }

// end writes the remaining rows.
func (t *table) end() error {
	if t.many != nil {
		defer t.many.Close()
	}
	if len(t.values) == 0 {
		return nil
	}
	_, err := t.tx.Exec(t.insert(len(t.values)/len(t.columns)), t.values...)
	t.values = t.values[:0]
	return err
}

func (t *table) insert(rows int) string {
	row := "(?" + strings.Repeat(",?", len(t.columns)-1) + ")"
	return "INSERT INTO " + loaded(t.name) + " (" + strings.Join(t.columns, ", ") + ") VALUES " + row +
		strings.Repeat(","+row, rows-1)
}

// words returns NULL for an empty string.
func words(s string) any {
	if s == "" {
		return nil
	}
	return sanitize.SQL(s)
}

// number returns NULL for 0.
func number[T ~int | ~int64 | ~uint32](n T) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

// moment returns NULL for the zero time.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// digest returns NULL for a body that was not read.
func digest(sum [32]byte) any {
	if sum == [32]byte{} {
		return nil
	}
	return hex.EncodeToString(sum[:])
}

func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}
