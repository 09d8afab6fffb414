package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // database driver

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// build fills an empty database file. SQLite's temporary files for sorting are in the same folder.
func build(ctx context.Context, path string, s *survey.Survey, opts Options) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	name := (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String()
	err = connected(name, func(db *sql.DB) error {
		if err := prepare(db, filepath.Dir(absolute), pageSize(s.URLs())); err != nil {
			return err
		}
		return fill(ctx, db, s, opts)
	})
	if err != nil || !opts.Check {
		return err
	}
	return connected(name, func(db *sql.DB) error { return Check(ctx, db) })
}

// connected calls f with a database that has only one connection.
func connected(name string, f func(*sql.DB) error) error {
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	return errors.Join(f(db), db.Close())
}

// pageSize returns the size of the database's pages in bytes. Larger pages leave less unused space
// between rows, but a tree takes at least one page.
func pageSize(urls int) int {
	if urls < 100_000 {
		return 4096
	}
	return 32768
}

// prepare sets up a database that nobody else can see yet, so no rollback is needed. The folder of
// temporary files applies to the whole process; if several exports run, any of their folders will do.
func prepare(db *sql.DB, temporary string, pageSize int) error {
	for _, pragma := range []string{
		fmt.Sprintf("page_size = %d", pageSize), "journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE",
		"cache_size = -32768", "temp_store = FILE",
		"temp_store_directory = '" + strings.ReplaceAll(temporary, "'", "''") + "'",
		fmt.Sprintf("application_id = %d", ApplicationID), "user_version = 1",
	} {
		if _, err := db.Exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	return nil
}

func fill(ctx context.Context, db *sql.DB, s *survey.Survey, opts Options) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	tables, indexes := schema.SQLStatements()
	l, err := newLoad(ctx, tx, tables, func() error { return widenAll(tx, opts.Columns) })
	if err != nil {
		return err
	}
	if err := newExporter(ctx, tx, s, opts).run(); err != nil {
		return err
	}
	if err := l.end(indexes, opts.Progress); err != nil {
		return err
	}
	return tx.Commit()
}

// Check runs SQLite's checks of a database: its structure, and that every reference has a target.
func Check(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("integrity check: %s", verdict)
	}
	rows, err := db.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return err
	}
	defer rows.Close()
	if rows.Next() {
		var table, parent string
		var row, key any
		if err := rows.Scan(&table, &row, &parent, &key); err != nil {
			return err
		}
		return fmt.Errorf("foreign key check: row %v of %s refers to no row of %s", row, table, parent)
	}
	return rows.Err()
}
