package graph_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/export/graph"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// linkedTo returns the terrain with in-links of two hosts outside, and of two that do not count: one that the terrain
// has met, and one that links to an origin which is no longer configured.
func linkedTo(t *testing.T) *surveytest.World {
	w := terrain(t)
	w.Inlinks(&schema.Graph{Release: "cc-main-2024-may", Origins: []string{"a.test", "*.q.test", "gone.test"},
		Found: []uint32{1, 1, 1}},
		schema.Inlink{Host: "far.net", HarmonicRank: 7, PageRank: 1 << 31, Origins: []uint32{0, 1}},
		schema.Inlink{Host: "blog.far.net", Origins: []uint32{1}},
		schema.Inlink{Host: "b.test", Origins: []uint32{0}},
		schema.Inlink{Host: "lone.net", Origins: []uint32{2}})
	return w
}

// record is a node or a link as JSON Lines have it.
type record map[string]any

func records(t *testing.T, g *export.Graph) (all []record) {
	t.Helper()
	var b bytes.Buffer
	if err := format(t, "jsonl").Stream(&b, g); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, r)
	}
	return all
}

// Hosts outside come after all nodes and their links after all links, whatever else is selected. Without them a graph
// is as if no web graph had been read; with them, no figure of the others changes.
func TestOutside(t *testing.T) {
	bare, w := terrain(t), linkedTo(t)
	for _, level := range levels() {
		opts := export.Options{Level: level, All: true, MinWeight: 1}
		want := records(t, graphAt(t, bare, opts))
		if diff := cmp.Diff(want, records(t, graphAt(t, w, opts))); diff != "" {
			t.Errorf("%s: a web graph changes a graph without it (-want +got):\n%s", level, diff)
		}
		opts.Inlinks = true
		var outside, inlinks, rest []record
		ids := map[any]string{}
		for _, r := range records(t, graphAt(t, w, opts)) {
			if label, ok := r["label"].(string); ok {
				if ids[r["id"]] != "" {
					t.Errorf("%s: %s and %s have one id", level, label, ids[r["id"]])
				}
				ids[r["id"]] = label
			}
			switch {
			case r["class"] == "outside":
				outside = append(outside, r)
			case r["type"] == "edge" && slices.ContainsFunc(outside, func(o record) bool { return o["id"] == r["source"] }):
				inlinks = append(inlinks, record{"from": ids[r["source"]], "to": ids[r["target"]], "figures": len(r),
					"weight": r["weight"]})
			default:
				rest = append(rest, r)
			}
		}
		if rest[0]["inlinks"] != "cc-main-2024-may, a sample of the web" {
			t.Errorf("%s: the graph says %v of in-links", level, rest[0]["inlinks"])
		}
		delete(rest[0], "inlinks")
		if diff := cmp.Diff(want, rest); diff != "" {
			t.Errorf("%s: hosts outside change others (-want +got):\n%s", level, diff)
		}
		a, q := "a.test", "q.test"
		if level == export.LevelPage {
			a, q = "https://a.test/", "https://q.test/"
		}
		link := func(from, to string) record { return record{"from": from, "to": to, "figures": 4, "weight": 1.0} }
		if diff := cmp.Diff([]record{link("far.net", a), link("far.net", q), link("blog.far.net", q)}, inlinks); diff != "" {
			t.Errorf("%s: in-links (-want +got):\n%s", level, diff)
		}
		for _, o := range outside {
			_, placed := o["x"]
			if placed != (level != export.LevelPage) {
				t.Errorf("%s: %v is placed: %t", level, o["label"], placed)
			}
			for _, key := range []string{"id", "type", "x", "y"} {
				delete(o, key)
			}
		}
		hosts, site := "hosts", "far.net"
		far := record{"label": "far.net", "class": "outside", "release": "cc-main-2024-may", "harmonic_rank": 7.0,
			"pagerank_rank": float64(1 << 31)}
		blog := record{"label": "blog.far.net", "class": "outside", "release": "cc-main-2024-may"}
		for _, r := range []record{far, blog} {
			if level == export.LevelPage {
				r["site"] = site
			} else {
				r[hosts] = 1.0
			}
		}
		if diff := cmp.Diff([]record{far, blog}, outside); diff != "" {
			t.Errorf("%s: hosts outside (-want +got):\n%s", level, diff)
		}
	}
}

// Two origins that one node has make one link. An origin without a front page is the page that was met first.
func TestOutsideJoined(t *testing.T) {
	const lists = surveytest.Minimal + `[[quality]]
domain = "x.a.test"
seeds = ["https://x.a.test/in"]
`
	w := surveytest.New(t, lists)
	w.Visit("x.a.test/in", w.Links("x.a.test/on", "a.test/"))
	w.Visit("a.test/", w.Links("x.a.test/in"))
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Inlinks(&schema.Graph{Release: "own", Origins: []string{"a.test", "x.a.test"}, Found: []uint32{1, 1}},
		schema.Inlink{Host: "far.net", Origins: []uint32{0, 1}})
	for level, want := range map[export.Level][]string{
		export.LevelSite: {"a.test 2"}, export.LevelHost: {"a.test 1", "x.a.test 1"},
		export.LevelPage: {"https://a.test/ 1", "https://x.a.test/in 1"},
	} {
		g := graphAt(t, w, export.Options{Level: level, Inlinks: true})
		names := map[uint32]string{}
		if err := g.EachNode(func(n *export.Node) error { names[n.ID] = n.Name; return nil }); err != nil {
			t.Fatal(err)
		}
		var got []string
		err := g.EachInlink(func(l *export.Link) error {
			got = append(got, names[l.To]+" "+string(rune('0'+l.Links)))
			return nil
		})
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v, (-want +got):\n%s", level, err, diff)
		}
	}
}

