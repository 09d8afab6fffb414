package command

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/demo"
	"github.com/sumi-ripple/ripple/schema"
)

// TestQuestions runs every built-in question on the demonstration's web.
func TestQuestions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	web, err := webtest.New()
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	demo.Serve(web)
	ca, err := web.CAFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(config, []byte(demo.Config(web.Addr(), ca, dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, told strings.Builder
	run := func(args ...string) {
		t.Helper()
		out.Reset()
		if err := New(&out, &told).Run(t.Context(), args); err != nil {
			t.Fatalf("ripple %s: %v\n%s", strings.Join(args, " "), err, told.String())
		}
	}
	run("crawl", config)
	run("import", "--config", config, "--graph", rippletest.WebGraph(t, dir, "test.hedgerow-journal"))
	run("help", "questions")
	help := strings.ReplaceAll(out.String(), "\n    ", "\n")
	for _, q := range docs.Questions() {
		if !strings.Contains(help, q.Asks) || !strings.Contains(help, q.SQL) || strings.ContainsAny(q.SQL, "\"$`\\") {
			t.Errorf("%s: not in the topic, or not to be pasted", q.Asks)
		}
		run("query", "--config", config, q.SQL)
		if rows := strings.Count(out.String(), "\n"); rows < 2 {
			t.Errorf("%s: no answer\n%s", q.Asks, out.String())
		}
		if strings.Contains(q.Asks, "broken") && strings.Contains(out.String(), "hedgerow-journal.test") {
			t.Errorf("%s: unlike \"ripple broken\" it counts what robots.txt forbids\n%s", q.Asks, out.String())
		}
	}
	file := filepath.Join(dir, "terrain.db")
	run("export", "--config", config, "--sqlite", file)
	for table, want := range tablesOf(t, file) {
		run("query", "--config", config, "--csv", "SELECT * FROM "+table)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-exported +asked):\n%s", table, diff)
		}
	}
}

// tablesOf reads the tables of an export in the form in which a query prints them.
func tablesOf(t *testing.T, path string) map[string]string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables := map[string]string{}
	for _, table := range schemaTables() {
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		tables[table] = csvOf(t, rows)
	}
	return tables
}

// schemaTables returns the names of the tables.
func schemaTables() (names []string) {
	statements, _ := schema.SQLStatements()
	for _, s := range statements {
		names = append(names, strings.Fields(s)[2])
	}
	return names
}

func csvOf(t *testing.T, rows *sql.Rows) string {
	t.Helper()
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	w := answer.NewCSVRows(&b, columns)
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Row(values); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(rows.Err(), w.End()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
