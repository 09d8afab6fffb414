package graph_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/export/sqlite"
)

// withNew returns all columns and three new ones.
func withNew() *export.Columns {
	all := export.AllColumns()
	all.Nodes = append(all.Nodes, export.Column[export.Node]{
		Name: "thrice", Kind: export.Integer, Title: "three times the id", Levels: export.AllLevels,
		SQL: export.InLevels,
		Of:  func(n *export.Node) export.Value { return export.Value{Count: 3_000_000 * int64(n.ID)} },
	})
	all.Measures = append(all.Measures, export.Column[export.Measures]{
		Name: "ends", Kind: export.Integer, Levels: export.AllLevels,
		Of: func(m *export.Measures) export.Value {
			return export.Value{Count: int64(m.InDegree) + int64(m.OutDegree)}
		},
	})
	all.Links = append(all.Links, export.Column[export.Link]{
		Name: "span", Kind: export.Text, Levels: export.AllLevels, SQL: export.InLevels | export.InLinks,
		Of: func(l *export.Link) export.Value { return export.Value{Text: "from far away"} },
	})
	return all
}

// A column added to the table appears in every format, at every level, in the map and in the SQLite
// tables.
func TestNewColumn(t *testing.T) {
	for _, level := range levels() {
		g := graphAt(t, terrain(t), export.Options{Level: level, All: true, Columns: withNew()})
		for _, f := range formatsAt(level) {
			t.Run(f.Name+"/"+level.String(), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "x")
				if err := f.Write(t.Context(), path, g, graph.Options{}); err != nil {
					t.Fatal(err)
				}
				all := contents(t, path)
				nodes, links := all["nodes.csv"], all["edges.csv"]
				want := []string{"thrice", "3000000", "span", "from far away"}
				switch {
				case f.Name == "parquet":
					checkParquet(t, path)
					return
				case f.Name == "opml": // a list without figures
					return
				case f.Name == "map":
					nodes, links = all["x"], all["x"]
					want = []string{`"more":["first met in run","last met in run","tags","note","preferences","wall","missing pages",` +
						`"walled pages","for sale, by rule","three times the id"]`,
						`"figures":[["1","1","","","","","","","","3,000,000"],`}
				case !f.Folder():
					nodes, links = all["x"], all["x"]
				}
				for i, w := range want {
					if text := [...]string{nodes, links}[min(1, i/2)]; !strings.Contains(text, w) {
						t.Errorf("no %q", w)
					}
				}
			})
		}
	}
}

func checkParquet(t *testing.T, path string) {
	t.Helper()
	type node struct {
		ID     int64 `parquet:"id"`
		Thrice int64 `parquet:"thrice"`
	}
	type edge struct {
		Span string `parquet:"span"`
	}
	for _, n := range readParquet[node](t, filepath.Join(path, "nodes.parquet"), "partial") {
		if n.Thrice != 3_000_000*n.ID {
			t.Errorf("node %d has %d", n.ID, n.Thrice)
		}
	}
	for _, e := range readParquet[edge](t, filepath.Join(path, "edges.parquet"), "partial") {
		if e.Span != "from far away" {
			t.Errorf("a link has %q", e.Span)
		}
	}
}

func TestNewColumnInSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := sqlite.Write(t.Context(), path, terrain(t).Survey(),
		sqlite.Options{Check: true, Columns: withNew()}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, tt := range []struct{ table, id, test string }{
		{"page_metrics", "page_id", "ends = in_degree + out_degree"},
		{"host_metrics", "host_id", "ends = in_degree + out_degree"},
		{"site_metrics", "site_id", "ends = in_degree + out_degree"},
		{"sites", "id", "thrice = 3000000 * id"},
		{"entities", "id", "thrice = 3000000 * id"},
		{"links", "id", "span = 'from far away'"},
		{"host_links", "from_id", "span = 'from far away'"},
		{"site_links", "from_id", "span = 'from far away'"},
		{"entity_links", "from_id", "span = 'from far away'"},
	} {
		var all, right int
		query := "SELECT count(*), count(CASE WHEN " + tt.test + " THEN 1 END) FROM " + tt.table
		if err := db.QueryRow(query).Scan(&all, &right); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if all == 0 || right != all {
			t.Errorf("%s: %d of %d rows have it", tt.table, right, all)
		}
	}
}

// In the header of every level, names are unique.
func TestNoColumnTwice(t *testing.T) {
	for _, level := range levels() {
		g := graphAt(t, terrain(t), export.Options{Level: level, All: true})
		seen := map[string]bool{}
		for _, c := range g.NodeColumns() {
			if seen[c.Name] {
				t.Errorf("%s: nodes have %q twice", level, c.Name)
			}
			seen[c.Name] = true
		}
		clear(seen)
		for _, c := range g.LinkColumns() {
			if seen[c.Name] {
				t.Errorf("%s: links have %q twice", level, c.Name)
			}
			seen[c.Name] = true
		}
	}
}

// More rows than fit in a batch are written; none is lost or mixed up.
func TestParquetBatches(t *testing.T) {
	g := graphAt(t, wide(t, 2500, 50, 3), export.Options{})
	path := filepath.Join(t.TempDir(), "x")
	if err := format(t, "parquet").Write(t.Context(), path, g, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(path, "nodes.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	type node struct {
		ID    int64  `parquet:"id"`
		Label string `parquet:"label"`
	}
	rows, err := parquet.Read[node](bytes.NewReader(data), int64(len(data)))
	if err != nil || len(rows) != 2500 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	i := 0
	err = g.EachNode(func(n *export.Node) error {
		if want := (node{int64(n.ID), n.Name}); rows[i] != want {
			t.Errorf("row %d is %+v; want %+v", i, rows[i], want)
		}
		i++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
