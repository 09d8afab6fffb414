package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// build fills an empty database file.
func build(ctx context.Context, path string, s *survey.Survey, opts Options) (err error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	if err := prepare(db); err != nil {
		return err
	}
	if err := fill(ctx, db, s, opts); err != nil {
		return err
	}
	if opts.Check {
		return Check(ctx, db)
	}
	return nil
}

// prepare sets up a database that nobody else can see yet: there is nothing to
// roll back to.
func prepare(db *sql.DB) error {
	for _, pragma := range []string{
		"journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -65536",
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
	if err := execAll(ctx, tx, tables); err != nil {
		return err
	}
	if err := widenAll(tx, opts.Columns); err != nil {
		return err
	}
	e := newExporter(ctx, tx, s, opts)
	if err := e.run(); err != nil {
		return err
	}
	if err := execAll(ctx, tx, indexes); err != nil {
		return err
	}
	return tx.Commit()
}

func execAll(ctx context.Context, tx *sql.Tx, statements []string) error {
	for _, statement := range statements {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := tx.Exec(statement); err != nil {
			return err
		}
	}
	return nil
}

// Check has SQLite check a database: its structure, and that every reference
// leads somewhere.
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
