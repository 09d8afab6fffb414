package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/export/sqlite"
)

// The trees have no gaps. Rows inserted one by one leave an eighth of an index empty, even in order.
func TestPacked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := sqlite.Write(t.Context(), path, web(t, 3000, 10).Survey(), sqlite.Options{Check: true}); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	const large = "SELECT name FROM dbstat GROUP BY name HAVING sum(pgsize) > 100000"
	if got := rows(t, db, large+" AND sum(unused) > sum(pgsize) / 10"); got != "" {
		t.Errorf("more than a tenth is empty of:\n%s", got)
	}
	for _, tree := range []string{"link_kinds", "sqlite_autoindex_links_1", "sqlite_autoindex_pages_1"} {
		if got := rows(t, db, "SELECT count(*) FROM ("+large+") WHERE name = '"+tree+"'"); got != "1\n" {
			t.Errorf("%s is too small to have gaps", tree)
		}
	}
	if got := rows(t, db, "SELECT name FROM sqlite_schema WHERE name LIKE '%loaded%' OR sql LIKE '%unique*%'"); got != "" {
		t.Errorf("left of the load:\n%s", got)
	}
	if got := rows(t, db, "SELECT freelist_count FROM pragma_freelist_count"); got != "0\n" {
		t.Errorf("free pages: %s", got)
	}
}

// TestUnique writes to an export: its constraints are in force.
func TestUnique(t *testing.T) {
	db := write(t, terrain(t).Survey())
	for _, table := range []string{"pages", "page_depths", "links", "hosts", "sites", "entities", "stubbed_urls"} {
		_, err := db.Exec("CREATE TEMP TABLE again AS SELECT * FROM main." + table + " LIMIT 1")
		if err == nil {
			_, err = db.Exec("UPDATE again SET id = id + 1000000")
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("INSERT INTO main." + table + " SELECT * FROM again")
		if !strings.Contains(fmt.Sprint(err), "UNIQUE") {
			t.Errorf("%s takes a row twice: %v", table, err)
		}
		if _, err := db.Exec("DROP TABLE again"); err != nil {
			t.Fatal(err)
		}
	}
}
