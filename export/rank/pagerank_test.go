package rank

import (
	"math"
	"testing"

	measures "gonum.org/v1/gonum/graph/network"
	gonum "gonum.org/v1/gonum/graph/simple"
	"pgregory.net/rapid"
)

// directed makes the same graph for the oracle; l has no loops or doubles.
func directed(l links) *gonum.WeightedDirectedGraph {
	g := gonum.NewWeightedDirectedGraph(0, 0)
	for v := range l.n {
		g.AddNode(gonum.Node(v))
	}
	for i := range l.from {
		g.SetWeightedEdge(gonum.WeightedEdge{F: gonum.Node(l.from[i]), T: gonum.Node(l.to[i]), W: float64(l.weight[i])})
	}
	return g
}

// mustAgree fails unless the two agree within bound.
func mustAgree(t *testing.T, what string, got []float64, want map[int64]float64, bound float64) {
	t.Helper()
	for v := range got {
		if math.Abs(got[v]-want[int64(v)]) > bound {
			t.Fatalf("%s of node %d = %.12f; want %.12f", what, v, got[v], want[int64(v)])
		}
	}
}

func TestPageRankAgreesWithGonum(t *testing.T) {
	for seed := range uint64(12) {
		n := 5 + int(seed)*17
		l := simple(n, n*int(1+seed%4), seed)
		mustAgree(t, "rank", PageRank(l.graph(), 0.85, 1e-12), measures.PageRank(directed(l), 0.85, 1e-12), 1e-9)
	}
}

func TestPageRankLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(40).Draw(t, "links")
		g := l.graph()
		sources := rapid.SliceOfN(rapid.Uint32Range(0, uint32(l.n-1)), 1, 5).Draw(t, "sources")
		for name, rank := range map[string][]float64{"rank": PageRank(g, Damping, Tolerance),
			"personal": Personalised(g, sources)} {
			if total := sum(rank); math.Abs(total-1) > 1e-9 {
				t.Fatalf("%s adds up to %v", name, total)
			}
		}
		personal, reach := Personalised(g, sources), reachable(g, sources)
		for v, score := range personal {
			if (score > 0) != reach[v] {
				t.Fatalf("node %d: %v, reachable %v", v, score, reach[v])
			}
		}
	})
}

// reachable follows links of positive weight.
func reachable(g *Graph, from []uint32) []bool {
	seen := make([]bool, g.Len())
	queue := append([]uint32(nil), from...)
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		if seen[u] {
			continue
		}
		seen[u] = true
		for i := g.Off[u]; i < g.Off[u+1]; i++ {
			if g.weight(i) > 0 {
				queue = append(queue, g.To[i])
			}
		}
	}
	return seen
}

// Jumping anywhere is jumping to every node.
func TestPersonalisedToAllIsPageRank(t *testing.T) {
	l := simple(200, 700, 4)
	var all []uint32
	for v := range uint32(200) {
		all = append(all, v, v)
	}
	want := map[int64]float64{}
	for v, score := range PageRank(l.graph(), Damping, Tolerance) {
		want[int64(v)] = score
	}
	mustAgree(t, "personal", Personalised(l.graph(), all), want, 1e-8)
	mustAgree(t, "personal without sources", Personalised(l.graph(), nil), want, 0)
}

// What is kept together is the same in another order of sums.
func TestPageRankTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(40).Draw(t, "links")
		sources := rapid.SliceOfN(rapid.Uint32Range(0, uint32(l.n-1)), 0, 5).Draw(t, "sources")
		want := map[int64]float64{}
		for v, score := range Personalised(l.graph(), sources) {
			want[int64(v)] = score
		}
		groups := uint32(rapid.IntRange(1, 9).Draw(t, "groups"))
		g := l.graph()
		g.Together(func(node uint32) uint32 { return node * 7 % groups })
		for v, score := range Personalised(g, sources) {
			if math.Abs(score-want[int64(v)]) > 1e-12 {
				t.Fatalf("node %d: %v, and %v without groups", v, score, want[int64(v)])
			}
		}
	})
}
