package rank

import (
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"
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
	l := simple(15_000, exactWork/15_000, 1)
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

// BenchmarkMemory reports what is live on the heap at most while a graph is measured in all
// ways, itself included: bytes a link, when 96 are taken off for each node.
func BenchmarkMemory(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	most := 0.0
	var links, nodes int
	for b.Loop() {
		l := benchGraph()
		builder := NewBuilder(l.n, len(l.to), false)
		for i := range l.from {
			builder.Add(l.from[i], l.to[i], 1)
		}
		links, nodes = len(l.to), l.n
		before := liveHeap()
		g := builder.Graph()
		before -= float64(4*links + 8*nodes)
		most = max(most, peakHeap(func() {
			runtime.KeepAlive([]any{Communities(g, 1), WeakComponents(g), PageRank(g, Damping, Tolerance)})
		})-before)
	}
	b.ReportMetric((most-96*float64(nodes))/float64(links), "B/link")
}

func liveHeap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// peakHeap looks at the heap while a function runs.
func peakHeap(f func()) float64 {
	over, most := make(chan struct{}), make(chan float64)
	go func() {
		peak, sample := 0.0, []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for {
			metrics.Read(sample)
			peak = max(peak, float64(sample[0].Value.Uint64()))
			select {
			case <-over:
				most <- peak
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(over)
	return <-most
}
