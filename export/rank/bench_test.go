package rank

import (
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema/process"
)

// fromEnv returns a number from the environment, or a default.
func fromEnv(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// benchGraph returns a graph like a terrain: RIPPLE_BENCH_NODES pages (default 100,000), a tenth of
// them not visited, with RIPPLE_BENCH_DEGREE links each on average (default 20), few on most. Host
// sizes follow Zipf's law, and pages of different hosts are mixed. 85 % of the links stay on their
// host; most links lead to few pages.
func benchGraph() links {
	n, degree := fromEnv("RIPPLE_BENCH_NODES", 100_000), fromEnv("RIPPLE_BENCH_DEGREE", 20)
	random := rand.New(rand.NewPCG(1, 2))
	zipf := func(n int) int { return int(math.Pow(float64(n+1), random.Float64())) - 1 }
	hosts := make([][]uint32, max(1, n/500))
	hostOf := make([]int, n)
	for page := range hostOf {
		hostOf[page] = zipf(len(hosts))
		hosts[hostOf[page]] = append(hosts[hostOf[page]], uint32(page))
	}
	l := links{n: n}
	for page, host := range hostOf {
		count := int(float64(degree) / 0.9 * random.ExpFloat64())
		if random.Float64() < 0.1 {
			count = 0
		}
		for range count {
			to := hosts[host]
			if random.Float64() < 0.15 {
				to = hosts[zipf(len(hosts))]
			}
			if len(to) > 0 {
				l.from, l.to = append(l.from, uint32(page)), append(l.to, to[zipf(len(to))])
			}
		}
	}
	return l
}

// scattered returns a graph whose nodes have ten links each, more of which leave their community than
// in a terrain: six lead to near nodes, the others anywhere, most of these to few nodes.
func scattered() links {
	n := fromEnv("RIPPLE_BENCH_NODES", 100_000)
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

// BenchmarkMemory reports the peak live heap, including the graph, while a graph is measured in all
// ways: bytes per link, after subtracting 96 per node.
func BenchmarkMemory(b *testing.B) {
	for name, made := range map[string]func() links{"terrain": benchGraph, "scattered": scattered} {
		b.Run(name, func(b *testing.B) { benchMemory(b, made()) })
	}
}

func benchMemory(b *testing.B, l links) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	most := 0.0
	for b.Loop() {
		before := float64(process.LiveHeap())
		g := Build(l.n, l.from, l.to, nil)
		most = max(most, peakHeap(func() {
			runtime.KeepAlive([]any{Communities(g, 1), WeakComponents(g), PageRank(g, Damping, Tolerance)})
		})-before)
	}
	b.ReportMetric((most-96*float64(l.n))/float64(len(l.to)), "B/link")
}

// peakHeap samples the heap while a function runs.
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

func BenchmarkReverse(b *testing.B) { benchmark(b, (*Graph).Reverse) }
