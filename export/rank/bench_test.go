package rank

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// benchGraph is RIPPLE_BENCH_NODES nodes (default 100,000) with ten links each:
// most lead near, some to anywhere, and few nodes get most of those.
func benchGraph() links {
	n, err := strconv.Atoi(os.Getenv("RIPPLE_BENCH_NODES"))
	if err != nil || n < 100 {
		n = 100_000
	}
	random := rand.New(rand.NewPCG(1, 2))
	l := links{n: n, from: make([]uint32, 10*n), to: make([]uint32, 10*n)}
	for i := range l.from {
		u := i / 10
		l.from[i] = uint32(u)
		far := random.Float64()
		far *= far * far * float64(n)
		l.to[i] = uint32(far)
		if i%10 < 6 {
			l.to[i] = uint32((u/100*100 + random.IntN(100)) % n)
		}
	}
	return l
}

// benchmark measures a function on the graph and reports links per second.
func benchmark[T any](b *testing.B, measure func(*Graph) T) {
	l := benchGraph()
	g := l.graph()
	b.ReportAllocs()
	for b.Loop() {
		runtime.KeepAlive(measure(g))
	}
	b.ReportMetric(float64(len(g.To))*float64(b.N)/b.Elapsed().Seconds(), "links/s")
}

func BenchmarkBuild(b *testing.B) {
	l := benchGraph()
	b.ReportAllocs()
	for b.Loop() {
		runtime.KeepAlive(l.graph())
	}
}

func BenchmarkPageRank(b *testing.B) {
	benchmark(b, func(g *Graph) []float64 { return PageRank(g, Damping, Tolerance) })
}

func BenchmarkHarmonicBall(b *testing.B) {
	benchmark(b, func(g *Graph) []float64 { return hyperBall(g, ballSeed, registers(g.Len())) })
}

func BenchmarkHarmonicExact(b *testing.B) {
	l := simple(exactLimit, 4*exactLimit, 1)
	g := l.graph()
	b.ReportAllocs()
	for b.Loop() {
		runtime.KeepAlive(countDistances(g))
	}
}

func BenchmarkWeakComponents(b *testing.B) { benchmark(b, WeakComponents) }

func BenchmarkCommunities(b *testing.B) {
	benchmark(b, func(g *Graph) []int32 { return Communities(g, 1) })
}
