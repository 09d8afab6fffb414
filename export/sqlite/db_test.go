package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// openDB opens a survey as a database of virtual tables.
func openDB(t testing.TB, s *survey.Survey) *sqlite.DB {
	t.Helper()
	d, err := sqlite.Open(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// answers queries a database and returns its rows with the types of their values.
func answers(ctx context.Context, d *sqlite.DB, query string) (all []string, err error) {
	err = d.Query(ctx, query, func([]string) (func([]any) (bool, error), error) {
		return func(values []any) (bool, error) {
			all = append(all, line(values))
			return true, nil
		}, nil
	})
	return all, err
}

// told runs the same query on a file.
func told(t testing.TB, db *sql.DB, query string) (all []string, err error) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		all = append(all, line(values))
	}
	return all, rows.Err()
}

func line(values []any) string {
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintf(&b, "%T %q|", v, fmt.Sprint(v))
	}
	return b.String()
}

// tableNames returns the names of the tables in a file.
func tableNames(t testing.TB, db *sql.DB) []string {
	t.Helper()
	return strings.Fields(rows(t, db,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY rowid"))
}

// sameAnswer queries both and compares the answers.
func sameAnswer(t testing.TB, d *sqlite.DB, db *sql.DB, query string) {
	t.Helper()
	want, wantErr := told(t, db, query)
	got, err := answers(t.Context(), d, query)
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%s: %v; want %v", query, err, wantErr)
		return
	}
	if diff := difference(query, want, got); diff != "" {
		t.Errorf("%s (-file +virtual):\n%s", query, diff)
	}
}

// difference compares answers. Without an ORDER BY the order of rows does not matter.
func difference(query string, want, got []string) string {
	if !strings.Contains(query, "ORDER BY") {
		slices.Sort(want)
		slices.Sort(got)
	}
	return cmp.Diff(want, got)
}

// Every virtual table equals the exported one.
func TestSameTables(t *testing.T) {
	s := terrain(t).Survey()
	d, db := openDB(t, s), write(t, s)
	for _, table := range tableNames(t, db) {
		query := "SELECT * FROM " + table
		want, err := told(t, db, query)
		if err != nil || len(want) == 0 {
			t.Errorf("%s: %d rows, %v", query, len(want), err)
		}
		got, err := answers(t.Context(), d, query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-file +virtual):\n%s", query, diff)
		}
		sameAnswer(t, d, db, "SELECT count(*) FROM "+table)
		sameAnswer(t, d, db, "SELECT name, type FROM pragma_table_info('"+table+"') ORDER BY cid")
	}
	for _, r := range append(pageRows(), levelRows()...) {
		if r.name != "header" {
			sameAnswer(t, d, db, r.query)
		}
	}
}
