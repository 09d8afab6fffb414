package sqlite

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// A specified is a column of terrain.sql.
type specified struct{ name, kind string }

// tablesOf reads terrain.sql with SQLite.
func tablesOf(t *testing.T) func(table string) []specified {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(schema.SQL()); err != nil {
		t.Fatal(err)
	}
	return func(table string) (all []specified) {
		rows, err := db.Query("SELECT name, type FROM pragma_table_info(?)", table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var c specified
			if err := rows.Scan(&c.name, &c.kind); err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		if len(all) == 0 {
			t.Fatalf("terrain.sql has no table %s", table)
		}
		return all
	}
}

// In every table written, the columns of terrain.sql come first and in order, followed only by newer
// figures.
func TestColumns(t *testing.T) {
	columns := tablesOf(t)
	c := export.AllColumns()
	e := newExporter(t.Context(), nil, surveytest.New(t, surveytest.Minimal).Survey(), Options{Columns: c})
	all := append(e.tables(), e.graph.table.table)
	for _, l := range e.levels {
		if all = append(all, l.links.table); l.nodes != nil {
			all = append(all, l.nodes.table)
		}
		if l.metrics != nil {
			all = append(all, l.metrics.table)
		}
	}
	for _, table := range all {
		var want []string
		for _, c := range columns(table.name) {
			want = append(want, c.name)
		}
		newer := table.columns[min(len(want), len(table.columns)):]
		if !slices.Equal(table.columns, append(want, newer...)) || len(newer) > 0 && !hasFigures(table.name) {
			t.Errorf("%s has %s; terrain.sql has %s", table.name, table.columns, want)
		}
	}
	if len(all) != 24 {
		t.Errorf("%d tables; terrain.sql has 24", len(all))
	}
}

func hasFigures(table string) bool {
	return table == "links" || table == "sites" || table == "entities" ||
		strings.HasSuffix(table, "_metrics") || strings.HasSuffix(table, "_links")
}

// The kinds of the figures match the types of terrain.sql.
func TestTypes(t *testing.T) {
	columns, c := tablesOf(t), export.AllColumns()
	for _, table := range []string{"page_metrics", "host_metrics", "site_metrics"} {
		checkTypes(t, table, columns(table), c.Measures)
	}
	for _, table := range []string{"sites", "entities"} {
		checkTypes(t, table, columns(table), within(c.Nodes, export.InLevels))
	}
	for _, table := range []string{"host_links", "site_links", "entity_links"} {
		checkTypes(t, table, columns(table), within(c.Links, export.InLevels))
	}
	checkTypes(t, "links", columns("links"), within(c.Links, export.InLinks))
}

func checkTypes[T any](t *testing.T, table string, all []specified, figures []export.Column[T]) {
	t.Helper()
	for _, f := range figures {
		i := slices.IndexFunc(all, func(s specified) bool { return s.name == f.Name })
		if i >= 0 && all[i].kind != sqlType(f.Kind) {
			t.Errorf("%s.%s is %s in terrain.sql, and written as %s", table, f.Name, all[i].kind, sqlType(f.Kind))
		}
	}
}
