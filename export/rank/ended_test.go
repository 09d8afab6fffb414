package rank

import (
	"context"
	"math/rand/v2"
	"testing"
)

// chain returns a graph of nodes in a row, and a function that cancels it.
func chain(n int) (*Graph, func()) {
	l := links{n: n}
	for v := range uint32(n - 1) {
		l.from, l.to = append(l.from, v), append(l.to, v+1)
	}
	g := l.graph()
	ctx, end := context.WithCancel(context.Background())
	g.Until(ctx)
	return g, end
}

// After a cancellation, every slow function returns at once without a panic, having done little or
// nothing.
func TestNobodyWaits(t *testing.T) {
	const n = 3 * chunk
	g, end := chain(n)
	w, one, pairs, random := undirect(g), make([]int32, n), make([]int32, n), rand.New(rand.NewPCG(1, 2))
	for v := range pairs {
		pairs[v] = int32(v / 2)
	}
	end()
	if w := undirect(g); w.total != 0 {
		t.Errorf("a network of weight %v", w.total)
	}
	if _, parts := refine(w, one, random); parts != n {
		t.Errorf("refine made %d parts", parts)
	}
	if small := w.shrink(pairs, n/2); len(small.packed[0]) != 0 || small.total != 0 {
		t.Errorf("shrink made a network of %d bytes, weight %v", len(small.packed[0]), small.total)
	}
	if of := connect(g, one); of[0] == of[n-1] {
		t.Error("connect went from the first node to the last")
	}
	if groups := newMover(w, singletons(n), random).move(); groups < n-chunk {
		t.Errorf("move left %d groups", groups)
	}
	if of := WeakComponents(g); of[0] == of[n-1] {
		t.Error("WeakComponents went from the first node to the last")
	}
	for name, scores := range map[string][]float64{
		"PageRank": PageRank(g, Damping, Tolerance), "hyperBall": hyperBall(g, ballSeed, fewestRegs),
		"countDistances": countDistances(g),
	} {
		if scores[n-1] != 0 {
			t.Errorf("%s of the last node is %v", name, scores[n-1])
		}
	}
	Communities(g, 1)
}
