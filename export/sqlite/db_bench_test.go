package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// BenchmarkQuery runs queries on a newly opened terrain, alternating with a bare walk over its pages.
// "of-walk" is the ratio of the times, including opening the tables; "of-export" is the ratio to an
// export without metrics plus the same query on it.
func BenchmarkQuery(b *testing.B) {
	for name, size := range benchSizes() {
		b.Run(name, func(b *testing.B) { benchQueries(b, stored(b, size)) })
	}
}

func benchQueries(b *testing.B, store *kv.Store) {
	open := func() *survey.Survey { return surveyed(b, store) }
	file := filepath.Join(b.TempDir(), "x.db")
	exporting := timed(b, func() error {
		return sqlite.Write(b.Context(), file, open(), sqlite.Options{NoMetrics: true})
	})
	const linked = "FROM links l JOIN pages f ON f.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id "
	for _, tt := range []struct{ name, sql string }{
		{"count", "SELECT count(*) FROM pages"},
		{"url", "SELECT * FROM pages WHERE url = (SELECT url FROM pages WHERE id = 9)"},
		{"states", "SELECT state, count(*) FROM pages GROUP BY 1"},
		{"to", "SELECT f.url, l.anchor " + linked + "WHERE t.id = 7"},
		{"unlinked", "SELECT count(*) FROM pages p WHERE NOT EXISTS (SELECT 1 FROM links WHERE to_page_id = p.id)"},
		{"classes", "SELECT t.domain, t.class, count(*) " + linked + "GROUP BY 1, 2"},
		{"all", "SELECT sum(length(f.title)), sum(length(t.title)), sum(length(l.anchor)) " + linked},
		{"twins", "SELECT count(*) FROM pages f JOIN pages t ON f.surt_key = t.surt_key"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			var asking, walking, elsewhere time.Duration
			for b.Loop() {
				asking += timed(b, func() error { return ask(b, open(), tt.sql) })
				walking += timed(b, func() error { return open().EachPage(func(*survey.Page) error { return nil }) })
				elsewhere += timed(b, func() error { return askFile(b, file, tt.sql) })
			}
			b.ReportMetric(asking.Seconds()*1000/float64(b.N), "ms/query")
			b.ReportMetric(asking.Seconds()/walking.Seconds(), "of-walk")
			b.ReportMetric(asking.Seconds()/(elsewhere.Seconds()+exporting.Seconds()*float64(b.N)), "of-export")
			b.ReportMetric(0, "ns/op")
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

func ask(b *testing.B, s *survey.Survey, query string) error {
	d, err := sqlite.Open(s)
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = answers(b.Context(), d, query)
	return err
}

func askFile(b *testing.B, path, query string) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = told(b, db, query)
	return err
}
