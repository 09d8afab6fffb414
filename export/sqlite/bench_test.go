package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"

	"database/sql"
)

// benchSize is 20,000 pages and 200,000 links; ten times that with
// RIPPLE_BENCH_LARGE set.
func benchSize() (pages, links int) {
	if os.Getenv("RIPPLE_BENCH_LARGE") != "" {
		return 200_000, 10
	}
	return 20_000, 10
}

// BenchmarkExport writes, in turn with the bare driver, which inserts rows of the
// same number and size into pages and links alone. "of-driver" is how many times
// as long it takes; with metrics most of the difference is their computation.
func BenchmarkExport(b *testing.B) {
	pages, links := benchSize()
	s := web(b, pages, links).Survey()
	for _, bare := range []bool{true, false} {
		b.Run(fmt.Sprintf("metrics=%t", !bare), func(b *testing.B) {
			dir := b.TempDir()
			var writing, driving time.Duration
			for b.Loop() {
				begun := time.Now()
				if err := sqlite.Write(b.Context(), filepath.Join(dir, "x.db"), s, sqlite.Options{NoMetrics: bare}); err != nil {
					b.Fatal(err)
				}
				writing += time.Since(begun)
				driving += timedDriver(b, filepath.Join(dir, "bare.db"), pages, links)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(pages*links)*float64(b.N)/writing.Seconds(), "links/s")
			b.ReportMetric(writing.Seconds()/driving.Seconds(), "of-driver")
		})
	}
}

func timedDriver(b *testing.B, path string, pages, links int) time.Duration {
	b.Helper()
	begun := time.Now()
	if err := driver(path, pages, links); err != nil {
		b.Fatal(err)
	}
	took := time.Since(begun)
	if err := os.Remove(path); err != nil {
		b.Fatal(err)
	}
	return took
}

func driver(path string, pages, links int) error {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, pragma := range []string{"journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE",
		"cache_size = -65536"} {
		if _, err := db.Exec("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	tables, indexes := schema.SQLStatements()
	for _, s := range tables {
		if _, err := tx.Exec(s); err != nil {
			return err
		}
	}
	page, err := tx.Prepare(`INSERT INTO pages VALUES (?,?,'host.a.test','processed','A title',200,'text/html',NULL,
		'2026-01-15T10:30:00Z',
		'2026-01-15T10:30:00Z',1,NULL,0,?,'quality','quality "*.a.test"',?,NULL,0,1,'utf-8',
		NULL,10,NULL,30,0,0,NULL,NULL,NULL,1,1)`)
	if err != nil {
		return err
	}
	for id := 1; id <= pages; id++ {
		url := pageURL(id)
		if _, err := page.Exec(id, "https://"+url, url, url); err != nil {
			return err
		}
	}
	link, err := tx.Prepare("INSERT INTO links VALUES (?,?,?,1,'anchor',NULL,'main',?,1)")
	if err != nil {
		return err
	}
	for n := range pages * links {
		if _, err := link.Exec(n+1, n/links+1, (n*7919)%pages+1, "to "+pageURL(n%pages)); err != nil {
			return err
		}
	}
	for _, s := range indexes {
		if _, err := tx.Exec(s); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func pageURL(i int) string { return fmt.Sprintf("h%d.a.test/section/page-%d", i%100, i*7919%1_000_003) }

// web is a terrain of visited pages with links to others.
func web(b testing.TB, pages, links int) *surveytest.World {
	w := surveytest.New(b, "[user-agent]\ncrawler-name = \"Test\"\n[[quality]]\ndomain = \"*.a.test\"\n"+
		"seeds = [\"https://a.test/\"]\n")
	const batch = 250
	w.Update(func(tx *kv.Tx) error {
		for i := range 100 {
			if _, err := tx.Hosts.Add(fmt.Sprintf("h%d.a.test", i)); err != nil {
				return err
			}
		}
		return nil
	})
	for first := 1; first <= pages; first += batch {
		w.Update(func(tx *kv.Tx) error {
			for i := first; i < first+batch; i++ {
				url := pageURL(i)
				u := schema.URL{Host: schema.HostID(i%100 + 1), PathQuery: url[len(fmt.Sprintf("h%d.a.test", i%100)):],
					FirstSeen: w.At, FirstRun: 1}
				id, err := tx.URLs.Add(u, w.Store.Hash(schema.KindPage, "https://"+url))
				if err != nil {
					return err
				}
				tx.Depths.Lower(id, 0, 0)
			}
			return nil
		})
	}
	for first := 1; first <= pages; first += batch {
		w.Update(func(tx *kv.Tx) error {
			for i := first; i < first+batch; i++ {
				v := &schema.Visit{
					URL: schema.ID(i), Run: 1, At: w.At, State: schema.Processed, Status: 200, Requests: 1,
					Form:  "https://" + pageURL(i),
					Title: "A title", ContentType: "text/html", Charset: "utf-8", Length: 10, ResponseTime: 30e6,
				}
				for j := range links {
					to := (i*links+j)*7919%pages + 1
					v.Links = append(v.Links, schema.Link{To: schema.ID(to), Kinds: surveytest.Kinds(schema.LinkAnchor),
						Anchor: "to " + pageURL(to)})
				}
				if _, err := tx.Visits.Add(v); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return w
}
