package rank

import (
	"math"
	"testing"

	measures "gonum.org/v1/gonum/graph/network"
	"gonum.org/v1/gonum/graph/path"
	"pgregory.net/rapid"
)

func TestHarmonicAgreesWithGonum(t *testing.T) {
	for seed := range uint64(8) {
		n := 3 + int(seed)*37
		l := simple(n, n*int(1+seed%3), seed)
		for i := range l.weight {
			l.weight[i] = 1 // the oracle treats weights as lengths
		}
		oracle := directed(l)
		got, exact := Harmonic(l.graph())
		if !exact {
			t.Fatalf("%d nodes are not counted exactly", n)
		}
		mustAgree(t, "harmonic", got, measures.Harmonic(oracle, path.DijkstraAllPaths(oracle)), 1e-9)
	}
}

// plainHarmonic sums 1/d directly.
func plainHarmonic(g *Graph) []float64 {
	scores := make([]float64, g.Len())
	for source := range g.Len() {
		depth := make([]int, g.Len())
		depth[source] = 1
		for queue := []uint32{uint32(source)}; len(queue) > 0; queue = queue[1:] {
			for _, v := range g.Out(queue[0]) {
				if depth[v] == 0 {
					depth[v] = depth[queue[0]] + 1
					scores[v] += 1 / float64(depth[v]-1)
					queue = append(queue, v)
				}
			}
		}
	}
	return scores
}

func TestHarmonicLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyLinks(150).Draw(t, "links").graph()
		got, _ := Harmonic(g)
		for v, want := range plainHarmonic(g) {
			if math.Abs(got[v]-want) > 1e-9 {
				t.Fatalf("harmonic of node %d = %v; want %v", v, got[v], want)
			}
		}
	})
}

func TestHyperBallIsNear(t *testing.T) {
	g := simple(4000, 20000, 5).graph()
	want, _ := Harmonic(g)
	for _, regs := range []int{fewestRegs, 64, mostRegs} {
		got, bias, off := hyperBall(g, ballSeed, regs), 0.0, 0.0
		for v := range want {
			bias += (got[v] - want[v]) / sum(want)
			off += math.Abs(got[v]-want[v]) / sum(want)
		}
		if bound := 3 * 1.04 / math.Sqrt(float64(regs)); off > bound || off > math.Abs(bias)+0.02 {
			t.Errorf("%d registers: %.3f off in the mean, %.3f of it common; want at most %.3f", regs, off, bias, bound)
		}
	}
}

func TestRegistersFit(t *testing.T) {
	for n, want := range map[int]int{1: 256, 500_000: 256, 1_000_000: 128, 8_000_000: 16, 100_000_000: 16} {
		if got := registers(n); got != want {
			t.Errorf("registers(%d) = %d; want %d", n, got, want)
		}
	}
}

func TestHarmonicSaysThatItEstimates(t *testing.T) {
	for name, star := range map[string]struct{ leaves, links int }{
		"many nodes": {exactNodes, 1}, "many links": {20_000, 3},
	} {
		t.Run(name, func(t *testing.T) {
			l := links{n: star.leaves + 1}
			for i := range star.leaves * star.links {
				l.from, l.to = append(l.from, uint32(i/star.links)), append(l.to, uint32(star.leaves))
			}
			got, exact := Harmonic(l.graph())
			if exact {
				t.Error("called exact")
			}
			want := float64(star.leaves)
			if hub := got[star.leaves]; math.Abs(hub-want) > 0.2*want || got[0] != 0 {
				t.Errorf("hub %v, leaf %v; want about %v and 0", hub, got[0], want)
			}
		})
	}
}

// A long chain must neither take a step per node of the graph nor lose its order.
func TestHyperBallEndsOnAChain(t *testing.T) {
	l := links{n: 3000}
	for v := range uint32(l.n - 1) {
		l.from, l.to = append(l.from, v), append(l.to, v+1)
	}
	got := hyperBall(l.graph(), ballSeed, mostRegs)
	if got[0] != 0 || got[l.n-1] < 3 || got[l.n-1] > 10 {
		t.Errorf("first %v, last %v", got[0], got[l.n-1])
	}
}

func TestUniteTakesTheLarger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regs := rapid.SliceOfN(rapid.Uint64Range(0, 65), 16, 16).Draw(t, "registers")
		var a, b, want uint64
		for i := range 8 {
			a |= regs[i] << (8 * i)
			b |= regs[8+i] << (8 * i)
			want |= max(regs[i], regs[8+i]) << (8 * i)
		}
		ball := []uint64{a}
		if changed := unite(ball, []uint64{b}); ball[0] != want || changed != (want != a) {
			t.Fatalf("unite(%016x, %016x) = %016x, %v; want %016x", a, b, ball[0], changed, want)
		}
	})
}
