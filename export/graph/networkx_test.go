package graph_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export"
)

const readNetworkx = `
import json, sys, networkx as nx
for g in [nx.read_graphml(f) if f.endswith(".graphml") else nx.read_gexf(f) for f in sys.argv[1:]]:
    edges = [d for _, _, d in g.edges(data=True)]
    nodes = [d for _, d in g.nodes(data=True)]
    print(json.dumps({"Nodes": len(nodes), "Edges": len(edges), "Weight": int(sum(d["weight"] for d in edges)),
        "Editorial": sum(d["editorial"] for d in edges),
        "Quality": sum(d["class"] == "quality" for d in nodes), "InDegree": sum(d["in_degree"] for d in nodes),
        "Titles": sorted(d["title"] for d in nodes if "title" in d)}))
    assert all(g.in_degree(n) == d["in_degree"] for n, d in g.nodes(data=True))
`

// networkx can read GEXF 1.3 and GraphML.
func TestNetworkx(t *testing.T) {
	const recent = "networkx; assert int(networkx.__version__.split('.')[0]) >= 3"
	if interpreterWith(recent) == "" {
		t.Skip("no networkx 3")
	}
	testNetworkx(t, recent, "x.gexf", "x.graphml")
}

// A networkx without GEXF 1.3 support, as in Debian 12, can read GEXF 1.2 and GraphML.
func TestOldNetworkx(t *testing.T) {
	testNetworkx(t, "networkx; assert int(networkx.__version__.split('.')[0]) < 3", "x12.gexf", "x.graphml")
}

// testNetworkx has one process read the files of every level, because networkx takes long to start.
func testNetworkx(t *testing.T, module string, files ...string) {
	var paths []string
	var wants []counts
	for _, level := range levels() {
		dir, want := written(t, level)
		wants = append(wants, want)
		for _, name := range files {
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	d := json.NewDecoder(bytes.NewReader(python(t, module, readNetworkx, paths...)))
	for i, level := range levels() {
		for _, name := range files {
			var got counts
			if err := d.Decode(&got); err != nil {
				t.Fatal(err)
			}
			if level == export.LevelPage {
				checkTitles(t, got.Titles)
			}
			got.Titles = nil
			if diff := cmp.Diff(wants[i], got); diff != "" {
				t.Errorf("%s %s (-SQLite +networkx):\n%s", level, name, diff)
			}
		}
	}
}
