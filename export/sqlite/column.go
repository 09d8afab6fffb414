package sqlite

import (
	"database/sql"
	"strings"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/sanitize"
)

// The kinds of most columns.
const (
	text    = export.Text
	integer = export.Integer
)

// A column is a column of a table, with a function that reads it from a row value.
type column[T any] struct {
	name string
	kind export.Kind
	of   func(*T) any
}

// A relation is a table whose rows are read from values of one type. It is the single definition of a
// table, both for files and for virtual tables.
type relation[T any] struct {
	name    string
	columns []column[T]
}

// declaration returns the statement that creates a table with these columns.
func (r relation[T]) declaration() string {
	columns := make([]string, len(r.columns))
	for i, c := range r.columns {
		columns[i] = c.name + " " + sqlType(c.kind)
	}
	return "CREATE TABLE " + r.name + "(" + strings.Join(columns, ", ") + ")"
}

// through converts a relation to a wider row type that contains the row type of r.
func through[T, U any](r relation[T], in func(*U) *T) relation[U] {
	wider := relation[U]{name: r.name}
	for _, c := range r.columns {
		wider.columns = append(wider.columns, column[U]{c.name, c.kind, func(of *U) any { return c.of(in(of)) }})
	}
	return wider
}

// A record is a relation being written.
type record[T any] struct {
	*table
	relation relation[T]
}

// newRecord sets the name and columns of a table.
func newRecord[T any](t *table, r relation[T]) *record[T] {
	t.name = r.name
	for _, c := range r.columns {
		t.columns = append(t.columns, c.name)
	}
	return &record[T]{table: t, relation: r}
}

// put appends the row of a value.
func (r *record[T]) put(of *T) error {
	for i := range r.relation.columns {
		r.values = append(r.values, r.relation.columns[i].of(of))
	}
	return r.added()
}

// figures returns the columns that a kind of table has in package export.
func figures[T any](all []export.Column[T], in export.Tables) []column[T] {
	var kept []column[T]
	for _, c := range within(all, in) {
		kept = append(kept, column[T]{c.Name, c.Kind, func(of *T) any { return cell(c.Of(of), c.Kind) }})
	}
	return kept
}

// within returns the figures in some tables.
func within[T any](all []export.Column[T], in export.Tables) (kept []export.Column[T]) {
	for _, c := range all {
		if c.SQL&in != 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

func cell(v export.Value, k export.Kind) any {
	switch {
	case v.None:
		return nil
	case k == export.Text:
		return sanitize.SQL(v.Text)
	case k == export.Real:
		return v.Real
	}
	return v.Count
}

// widen adds the figures that are not in terrain.sql, after the columns that are.
func widen[T any](tx *sql.Tx, name string, all []export.Column[T]) error {
	for _, c := range all {
		var found int
		row := tx.QueryRow("SELECT count(*) FROM pragma_table_info(?) WHERE name = ?", name, c.Name)
		if err := row.Scan(&found); err != nil {
			return err
		}
		if found > 0 {
			continue
		}
		if _, err := tx.Exec("ALTER TABLE " + name + " ADD COLUMN " + c.Name + " " + sqlType(c.Kind)); err != nil {
			return err
		}
	}
	return nil
}

func sqlType(k export.Kind) string {
	return [...]string{export.Text: "TEXT", export.Integer: "INTEGER", export.Real: "REAL"}[k]
}

// widenAll does this for all tables with figures.
func widenAll(tx *sql.Tx, c *export.Columns) error {
	for _, level := range []string{"page", "host", "site"} {
		if err := widen(tx, level+"_metrics", c.Measures); err != nil {
			return err
		}
	}
	for _, name := range []string{"sites", "entities"} {
		if err := widen(tx, name, within(c.Nodes, export.InLevels)); err != nil {
			return err
		}
	}
	for _, level := range []string{"host", "site", "entity"} {
		if err := widen(tx, level+"_links", within(c.Links, export.InLevels)); err != nil {
			return err
		}
	}
	return widen(tx, "links", within(c.Links, export.InLinks))
}
