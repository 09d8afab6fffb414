package atlas

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPruned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		node := rapid.Uint32Range(0, uint32(n-1))
		m := Map{Nodes: make([]Node, n), Points: make([]Point, n)}
		for v := range n {
			m.Nodes[v].Trust = rapid.Float64Range(0, 1).Draw(t, "rank")
			m.Nodes[v].In, m.Points[v].X = v, float32(v)
		}
		m.Edges = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Edge {
			return Edge{node.Draw(t, "from"), node.Draw(t, "to"), rapid.Uint32Range(0, 5).Draw(t, "weight"), 0}
		}), 0, 100).Draw(t, "edges")
		given := slices.Clone(m.Edges)
		nodes, edges := rapid.IntRange(1, 40).Draw(t, "most nodes"), rapid.IntRange(0, 100).Draw(t, "most edges")
		p := m.pruned(nodes, edges)
		if len(p.Nodes) != min(n, nodes) || len(p.Edges) > edges || len(p.Points) != len(p.Nodes) {
			t.Fatalf("%d nodes, %d links, %d points", len(p.Nodes), len(p.Edges), len(p.Points))
		}
		if len(p.Nodes)+p.LeftOut.Nodes != n || len(p.Edges)+p.LeftOut.Edges != len(m.Edges) {
			t.Fatalf("left out %v of %d, %d", p.LeftOut, n, len(m.Edges))
		}
		for v, kept := range p.Nodes {
			if p.Points[v].X != float32(kept.In) {
				t.Fatal("points do not stand beside their nodes")
			}
		}
		if !slices.IsSortedFunc(p.Edges, byWeight) || !slices.Equal(given, m.Edges) {
			t.Fatal("links are not in order, or those of the caller changed")
		}
		if diff := cmp.Diff(p, p.pruned(nodes, edges)); diff != "" {
			t.Fatalf("a second time:\n%s", diff)
		}
	})
}

func TestPrunedKeepsWhatMatters(t *testing.T) {
	m := Map{Nodes: []Node{{Name: "a", Trust: 3}, {Name: "b", Trust: 1}, {Name: "c", Trust: 2},
		{Name: "d", Trust: 4}}}
	m.Edges = []Edge{{0, 2, 9, 0}, {2, 0, 8, 0}, {0, 3, 1, 0}, {1, 0, 50, 0}}
	p := m.pruned(3, 2)
	if p.Nodes[0].Name != "a" || p.Nodes[1].Name != "c" || p.Nodes[2].Name != "d" || p.Points != nil {
		t.Errorf("nodes %v, points %v", p.Nodes, p.Points)
	}
	// d's only link comes before the heavier second one between a and c
	if diff := cmp.Diff([]Edge{{0, 1, 9, 0}, {0, 2, 1, 0}}, p.Edges); diff != "" || p.LeftOut != (Cut{1, 2}) {
		t.Errorf("links:\n%s, left out %v", diff, p.LeftOut)
	}
}
