package sqlite

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"

	"github.com/sumi-ripple/ripple/export"
)

// A load is the time in which rows come in. Two kinds of trees are not in their final
// form until it ends.
//
// A UNIQUE constraint stands for an index. SQLite would keep that up with every row, at
// random places of a tree that is soon larger than any cache. So a table is made without
// it, and its index after the load like all others, from sorted keys: several times as
// fast, and without gaps. Then the index gets the name that the constraint's own has
// (https://www.sqlite.org/fileformat2.html#intschema), and the table its constraint.
//
// A table WITHOUT ROWID is an index, too, and an eighth of it are gaps, even if its rows
// come in order. It is loaded under another name and copied as a whole, which leaves
// none; the pages of the first one go to the indexes.
type load struct {
	ctx     context.Context
	tx      *sql.Tx
	uniques []*unique
}

// newLoad makes the tables, which widen then gives further columns.
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

// end brings the trees into their final form and makes the indexes.
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

// exec runs a statement, which the end of the context ends.
func (l *load) exec(statement string) error {
	_, err := l.tx.ExecContext(l.ctx, statement)
	return err
}

// copied are the tables that are loaded under another name.
func copied() []string { return []string{"link_kinds", "host_links", "site_links", "entity_links"} }

// loaded is the name under which a table is loaded.
func loaded(name string) string {
	if slices.Contains(copied(), name) {
		return "loaded_" + name
	}
	return name
}

// A unique is a UNIQUE constraint of a table. No table has more than one.
type unique struct{ table, columns string }

// These stand in a table for its constraint while it is loaded.
const (
	columnMark   = "/*unique*/"
	tableMark    = "CHECK (1)/*unique"
	tableMarkEnd = "unique*/"

	uniqueWord = "UNIQUE"
	uniqueName = "loaded_unique_" // of its index, then the table's
)

// withoutUnique is the statement that makes a table, without the constraint; nil: it has
// none.
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

// index is the statement that makes the index. It fails where two rows are alike.
func (u *unique) index() string {
	return "CREATE UNIQUE INDEX " + uniqueName + u.table + " ON " + u.table + " " + u.columns
}

// restore are the statements that turn these indexes into those of the constraints. A
// connection that is opened later knows them as such.
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
