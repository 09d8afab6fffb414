package serve

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/kv/scaletest"
)

// BenchmarkPages measures the list of a million pages: the first section, of a reader that has read
// nothing yet, and later ones, far down in the list.
func BenchmarkPages(b *testing.B) {
	path := scaletest.File(b, scaletest.Size{Pages: 1_000_000, Links: 4_300_000, Hosts: 700})
	for name, said := range map[string]string{
		"plain": "", "by-status": "sort=status_code", "by-url": "sort=url&desc=1", "by-title": "sort=title",
		"by-links-in": "sort=links_in&desc=1", "filtered": "state=dead_link&sort=visited_at", "searched": "search=quin",
	} {
		b.Run(name, func(b *testing.B) {
			var first, later time.Duration
			for b.Loop() {
				reader := newTerrainReader(statefile.Files{Voice: term.NewVoice(io.Discard)}, path)
				first += asked200(b, reader, said)
				later += asked200(b, reader, "offset=20000&"+said)
				reader.Close()
			}
			b.ReportMetric(first.Seconds()*1e3/float64(b.N), "ms/first")
			b.ReportMetric(later.Seconds()*1e3/float64(b.N), "ms/later")
		})
	}
}

// asked200 asks for 200 pages, and returns how long that took.
func asked200(b *testing.B, reader *terrainReader, said string) time.Duration {
	q, err := pageQuery(b, "limit=200&"+said)
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	reader.own(context.Background(), false, func() {
		_, err = reader.of((*opened).answerPages)(context.Background(), q)
	})
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(begin)
}
