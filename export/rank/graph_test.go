package rank

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// links is a list of links before it becomes a graph.
type links struct {
	n                int
	from, to, weight []uint32
}

func (l links) graph() *Graph { return Build(l.n, l.from, l.to, l.weight) }

// anyLinks draws lists with loops, duplicate links and nodes without links.
func anyLinks(most int) *rapid.Generator[links] {
	return rapid.Custom(func(t *rapid.T) links {
		l := links{n: rapid.IntRange(1, most).Draw(t, "n")}
		node := rapid.Uint32Range(0, uint32(l.n-1))
		count := rapid.IntRange(0, 3*l.n).Draw(t, "links")
		weighted := rapid.Bool().Draw(t, "weighted")
		for range count {
			l.from = append(l.from, node.Draw(t, "from"))
			l.to = append(l.to, node.Draw(t, "to"))
			if weighted {
				l.weight = append(l.weight, rapid.Uint32Range(0, 9).Draw(t, "weight"))
			}
		}
		return l
	})
}

// simple returns a random list without loops and duplicates.
func simple(n, count int, seed uint64) links {
	random := rand.New(rand.NewPCG(seed, 1))
	l, seen := links{n: n}, map[[2]uint32]bool{}
	for range count {
		pair := [2]uint32{random.Uint32N(uint32(n)), random.Uint32N(uint32(n))}
		if pair[0] != pair[1] && !seen[pair] {
			seen[pair] = true
			l.from, l.to, l.weight = append(l.from, pair[0]), append(l.to, pair[1]), append(l.weight, 1+random.Uint32N(9))
		}
	}
	return l
}

// triples lists the links of a graph, sorted.
func triples(g *Graph) [][3]uint32 {
	var all [][3]uint32
	for u := range g.Len() {
		for i := g.Off[u]; i < g.Off[u+1]; i++ {
			all = append(all, [3]uint32{uint32(u), g.To[i], g.weight(i)})
		}
	}
	slices.SortFunc(all, func(a, b [3]uint32) int { return slices.Compare(a[:], b[:]) })
	return all
}

func TestBuildKeepsEveryLink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(30).Draw(t, "links")
		g := l.graph()
		var want [][3]uint32
		for i := range l.from {
			weight := uint32(1)
			if l.weight != nil {
				weight = l.weight[i]
			}
			want = append(want, [3]uint32{l.from[i], l.to[i], weight})
		}
		slices.SortFunc(want, func(a, b [3]uint32) int { return slices.Compare(a[:], b[:]) })
		if diff := cmp.Diff(want, triples(g)); diff != "" {
			t.Fatalf("links differ (-given +built):\n%s", diff)
		}
		for u := range g.Len() {
			if !slices.IsSorted(g.Out(uint32(u))) {
				t.Fatalf("row %d is not ascending: %v", u, g.Out(uint32(u)))
			}
		}
		if diff := cmp.Diff(triples(g), triples(g.Reverse().Reverse())); diff != "" {
			t.Fatalf("turned round twice:\n%s", diff)
		}
		if diff := cmp.Diff(InDegree(g), OutDegree(g.Reverse())); diff != "" {
			t.Fatalf("degrees:\n%s", diff)
		}
	})
}

func TestEmptyGraph(t *testing.T) {
	for _, g := range []*Graph{{}, Build(0, nil, nil, nil)} {
		scores, exact := Harmonic(g)
		lengths := []int{g.Len(), len(PageRank(g, Damping, Tolerance)), len(Personalised(g, nil, Damping, Tolerance)), len(scores),
			len(InDegree(g)),
			len(OutDegree(g)), len(WeakComponents(g)), len(Communities(g, 1))}
		if slices.Max(lengths) != 0 || !exact {
			t.Errorf("lengths %v, exact %v; want none, true", lengths, exact)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	tests := map[string]func(){
		"columns of unequal length": func() { Build(3, []uint32{1}, nil, nil) },
		"weights missing":           func() { Build(3, []uint32{1}, []uint32{1}, []uint32{}) },
		"node out of range":         func() { Build(3, []uint32{3}, []uint32{1}, nil) },
		"negative":                  func() { Build(-1, nil, nil, nil) },
	}
	for name, build := range tests {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			build()
		})
	}
}

// With a cancelled context, everything ends at once.
func TestUntil(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := simple(200_000, 400_000, 1).graph()
	g.Until(ctx)
	Communities(g, 1)
	WeakComponents(g)
	if scores, _ := Harmonic(g); slices.Max(scores) > 0 {
		t.Error("centrality was worked out for nobody")
	}
	if ranks := PageRank(g, Damping, Tolerance); slices.Max(ranks) > 0 {
		t.Error("ranks were worked out for nobody")
	}
}
