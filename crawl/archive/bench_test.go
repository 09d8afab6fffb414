package archive

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

// BenchmarkReader reads gzip members and Zstandard frames to their ends, and reports uncompressed megabytes.
func BenchmarkReader(b *testing.B) {
	files, size := map[string][]byte{}, 0
	for n := range 500 {
		var text strings.Builder
		for dice := (&prose.Dice{State: uint64(n)}); text.Len() < 30_000; {
			text.WriteString("<p>" + prose.Sentence(dice))
		}
		one := record("response", "https://a.test/", "HTTP/1.1 200 OK\r\n\r\n"+text.String())
		size += len(one)
		files["plain"] = append(files["plain"], one...)
		files["gzip"] = append(files["gzip"], zipped(b, one)...)
		files["frames"] = append(files["frames"], framed(b, one)...)
	}
	for name, file := range files {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				r, err := NewReader(bytes.NewReader(file), int64(len(file)))
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = r.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}
