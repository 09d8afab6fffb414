package sqlite

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/export"
)

// A load inserts rows. Two kinds of trees are not in their final form until it ends.
//
// A UNIQUE constraint implies an index. SQLite would update it with every row, at random places of a
// tree that soon exceeds any cache. So the table is created without it, and its index after the load
// like all others, from sorted keys: this is several times as fast, and leaves no gaps. Then the index
// is renamed to that of the constraint (https://www.sqlite.org/fileformat2.html#intschema), and the
// table gets its constraint back.
//
// A table WITHOUT ROWID is an index, too. An eighth of it would be gaps even if its rows come in order.
// It is loaded under another name and copied as a whole, which leaves no gaps; the pages of the first
// table are reused for the indexes.
type load struct {
	ctx     context.Context
	tx      *sql.Tx
	uniques []*unique
}

// newLoad creates the tables. widen then adds further columns.
func newLoad(ctx context.Context, tx *sql.Tx, tables []string, widen func() error) (*load, error) {
	l := &load{ctx: ctx, tx: tx}
	for _, statement := range tables {
		statement, u := withoutUnique(statement)
		if u != nil {
			l.uniques = append(l.uniques, u)
		}
		if err := l.exec(statement); err != nil {
			return nil, err
		}
	}
	if err := widen(); err != nil {
		return nil, err
	}
	for _, name := range copied() {
		var statement string
		if err := tx.QueryRow("SELECT sql FROM sqlite_schema WHERE name = ?", name).Scan(&statement); err != nil {
			return nil, err
		}
		if err := l.exec(strings.Replace(statement, name, loaded(name), 1)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// end brings the trees into their final form and creates the indexes.
func (l *load) end(indexes []string, p export.Progress) error {
	var statements []string
	for _, name := range copied() {
		statements = append(statements, "INSERT INTO "+name+" SELECT * FROM "+loaded(name), "DROP TABLE "+loaded(name))
	}
	for _, u := range l.uniques {
		statements = append(statements, u.index())
	}
	statements = slices.Concat(statements, indexes, restore())
	for i, statement := range statements {
		p.At("indexes", i, len(statements))
		if err := l.exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// exec runs a statement until the context is done.
func (l *load) exec(statement string) error {
	_, err := l.tx.ExecContext(l.ctx, statement)
	return err
}

// copied returns the tables that are loaded under another name.
func copied() []string { return []string{"link_kinds", "host_links", "site_links", "entity_links"} }

// loaded returns the name under which a table is loaded.
func loaded(name string) string {
	if slices.Contains(copied(), name) {
		return "loaded_" + name
	}
	return name
}

// A unique is the UNIQUE constraint of a table. No table has more than one.
type unique struct{ table, columns string }

// Placeholders for the constraint of a table during the load.
const (
	columnMark   = "/*unique*/"
	tableMark    = "CHECK (1)/*unique"
	tableMarkEnd = "unique*/"

	uniqueWord = "UNIQUE"
	uniqueName = "loaded_unique_" // of its index, followed by the table name
)

// withoutUnique removes the constraint from the statement that creates a table. The constraint is nil
// if there is none.
func withoutUnique(statement string) (string, *unique) {
	name := strings.Fields(statement)[2]
	if of := regexp.MustCompile(`(?m)^ +UNIQUE(\([\w, ]+\))$`).FindStringSubmatch(statement); of != nil {
		return strings.Replace(statement, uniqueWord+of[1], tableMark+of[1]+tableMarkEnd, 1), &unique{name, of[1]}
	}
	if of := regexp.MustCompile(`(?m)^ +(\w+) [A-Z ]+ UNIQUE,`).FindStringSubmatch(statement); of != nil {
		return strings.Replace(statement, uniqueWord, columnMark, 1), &unique{name, "(" + of[1] + ")"}
	}
	return statement, nil
}

// index returns the statement that creates the index. It fails if two rows are equal.
func (u *unique) index() string {
	return "CREATE UNIQUE INDEX " + uniqueName + u.table + " ON " + u.table + " " + u.columns
}

// restore returns the statements that turn these indexes into those of the constraints. Connections
// opened later see them as such.
func restore() []string {
	return []string{
		"PRAGMA writable_schema = ON",
		`UPDATE sqlite_schema SET name = 'sqlite_autoindex_' || tbl_name || '_1', sql = NULL
			WHERE name = '` + uniqueName + `' || tbl_name`,
		`UPDATE sqlite_schema SET sql = replace(replace(replace(sql, '` + columnMark + `', '` + uniqueWord + `'),
			'` + tableMark + `', '` + uniqueWord + `'), '` + tableMarkEnd + `', '') WHERE type = 'table'`,
		"PRAGMA writable_schema = OFF",
	}
}
