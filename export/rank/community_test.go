package rank

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/community"
	gonum "gonum.org/v1/gonum/graph/simple"
	"pgregory.net/rapid"
)

// undirected returns the graph for the oracle: weights of a pair added, loops left out.
func undirected(l links) *gonum.WeightedUndirectedGraph {
	g := gonum.NewWeightedUndirectedGraph(0, 0)
	for v := range l.n {
		g.AddNode(gonum.Node(v))
	}
	for i := range l.from {
		u, v := int64(l.from[i]), int64(l.to[i])
		weight := 1.0
		if l.weight != nil {
			weight = float64(l.weight[i])
		}
		if old, ok := g.Weight(u, v); ok && u != v {
			weight += old
		}
		if u != v && weight > 0 {
			g.SetWeightedEdge(gonum.WeightedEdge{F: gonum.Node(u), T: gonum.Node(v), W: weight})
		}
	}
	return g
}

// sets lists the nodes of each group for the oracle.
func sets(of []int32) [][]graph.Node {
	all := make([][]graph.Node, len(of))
	for v, id := range of {
		all[id] = append(all[id], gonum.Node(v))
	}
	for len(all) > 0 && all[len(all)-1] == nil {
		all = all[:len(all)-1]
	}
	return all
}

// modularity is computed by the oracle; 0 for a graph without weight.
func modularity(l links, of []int32) float64 {
	q := community.Q(undirected(l), sets(of), 1)
	if math.IsNaN(q) {
		return 0
	}
	return q
}

func TestCommunitiesLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(60).Draw(t, "links")
		g := l.graph()
		of := Communities(g, rapid.Uint64().Draw(t, "seed"))
		q := modularity(l, of)
		if alone := modularity(l, singletons(l.n)); q < alone-1e-9 {
			t.Fatalf("modularity %v, that of single nodes %v", q, alone)
		}
		if one := modularity(l, make([]int32, l.n)); q < one-1e-9 {
			t.Fatalf("modularity %v, that of one group %v", q, one)
		}
		inner := links{n: l.n}
		for i := range l.from {
			if of[l.from[i]] == of[l.to[i]] && (l.weight == nil || l.weight[i] > 0) {
				inner.from, inner.to = append(inner.from, l.from[i]), append(inner.to, l.to[i])
			}
		}
		for v, part := range WeakComponents(inner.graph()) {
			if part != of[v] {
				t.Fatalf("node %d is in group %d, whose connected parts call it %d", v, of[v], part)
			}
		}
	})
}

// planted returns groups of size nodes, with inner links per node inside and outer links per node to
// anywhere, under shuffled names.
func planted(groups, size, inner, outer int, seed uint64) (links, []int) {
	random := rand.New(rand.NewPCG(seed, 2))
	n := groups * size
	name, truth := random.Perm(n), make([]int, n)
	l := links{n: n}
	link := func(u, v int) {
		l.from, l.to = append(l.from, uint32(name[u])), append(l.to, uint32(name[v]))
	}
	for u := range n {
		truth[name[u]] = u / size
		for range inner {
			link(u, u/size*size+random.IntN(size))
		}
		for range outer {
			link(u, random.IntN(n))
		}
	}
	return l, truth
}

func TestCommunitiesFindWhatWasPlanted(t *testing.T) {
	l, truth := planted(20, 50, 8, 2, 3)
	of := Communities(l.graph(), 1)
	agree := map[[2]int]int{}
	for v, id := range of {
		agree[[2]int{truth[v], int(id)}]++
	}
	best := make([]int, 20)
	for pair, count := range agree {
		best[pair[0]] = max(best[pair[0]], count)
	}
	for group, count := range best {
		if count < 45 {
			t.Errorf("of group %d only %d of 50 are together", group, count)
		}
	}
}

// The oracle uses Louvain; our result may only be worse by chance.
func TestCommunitiesAreAsGoodAsGonum(t *testing.T) {
	for seed := range uint64(5) {
		for name, l := range map[string]links{"random": simple(300, 1200, seed), "sparse": simple(300, 350, seed)} {
			ours := modularity(l, Communities(l.graph(), seed))
			oracle := undirected(l)
			theirs := community.Q(oracle, community.Modularize(oracle, 1, rand.NewPCG(seed, 1)).Communities(), 1)
			if ours < theirs-0.01 {
				t.Errorf("%s %d: modularity %.4f; gonum's %.4f", name, seed, ours, theirs)
			}
		}
	}
}
