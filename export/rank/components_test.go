package rank

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/graph"
	gonum "gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
	"pgregory.net/rapid"
)

// numbered converts the oracle's sets to our numbering.
func numbered(n int, sets [][]graph.Node) []int32 {
	of := make([]int32, n)
	for _, set := range sets {
		first := set[0].ID()
		for _, v := range set {
			first = min(first, v.ID())
		}
		for _, v := range set {
			of[v.ID()] = int32(first)
		}
	}
	return bySize(of)
}

func TestComponentsAgreeWithGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(60).Draw(t, "links")
		g := l.graph()
		both := gonum.NewUndirectedGraph()
		for v := range l.n {
			both.AddNode(gonum.Node(v))
		}
		for i := range l.from {
			if edge := (gonum.Edge{F: gonum.Node(l.from[i]), T: gonum.Node(l.to[i])}); l.from[i] != l.to[i] {
				both.SetEdge(edge)
			}
		}
		if diff := cmp.Diff(numbered(l.n, topo.ConnectedComponents(both)), WeakComponents(g)); diff != "" {
			t.Fatalf("weak (-oracle +ours):\n%s", diff)
		}
	})
}

func TestComponentsAreOrdered(t *testing.T) {
	// 0   1 <-> 2   3 -> 4 -> 5 -> 3   6 -> 7
	g := Build(8, []uint32{1, 2, 3, 4, 5, 6}, []uint32{2, 1, 4, 5, 3, 7}, nil)
	if diff := cmp.Diff([]int32{3, 1, 1, 0, 0, 0, 2, 2}, WeakComponents(g)); diff != "" {
		t.Errorf("weak:\n%s", diff)
	}
}

func TestComponentsOfAChain(t *testing.T) {
	const n = 1_000_000
	from, to := make([]uint32, n-1), make([]uint32, n-1)
	for v := range uint32(n - 1) {
		from[v], to[v] = v, v+1
	}
	g := Build(n, from, to, nil)
	if weak := WeakComponents(g); weak[n-1] != 0 {
		t.Errorf("the chain's end is in weak component %d", weak[n-1])
	}
}
