package rank

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// everything returns all measures of a graph, bit by bit, by name.
func everything(t rapid.TB, g *Graph) map[string][]byte {
	sources := []uint32{0, uint32(g.Len() / 2), uint32(g.Len() - 1)}
	if g.Len() == 0 {
		sources = nil
	}
	all := map[string][]byte{}
	for name, values := range map[string]any{
		"rank": PageRank(g, Damping, Tolerance), "personal": Personalised(g, evenly(g.Len(), sources), Damping, Tolerance),
		"ball": hyperBall(g, ballSeed, fewestRegs), "weak": WeakComponents(g), "groups": Communities(g, 7),
		"in": InDegree(g), "out": OutDegree(g), "turned": g.Reverse().To, "rows": g.Reverse().Off,
	} {
		var err error
		if all[name], err = binary.Append(nil, binary.LittleEndian, values); err != nil {
			t.Fatal(err)
		}
	}
	if g.Len() < chunk {
		scores, _ := Harmonic(g)
		all["harmonic"], _ = binary.Append(nil, binary.LittleEndian, scores)
	}
	return all
}

// onCores measures with the given number of cores.
func onCores(t rapid.TB, cores int, l links) map[string][]byte {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	return everything(t, l.graph())
}

// mustBeSame fails unless all measures are the same on several cores as on one.
func mustBeSame(t rapid.TB, l links, cores ...int) {
	t.Helper()
	one := onCores(t, 1, l)
	for _, n := range cores {
		for name, values := range onCores(t, n, l) {
			if !bytes.Equal(values, one[name]) {
				t.Errorf("%s of %d nodes, %d links: not the same on %d cores", name, l.n, len(l.to), n)
			}
		}
	}
}

// skewed returns a graph of several chunks: most links lead to near nodes, some to the few nodes that
// get many, some to the node itself; a fifth of the nodes have no links.
func skewed(n int, weighted bool) links {
	l, random := links{n: n}, rand.New(rand.NewPCG(5, 6))
	for u := range n {
		if u%5 == 0 {
			continue
		}
		for range 1 + int(3*random.ExpFloat64()) {
			far := random.Float64()
			to := int(far * far * far * float64(n))
			if random.IntN(4) > 0 {
				to = (u/64*64 + random.IntN(64)) % n
			}
			l.from, l.to = append(l.from, uint32(u)), append(l.to, uint32(to))
			if weighted {
				l.weight = append(l.weight, random.Uint32N(4))
			}
		}
	}
	return l
}

func TestSameOnAnyNumberOfCores(t *testing.T) {
	loops := links{n: 2*chunk + 1}
	for u := range uint32(loops.n) {
		loops.from, loops.to = append(loops.from, u), append(loops.to, u)
	}
	for name, l := range map[string]links{
		"empty": {}, "one node": {n: 1}, "one link to itself": {n: 1, from: []uint32{0}, to: []uint32{0}},
		"no links": {n: chunk + 5}, "links to themselves": loops,
		"skewed": skewed(2*chunk+100, false), "weighted": skewed(2*chunk+100, true),
	} {
		t.Run(name, func(t *testing.T) { mustBeSame(t, l, 2, 5) })
	}
}

func TestSameOfAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mustBeSame(t, anyLinks(60).Draw(t, "links"), rapid.IntRange(2, 5).Draw(t, "cores"))
	})
}

// The number of nodes inspected ahead changes no decision.
func TestAheadChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(200).Draw(t, "links")
		w, seed := undirect(l.graph()), rapid.Uint64().Draw(t, "seed")
		divide := func(ahead int) [2][]int32 {
			m := newMover(w, singletons(l.n), rand.New(rand.NewPCG(seed, 1)))
			m.ahead = newOutlook(w.ctx, ahead, m.look)
			m.move()
			r := newRefiner(w, m.of)
			r.ahead = newOutlook(w.ctx, ahead, r.look)
			r.join(shuffled(l.n, rand.New(rand.NewPCG(seed, 2))))
			return [2][]int32{m.of, r.part}
		}
		want := divide(1)
		if diff := cmp.Diff(want, divide(rapid.IntRange(2, 300).Draw(t, "ahead"))); diff != "" {
			t.Fatalf("groups and parts (-one by one +ahead):\n%s", diff)
		}
	})
}

// near agrees with a map, in the order of first occurrence.
func TestNear(t *testing.T) {
	var n near
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfN(rapid.Int32Range(0, 1000), 0, 2000).Draw(t, "ids")
		want, order := map[int32]float64{}, []int32{}
		n.clear()
		for i, id := range ids {
			if _, ok := want[id]; !ok {
				order = append(order, id)
			}
			want[id] += float64(i + 1)
			n.add(id, uint32(i+1))
		}
		got := map[int32]float64{}
		for i, id := range n.touched {
			got[id] = n.weight[i]
		}
		if diff := cmp.Diff(want, got) + cmp.Diff(order, append([]int32{}, n.touched...)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// The rows of a smaller network equal the sums of the links between its parts.
func TestShrink(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := anyLinks(700).Draw(t, "links")
		w, count := undirect(l.graph()), rapid.IntRange(1, l.n).Draw(t, "parts")
		parts := make([]int32, l.n)
		for v := range parts {
			parts[v] = int32(v * 31 % count)
		}
		want := map[[2]uint32]uint32{}
		var r row
		for v := range uint32(l.n) {
			to, weight := w.row(v, &r)
			for i, u := range to {
				if parts[u] != parts[v] {
					want[[2]uint32{uint32(parts[v]), uint32(parts[u])}] += weight[i]
				}
			}
		}
		small, got := w.shrink(parts, count), map[[2]uint32]uint32{}
		for part := range uint32(count) {
			to, weight := small.row(part, &r)
			for i, other := range to {
				got[[2]uint32{part, other}] += weight[i]
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || small.total != w.total {
			t.Fatalf("weight %v, before %v; links:\n%s", small.total, w.total, diff)
		}
	})
}
