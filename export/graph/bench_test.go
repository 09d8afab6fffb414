package graph_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// benchPages is 5,000 pages with 10 links each; RIPPLE_BENCH_PAGES=100000 makes it
// a million links.
func benchPages(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("RIPPLE_BENCH_PAGES"))
	if err != nil {
		return 5_000
	}
	return n
}

func benchWorld(b *testing.B) *surveytest.World { return wide(b, benchPages(b), 100, 10) }

// BenchmarkGEXF writes the graph of pages, measured beforehand.
func BenchmarkGEXF(b *testing.B) { benchmark(b, "gexf") }

func BenchmarkGraphML(b *testing.B) { benchmark(b, "graphml") }

func BenchmarkJSONL(b *testing.B) { benchmark(b, "jsonl") }

func benchmark(b *testing.B, name string) {
	g := graphAt(b, benchWorld(b), export.Options{})
	if _, err := g.Measure(); err != nil {
		b.Fatal(err)
	}
	f := format(b, name)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Stream(io.Discard, g); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(benchPages(b)*10)*float64(b.N)/b.Elapsed().Seconds(), "links/s")
}

// BenchmarkSurvey is the reading alone that BenchmarkGEXF does too.
func BenchmarkSurvey(b *testing.B) {
	g := graphAt(b, benchWorld(b), export.Options{})
	if _, err := g.Measure(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := g.EachNode(func(*export.Node) error { return nil }); err != nil {
			b.Fatal(err)
		}
		if err := g.EachLink(func(*export.Link) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBare is the yardstick: the same bytes, copied to a file in pieces of the
// same size.
func BenchmarkBare(b *testing.B) {
	g := graphAt(b, benchWorld(b), export.Options{})
	var text bytes.Buffer
	if err := format(b, "gexf").Stream(&text, g); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "x.gexf")
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if err := bare(path, text.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
}

func bare(path string, text []byte) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for len(text) > 0 {
		n := min(len(text), 1<<16)
		if _, err := f.Write(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// BenchmarkHeap reports what is live on the heap at most while a graph of pages
// streams by, beside what is there when it ends.
func BenchmarkHeap(b *testing.B) {
	g := graphAt(b, benchWorld(b), export.Options{})
	if _, err := g.Measure(); err != nil {
		b.Fatal(err)
	}
	var w heapWriter
	for b.Loop() {
		if err := format(b, "jsonl").Stream(&w, g); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(w.most)/1e6, "live-MB")
	b.ReportMetric(float64(live())/1e6, "after-MB")
}

// A heapWriter looks at the heap after every 16 MiB.
type heapWriter struct {
	written int
	most    uint64
}

func (w *heapWriter) Write(p []byte) (int, error) {
	if w.written += len(p); w.written >= 16<<20 {
		w.written = 0
		w.most = max(w.most, live())
	}
	return len(p), nil
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
