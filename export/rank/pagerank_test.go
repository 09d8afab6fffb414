package rank

import (
	"math"
	"slices"
	"testing"

	measures "gonum.org/v1/gonum/graph/network"
	gonum "gonum.org/v1/gonum/graph/simple"
	"pgregory.net/rapid"
)

// directed returns the graph for the oracle; l must have no loops or duplicates.
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

// evenly spreads jumps over the sources; it is nil without sources.
func evenly(n int, sources []uint32) []float64 {
	if len(sources) == 0 {
		return nil
	}
	jumps := make([]float64, n)
	for _, u := range sources {
		jumps[u] = 1
	}
	for u, all := 0, sum(jumps); u < n; u++ {
		jumps[u] /= all
	}
	return jumps
}

// walked simply simulates a number of steps.
func walked(g *Graph, sources []uint32, steps int) []float64 {
	jump := make([]float64, g.Len())
	for _, u := range sources {
		jump[u] = 1
	}
	for u, all := 0, sum(jump); u < len(jump); u++ {
		if jump[u] /= all; all == 0 {
			jump[u] = 1 / float64(len(jump))
		}
	}
	rank := slices.Clone(jump)
	for range steps {
		next, stays := make([]float64, g.Len()), 0.0
		for u := range uint32(g.Len()) {
			weight := outWeight(g, u)
			for i := g.Off[u]; i < g.Off[u+1] && weight > 0; i++ {
				next[g.To[i]] += Damping * rank[u] * float64(g.weight(i)) / weight
			}
			if weight > 0 {
				stays += Damping * rank[u]
			}
		}
		for u := range next {
			next[u] += (1 - stays) * jump[u]
		}
		rank = next
	}
	return rank
}

// mustBeWalked fails unless the shares equal those of a long simulation.
func mustBeWalked(t rapid.TB, l links, sources []uint32) {
	t.Helper()
	want := walked(l.graph(), sources, 300)
	for u, share := range Personalised(l.graph(), evenly(l.n, sources), Damping, Tolerance) {
		if math.Abs(share-want[u]) > 1e-12 {
			t.Fatalf("node %d of %+v from %v: %v, want %v", u, l, sources, share, want[u])
		}
	}
}

func TestPageRankIsWalked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(40).Draw(t, "links")
		mustBeWalked(t, l, rapid.SliceOfNDistinct(rapid.Uint32Range(0, uint32(l.n-1)), 0, 5, rapid.ID).Draw(t, "sources"))
	})
}

// In a ring the changes oscillate, and extrapolation does not help.
func TestPageRankSwings(t *testing.T) {
	mustBeWalked(t, links{n: 13, from: []uint32{0, 12, 0, 1, 0, 3, 11}, to: []uint32{0, 1, 0, 11, 0, 12, 3},
		weight: []uint32{0, 1, 0, 1, 1, 1, 3}}, nil)
	for n := range 12 {
		l := links{n: n + 2}
		for u := range uint32(n + 1) {
			l.from, l.to = append(l.from, u, u), append(l.to, (u+1)%uint32(n+1), uint32(n+1))
		}
		mustBeWalked(t, l, []uint32{0})
	}
}

func TestPageRankLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(40).Draw(t, "links")
		g := l.graph()
		sources := rapid.SliceOfN(rapid.Uint32Range(0, uint32(l.n-1)), 1, 5).Draw(t, "sources")
		for name, rank := range map[string][]float64{"rank": PageRank(g, Damping, Tolerance),
			"personal": Personalised(g, evenly(l.n, sources), Damping, Tolerance)} {
			if total := sum(rank); math.Abs(total-1) > 1e-9 {
				t.Fatalf("%s adds up to %v", name, total)
			}
		}
		personal, reach := Personalised(g, evenly(l.n, sources), Damping, Tolerance), reachable(g, sources)
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
	mustAgree(t, "personal", Personalised(l.graph(), evenly(l.n, all), Damping, Tolerance), want, 1e-8)
	mustAgree(t, "personal without sources", Personalised(l.graph(), nil, Damping, Tolerance), want, 0)
}

// Grouping nodes with Together changes only the order of sums.
func TestPageRankTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(40).Draw(t, "links")
		sources := rapid.SliceOfN(rapid.Uint32Range(0, uint32(l.n-1)), 0, 5).Draw(t, "sources")
		want := map[int64]float64{}
		for v, score := range Personalised(l.graph(), evenly(l.n, sources), Damping, Tolerance) {
			want[int64(v)] = score
		}
		groups := uint32(rapid.IntRange(1, 9).Draw(t, "groups"))
		g := l.graph()
		g.Together(func(node uint32) uint32 { return node * 7 % groups })
		for v, score := range Personalised(g, evenly(l.n, sources), Damping, Tolerance) {
			if math.Abs(score-want[int64(v)]) > 1e-12 {
				t.Fatalf("node %d: %v, and %v without groups", v, score, want[int64(v)])
			}
		}
	})
}
