package atlas

import (
	"os"
	"strconv"
	"testing"
)

// BenchmarkStep is one iteration; RIPPLE_BENCH_NODES sets the size (default 50,000).
func BenchmarkStep(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("RIPPLE_BENCH_NODES"))
	if err != nil || n < 10 {
		n = 50_000
	}
	_, edges := terrain(n, 1)
	points := Layout(n, edges, nil, 1, nil)
	x, y := make([]float64, n), make([]float64, n)
	for v, p := range points {
		x[v], y[v] = float64(p.X), float64(p.Y)
	}
	f := newField(newWeb(n, edges), x, y)
	b.ReportAllocs()
	for b.Loop() {
		f.step()
	}
	b.ReportMetric(float64(len(edges)), "links")
}
