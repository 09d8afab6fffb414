package sqlite

import (
	"database/sql"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/schema/inert"
)

// A column is one of a table, and how it is read from what a row stands for.
type column[T any] struct {
	name string
	of   func(*T) any
}

// A record is a table whose rows are read from values of one type.
type record[T any] struct {
	*table
	columns []column[T]
}

// newRecord gives a table its columns.
func newRecord[T any](t *table, columns []column[T]) *record[T] {
	for _, c := range columns {
		t.columns = append(t.columns, c.name)
	}
	return &record[T]{table: t, columns: columns}
}

// widen gives a record one more column, before its first row.
func (r *record[T]) widen(c column[T]) {
	r.columns, r.table.columns = append(r.columns, c), append(r.table.columns, c.name)
}

// put appends the row of a value.
func (r *record[T]) put(of *T) error {
	for i := range r.columns {
		r.values = append(r.values, r.columns[i].of(of))
	}
	return r.added()
}

// figures are the columns that a kind of table has, as package export knows them.
func figures[T any](all []export.Column[T], in export.Tables) []column[T] {
	var kept []column[T]
	for _, c := range within(all, in) {
		kept = append(kept, column[T]{c.Name, func(of *T) any { return cell(c.Of(of), c.Kind) }})
	}
	return kept
}

// within are the figures that some tables have.
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
		return inert.SQL(v.Text)
	case k == export.Real:
		return v.Real
	}
	return v.Count
}

// widen adds the figures that terrain.sql does not specify behind the columns that
// it does.
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

// widenAll does so in all tables of figures.
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
