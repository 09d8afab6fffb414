package graph_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/export/sqlite"
)

// A counts is what two readers of one graph must agree on.
type counts struct {
	Nodes, Edges, Weight, Editorial, Quality, InDegree int
	Titles                                             []string
}

// written returns a folder with the terrain in every format at a level, and its counts by SQLite.
func written(t *testing.T, level export.Level) (dir string, want counts) {
	t.Helper()
	w := terrain(t)
	dir = t.TempDir()
	s := w.Survey()
	if err := sqlite.Write(t.Context(), filepath.Join(dir, "x.db"), s, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	g, err := export.New(s, export.Options{Level: level, All: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range formatsAt(level) {
		if err := f.Write(t.Context(), filepath.Join(dir, "x."+f.Name), g, graph.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	older := filepath.Join(dir, "x12.gexf")
	if err := format(t, "gexf").Write(t.Context(), older, g, graph.Options{GEXF12: true}); err != nil {
		t.Fatal(err)
	}
	return dir, counted(t, filepath.Join(dir, "x.db"), level)
}

// counted returns the counts by SQLite.
func counted(t *testing.T, path string, level export.Level) counts {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	one := func(query string) (n int) {
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return n
	}
	var c counts
	switch level {
	case export.LevelPage:
		c = counts{one("SELECT count(*) FROM pages"), one("SELECT count(*) FROM links"), one("SELECT count(*) FROM links"),
			one("SELECT count(*) FROM links WHERE kind = 'anchor' AND rel IS NULL AND place IN ('main', 'body', 'aside')" +
				" AND sitewide = 0"),
			one("SELECT count(*) FROM pages WHERE class = 'quality'"),
			one("SELECT sum(in_degree) FROM page_metrics"), nil}
	case export.LevelHost:
		c.Quality, c.InDegree = one("SELECT count(*) FROM hosts WHERE class = 'quality'"),
			one("SELECT sum(in_degree) FROM host_metrics")
	case export.LevelSite:
		c.Quality, c.InDegree = one("SELECT count(DISTINCT site_id) FROM hosts WHERE class = 'quality'"),
			one("SELECT sum(in_degree) FROM site_metrics")
	case export.LevelEntity:
		c.Quality, c.InDegree = 2, one("SELECT count(*) FROM entity_links")
	}
	if level != export.LevelPage {
		links := level.String() + "_links"
		c.Nodes = one("SELECT count(*) FROM " + map[export.Level]string{export.LevelHost: "hosts",
			export.LevelEntity: "entities", export.LevelSite: "sites"}[level])
		c.Edges, c.Weight, c.Editorial = one("SELECT count(*) FROM "+links), one("SELECT sum(links) FROM "+links),
			one("SELECT sum(editorial) FROM "+links)
	}
	return c
}

// python runs a script with an interpreter that has a module. Without one the test is skipped, or fails
// with RIPPLE_CI=1.
func python(t *testing.T, module, script string, args ...string) []byte {
	t.Helper()
	interpreter := interpreterWith(module)
	if interpreter == "" {
		lacking(t, "no python3 with "+module)
	}
	cmd := exec.Command(interpreter, append([]string{"-c", script}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", interpreter, err, stderr.String())
	}
	return out
}

// interpreterWith returns a Python interpreter that can import a module, or "" if there is none.
func interpreterWith(module string) string {
	for _, interpreter := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(interpreter, "-c", "import "+module).Run() == nil {
			return interpreter
		}
	}
	return ""
}

func lacking(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("RIPPLE_CI") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// checkTitles checks that hostile titles were read back as text.
func checkTitles(t *testing.T, titles []string) {
	t.Helper()
	for _, want := range []string{"</node><script>alert(1)</script>", `"><x y='`, "]]>", "a\uFFFDb\uFFFD[31mc\uFFFD",
		"日本語 ünïcode 😀", `\N\G\l`, "&amp;"} {
		if !slices.Contains(titles, want) {
			t.Errorf("title %q is not in %q", want, titles)
		}
	}
}

const readPandas = `
import json, sys, pandas as pd
for folder in sys.argv[1:]:
    n, e = (pd.read_csv(folder + "/" + f, keep_default_na=False, na_values=[""]) for f in ("nodes.csv", "edges.csv"))
    order = n["Id"] if "url" in n else -n["trust"]
    assert list(order) == sorted(order) and set(e["Source"]) | set(e["Target"]) <= set(n["Id"])
    print(json.dumps({"Nodes": len(n), "Edges": len(e), "Weight": int(e["Weight"].sum()),
        "Editorial": int(e["editorial"].sum()),
        "Quality": int((n["class"] == "quality").sum()), "InDegree": int(n["in_degree"].sum()),
        "Titles": sorted(n["title"].dropna().astype(str))}))
`

// pandas can read the CSV files. One process reads those of every level, because pandas takes long to start.
func TestPandas(t *testing.T) {
	var folders []string
	var wants []counts
	for _, level := range levels() {
		dir, want := written(t, level)
		folders, wants = append(folders, filepath.Join(dir, "x.csv")), append(wants, want)
	}
	d := json.NewDecoder(bytes.NewReader(python(t, "pandas", readPandas, folders...)))
	for i, level := range levels() {
		var got counts
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if level == export.LevelPage {
			for i, title := range got.Titles {
				if strings.HasPrefix(title, "'") {
					continue
				}
				if title = strings.TrimSpace(title); strings.ContainsAny(title[:1], "=+-@") {
					t.Errorf("title %d begins a formula: %q", i, title)
				}
			}
		}
		got.Titles = nil
		if diff := cmp.Diff(wants[i], got); diff != "" {
			t.Errorf("%s (-SQLite +pandas):\n%s", level, diff)
		}
	}
}

// encoding/json can read the JSON Lines file.
func TestJSONL(t *testing.T) {
	for _, level := range levels() {
		dir, want := written(t, level)
		f, err := os.Open(filepath.Join(dir, "x.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got counts
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			var one struct {
				Type, Class string
				Weight      int
				Editorial   int
				InDegree    int `json:"in_degree"`
				Ripple      string
			}
			if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
				t.Fatalf("%v: %s", err, lines.Text())
			}
			switch one.Type {
			case "node":
				got.Nodes++
				got.InDegree += one.InDegree
				if one.Class == "quality" {
					got.Quality++
				}
			case "edge":
				got.Edges++
				got.Weight += one.Weight
				got.Editorial += one.Editorial
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || lines.Err() != nil {
			t.Errorf("%s: %v (-SQLite +JSON):\n%s", level, lines.Err(), diff)
		}
	}
}

// A parquetNode and a parquetEdge are read by name.
type (
	parquetNode struct {
		ID       int64    `parquet:"id"`
		Title    *string  `parquet:"title,optional"`
		Class    string   `parquet:"class"`
		InDegree int64    `parquet:"in_degree"`
		Depth    *int64   `parquet:"depth,optional"`
		X        *float64 `parquet:"x,optional"`
	}
	parquetEdge struct {
		Weight    int64 `parquet:"weight"`
		Editorial int64 `parquet:"editorial"`
	}
)

func TestParquet(t *testing.T) {
	for _, level := range levels() {
		dir, want := written(t, level)
		nodes := readParquet[parquetNode](t, filepath.Join(dir, "x.parquet", "nodes.parquet"), "partial")
		edges := readParquet[parquetEdge](t, filepath.Join(dir, "x.parquet", "edges.parquet"), "partial")
		got := counts{Nodes: len(nodes), Edges: len(edges)}
		var titles []string
		for _, n := range nodes {
			got.InDegree += int(n.InDegree)
			if n.Class == "quality" {
				got.Quality++
			}
			if n.Title != nil {
				titles = append(titles, *n.Title)
			}
			if placed := n.X != nil; placed != (level != export.LevelPage) {
				t.Errorf("%s: node %d has a place: %v", level, n.ID, placed)
			}
		}
		for _, e := range edges {
			got.Weight += int(e.Weight)
			got.Editorial += int(e.Editorial)
		}
		if level == export.LevelPage {
			checkTitles(t, titles)
			if nodes[0].Depth == nil || *nodes[0].Depth != 0 {
				t.Errorf("the depth of the first page is %v; want 0", nodes[0].Depth)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-SQLite +Parquet):\n%s", level, diff)
		}
	}
}

func readParquet[T any](t *testing.T, path, fact string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewGenericReader[T](f)
	defer r.Close()
	rows := make([]T, r.NumRows())
	if n, err := r.Read(rows); n != len(rows) || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%s: %d of %d rows, %v", path, n, len(rows), err)
	}
	if _, ok := r.File().Lookup("ripple." + fact); !ok {
		t.Errorf("%s does not say what it is: %s", path, fact)
	}
	return rows
}

// pyarrow, if installed, can read the Parquet files.
func TestArrow(t *testing.T) {
	dir, want := written(t, export.LevelPage)
	if exec.Command("python3", "-c", "import pyarrow").Run() != nil {
		t.Skip("no python3 with pyarrow")
	}
	out := python(t, "pyarrow.parquet", `
import sys, pyarrow.parquet as pq
print(*(pq.read_table(sys.argv[1] + name).num_rows for name in ("/nodes.parquet", "/edges.parquet")))`,
		filepath.Join(dir, "x.parquet"))
	if got := strings.TrimSpace(string(out)); got != fmt.Sprint(want.Nodes, want.Edges) {
		t.Errorf("pyarrow reads %s; want %d %d", got, want.Nodes, want.Edges)
	}
}
