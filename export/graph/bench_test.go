package graph_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

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

// BenchmarkExport writes the graph of pages, measured beforehand, into a file, in
// turn with as many bytes that are there already. "of-bare" is how many times as
// long it takes, "of-reading" how many times as long as reading the graph alone.
func BenchmarkExport(b *testing.B) {
	g := graphAt(b, benchWorld(b), export.Options{})
	if _, err := g.Measure(); err != nil {
		b.Fatal(err)
	}
	reading := timed(b, func() error {
		return errors.Join(g.EachNode(func(*export.Node) error { return nil }),
			g.EachLink(func(*export.Link) error { return nil }))
	})
	for _, name := range []string{"gexf", "graphml", "jsonl"} {
		b.Run(name, func(b *testing.B) {
			f, path := format(b, name), filepath.Join(b.TempDir(), "x")
			var writing, copying time.Duration
			for b.Loop() {
				writing += timed(b, func() error { return filled(path, func(w io.Writer) error { return f.Stream(w, g) }) })
				info, err := os.Stat(path)
				if err != nil {
					b.Fatal(err)
				}
				copying += timed(b, func() error { return filled(path, func(w io.Writer) error { return bare(w, info.Size()) }) })
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(benchPages(b)*10)*float64(b.N)/writing.Seconds(), "links/s")
			b.ReportMetric(writing.Seconds()/copying.Seconds(), "of-bare")
			b.ReportMetric(writing.Seconds()/float64(b.N)/reading.Seconds(), "of-reading")
		})
	}
}

func timed(b *testing.B, f func() error) time.Duration {
	b.Helper()
	begun := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(begun)
}

func filled(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// bare is the yardstick: n bytes in the pieces of a buffered writer.
func bare(w io.Writer, n int64) error {
	piece := bytes.Repeat([]byte{'x'}, 1<<16)
	for ; n > 0; n -= int64(len(piece)) {
		if _, err := w.Write(piece[:min(n, int64(len(piece)))]); err != nil {
			return err
		}
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
