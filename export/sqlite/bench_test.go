package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/scaletest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/process"
)

// benchSizes returns the terrains that exports are measured on. The large ones require a folder for
// their files (package scaletest), and time.
func benchSizes() map[string]scaletest.Size {
	sizes := map[string]scaletest.Size{"small": scaletest.Small()}
	for name, size := range map[string]scaletest.Size{
		"medium": scaletest.Medium(), "large": scaletest.Large(), "huge": scaletest.Huge(), "known": scaletest.Known(),
	} {
		if strings.Contains(os.Getenv("RIPPLE_BENCH_SIZES"), name) {
			sizes[name] = size
		}
	}
	return sizes
}

func scaled(b *testing.B, size scaletest.Size) *survey.Survey {
	return surveyed(b, stored(b, size))
}

func surveyed(b *testing.B, store *kv.Store) *survey.Survey {
	s, err := survey.New(store)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func stored(b *testing.B, size scaletest.Size) *kv.Store {
	if size == scaletest.Small() {
		return scaletest.Open(b, scaletest.Made(b, size))
	}
	return scaletest.Open(b, scaletest.File(b, size))
}

// BenchmarkExport alternates with the bare driver, which receives the same rows one by one. "of-driver"
// is the ratio of the times, "of-cpu" that of the CPU times, "of-size" that of the file sizes. With
// metrics much of the difference is their computation.
func BenchmarkExport(b *testing.B) {
	for name, size := range benchSizes() {
		for _, bare := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/metrics=%t", name, !bare), func(b *testing.B) { benchExport(b, size, bare) })
		}
	}
}

func benchExport(b *testing.B, size scaletest.Size, bare bool) {
	s, dir := scaled(b, size), b.TempDir()
	path, other := filepath.Join(dir, "x.db"), filepath.Join(dir, "bare.db")
	var writing, driving effort
	for b.Loop() {
		begun := spent()
		if err := sqlite.Write(b.Context(), path, s, sqlite.Options{NoMetrics: bare}); err != nil {
			b.Fatal(err)
		}
		writing = writing.plus(spent(), 1).plus(begun, -1)
		took, err := driver(path, other)
		if err != nil {
			b.Fatal(err)
		}
		driving = driving.plus(took, 1)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(size.Links)*float64(b.N)/writing.clock.Seconds(), "links/s")
	b.ReportMetric(writing.clock.Seconds()/driving.clock.Seconds(), "of-driver")
	b.ReportMetric(writing.cpu.Seconds()/driving.cpu.Seconds(), "of-cpu")
	b.ReportMetric(sizeOf(b, path)/sizeOf(b, other), "of-size")
}

// An effort is the time that something took.
type effort struct{ clock, cpu time.Duration }

var started = time.Now()

// spent returns what this process has used so far.
func spent() effort { return effort{time.Since(started), process.CPUTime()} }

// plus returns e plus times another effort.
func (e effort) plus(other effort, times int) effort {
	n := time.Duration(times)
	return effort{e.clock + n*other.clock, e.cpu + n*other.cpu}
}

func sizeOf(b *testing.B, path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return float64(info.Size())
}

// driver inserts the rows of a database into a new one with the same tables and indexes, and returns
// the effort without reading them.
func driver(from, to string) (took effort, err error) {
	source, err := sql.Open("sqlite", from)
	if err != nil {
		return took, err
	}
	defer source.Close()
	if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
		return took, err
	}
	db, err := sql.Open("sqlite", to)
	if err != nil {
		return took, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tables, indexes := schema.SQLStatements()
	begun := spent()
	tx, err := begin(db, tables)
	if err != nil {
		return took, err
	}
	for _, statement := range tables {
		name := strings.Fields(statement)[2]
		if err := eachRow(source, name, inserter(tx, name)); err != nil {
			return took, err
		}
		alone := spent()
		if err := eachRow(source, name, func([]any) error { return nil }); err != nil {
			return took, err
		}
		took = took.plus(spent(), -2).plus(alone, 2) // it was read twice
	}
	for _, s := range indexes {
		if _, err := tx.Exec(s); err != nil {
			return took, err
		}
	}
	err = tx.Commit()
	return took.plus(spent(), 1).plus(begun, -1), err
}

func begin(db *sql.DB, tables []string) (*sql.Tx, error) {
	for _, pragma := range []string{"journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE",
		"cache_size = -65536"} {
		if _, err := db.Exec("PRAGMA " + pragma); err != nil {
			return nil, err
		}
	}
	tx, err := db.Begin()
	for _, s := range tables {
		if err == nil {
			_, err = tx.Exec(s)
		}
	}
	return tx, err
}

// inserter returns a function that inserts rows into a table, by one statement.
func inserter(tx *sql.Tx, table string) func([]any) error {
	var insert *sql.Stmt
	return func(row []any) (err error) {
		if insert == nil {
			marks := strings.TrimSuffix(strings.Repeat("?,", len(row)), ",")
			if insert, err = tx.Prepare("INSERT INTO " + table + " VALUES (" + marks + ")"); err != nil {
				return err
			}
		}
		_, err = insert.Exec(row...)
		return err
	}
}

func eachRow(db *sql.DB, table string, f func([]any) error) error {
	rows, err := db.Query("SELECT * FROM " + table)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := errors.Join(rows.Scan(into...), f(row)); err != nil {
			return err
		}
	}
	return rows.Err()
}

func pageURL(i int) string { return fmt.Sprintf("h%d.a.test/section/page-%d", i%100, i*7919%1_000_003) }

// web returns a terrain of visited pages with links to others.
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
					Form: "https://" + pageURL(i), Content: schema.Content{Title: "A title", Charset: "utf-8"},
					ContentType: "text/html", Length: 10, ResponseTime: 30e6,
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
