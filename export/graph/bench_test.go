package graph_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema/process"
)

// benchGraph returns the page graph of a small terrain, or of the one in a file of package scaletest
// whose size RIPPLE_BENCH_SIZES names.
func benchGraph(b *testing.B) *export.Graph {
	var path string
	switch os.Getenv("RIPPLE_BENCH_SIZES") {
	case "medium":
		path = scaletest.File(b, scaletest.Medium())
	case "large":
		path = scaletest.File(b, scaletest.Large())
	case "huge":
		path = scaletest.File(b, scaletest.Huge())
	default:
		path = scaletest.Made(b, scaletest.Small())
	}
	s, err := survey.New(scaletest.Open(b, path))
	if err != nil {
		b.Fatal(err)
	}
	g, err := export.New(s, export.Options{})
	if err == nil {
		_, err = g.Measure()
	}
	if err != nil {
		b.Fatal(err)
	}
	return g
}

// BenchmarkExport writes the page graph, measured beforehand, to a file. It alternates with the lower
// bound: reading the same nodes and links, and writing the same number of existing bytes. "of-limit" is
// the ratio.
func BenchmarkExport(b *testing.B) {
	g := benchGraph(b)
	for _, name := range []string{"gexf", "graphml", "jsonl", "dot"} {
		b.Run(name, func(b *testing.B) {
			f, path := format(b, name), filepath.Join(b.TempDir(), "x")
			var writing, reading, copying time.Duration
			var size int64
			links := 0
			for b.Loop() {
				writing += timed(b, func() error { return filled(path, func(w io.Writer) error { return f.Stream(w, g) }) })
				info, err := os.Stat(path)
				if err != nil {
					b.Fatal(err)
				}
				size = info.Size()
				copying += timed(b, func() error { return filled(path, func(w io.Writer) error { return bare(w, size) }) })
				links = 0
				reading += timed(b, func() error {
					return errors.Join(g.EachNode(func(*export.Node) error { return nil }),
						g.EachLink(func(*export.Link) error { links++; return nil }))
				})
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(links)*float64(b.N)/writing.Seconds(), "links/s")
			b.ReportMetric(float64(size)/1e6, "MB")
			b.ReportMetric(writing.Seconds()/(copying+reading).Seconds(), "of-limit")
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

// bare is the baseline: n bytes in the pieces of a buffered writer.
func bare(w io.Writer, n int64) error {
	piece := bytes.Repeat([]byte{'x'}, 1<<16)
	for ; n > 0; n -= int64(len(piece)) {
		if _, err := w.Write(piece[:min(n, int64(len(piece)))]); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkHeap reports the peak live heap while a page graph streams, in addition to the heap at its
// end.
func BenchmarkHeap(b *testing.B) {
	g := benchGraph(b)
	var w heapWriter
	for b.Loop() {
		if err := format(b, "jsonl").Stream(&w, g); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(w.most)/1e6, "live-MB")
	b.ReportMetric(float64(process.LiveHeap())/1e6, "after-MB")
}

// A heapWriter samples the heap after every 16 MiB.
type heapWriter struct {
	written int
	most    int64
}

func (w *heapWriter) Write(p []byte) (int, error) {
	if w.written += len(p); w.written >= 16<<20 {
		w.written = 0
		w.most = max(w.most, process.LiveHeap())
	}
	return len(p), nil
}