// A domain of a web graph is met as soon as a host below it is.
func TestOutsideDomains(t *testing.T) {
	w := terrain(t)
	w.Page("blog.far.net/")
	links := []schema.Inlink{{Host: "far.net", Origins: []uint32{0}}, {Host: "lone.net", Origins: []uint32{0}}}
	for domains, want := range map[bool][]string{false: {"far.net", "lone.net"}, true: {"lone.net"}} {
		w.Inlinks(&schema.Graph{Release: "own", Origins: []string{"a.test"}, Found: []uint32{1}, Domains: domains}, links...)
		var got []string
		g := graphAt(t, w, export.Options{Level: export.LevelHost, Inlinks: true})
		err := g.EachOutside(func(n *export.Node) error { got = append(got, n.Name); return nil })
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("domains %v: %v, (-want +got):\n%s", domains, err, diff)
		}
	}
}

const readOutside = `
import sys, networkx as nx
for g in [nx.read_graphml(f) if f.endswith(".graphml") else nx.read_gexf(f) for f in sys.argv[1:]]:
    new = [(d["label"], d.get("harmonic_rank"), d["release"], g.out_degree(n), "trust" in d)
        for n, d in g.nodes(data=True) if d["class"] == "outside"]
    print(sorted(new))
`

// Every format has the hosts outside, and readers of others find them.
func TestOutsideFormats(t *testing.T) {
	dir := t.TempDir()
	g := graphAt(t, linkedTo(t), export.Options{Level: export.LevelHost, All: true, Inlinks: true})
	for _, f := range formatsAt(export.LevelHost) {
		if err := f.Write(t.Context(), filepath.Join(dir, "x."+f.Name), g, graph.Options{GEXF12: true, Neo4j: true}); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	got := string(python(t, "networkx", readOutside, filepath.Join(dir, "x.gexf"), filepath.Join(dir, "x.graphml")))
	want := "[('blog.far.net', None, 'cc-main-2024-may', 1, False), ('far.net', 7, 'cc-main-2024-may', 2, False)]\n"
	if got != want+want {
		t.Errorf("networkx read %s", got)
	}
	count, _ := elements(t, []byte(contents(t, filepath.Join(dir, "x.gexf"))["x.gexf"]))
	if count["node"] != g.Len()+2 || count["position"] != g.Len()+2 {
		t.Errorf("GEXF has %d nodes and %d positions", count["node"], count["position"])
	}
	if all := contents(t, filepath.Join(dir, "x.csv")); !strings.Contains(all["nodes.csv"], ",far.net,Outside,,outside,,,1,") ||
		!strings.Contains(all["ripple.json"], "cc-main-2024-may, a sample of the web") {
		t.Errorf("CSV:\n%s", all)
	}
	if text := contents(t, filepath.Join(dir, "x.dot"))["x.dot"]; !strings.Contains(text, `label="far.net", class="outside"`) {
		t.Errorf("DOT:\n%s", text)
	}
	type node struct {
		Label string   `parquet:"label"`
		Class string   `parquet:"class"`
		Trust *float64 `parquet:"trust,optional"`
		Rank  *int64   `parquet:"harmonic_rank,optional"`
	}
	for _, n := range readParquet[node](t, filepath.Join(dir, "x.parquet", "nodes.parquet"), "inlinks") {
		if outside := n.Class == "outside"; outside == (n.Trust != nil) || (n.Label == "far.net") != (n.Rank != nil) {
			t.Errorf("Parquet has %+v", n)
		}
	}
	if edges := readParquet[struct {
		Pages *int64 `parquet:"pages,optional"`
	}](t, filepath.Join(dir, "x.parquet", "edges.parquet"), "inlinks"); len(edges) == 0 || edges[len(edges)-1].Pages != nil {
		t.Error("Parquet counts the pages of in-links")
	}
}

// At page level the columns of pages are empty for a host outside.
func TestOutsideOfPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "csv")
	g := graphAt(t, linkedTo(t), export.Options{All: true, Inlinks: true})
	if err := format(t, "csv").Write(t.Context(), path, g, graph.Options{}); err != nil {
		t.Fatal(err)
	}
	if rows := contents(t, path)["nodes.csv"]; !strings.Contains(rows, "\n"+strings.Repeat(",", 17)) ||
		!strings.Contains(rows, ",far.net,,outside,") {
		t.Errorf("no row of a host outside in\n%s", rows)
	}
}

// The map has the first hosts outside as a layer, if the graph has them.
func TestOutsideOnMap(t *testing.T) {
	w := linkedTo(t)
	var b bytes.Buffer
	for with, want := range map[bool]string{false: "", true: `"outside":{"release":"cc-main-2024-may, a sample of the web",` +
		`"all":2,"names":["far.net","blog.far.net"],`} {
		b.Reset()
		if err := format(t, "map").Stream(&b, graphAt(t, w, export.Options{Level: export.LevelHost, Inlinks: with})); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, want) || strings.Contains(text, "far.net") != with {
			t.Errorf("in-links %t: the map has a layer of its own: %t", with, strings.Contains(text, `"outside":{`))
		}
	}
}
