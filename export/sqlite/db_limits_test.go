package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
)

// Statements that do more than read are denied.
func TestReadOnly(t *testing.T) {
	s := terrain(t).Survey()
	d := openDB(t, s)
	outside := filepath.Join(t.TempDir(), "outside.db")
	for _, text := range []string{
		"DELETE FROM pages", "UPDATE pages SET title = 'x'", "INSERT INTO pages (id) VALUES (1)", "DROP TABLE pages",
		"WITH x AS (SELECT 1) DELETE FROM links", "CREATE TABLE x (y)", "CREATE TEMP TABLE x (y)",
		"CREATE TEMP VIEW x AS SELECT 1", "CREATE VIRTUAL TABLE x USING ripple(1, pages)", "ALTER TABLE pages RENAME TO x",
		"ATTACH '" + outside + "' AS x", "VACUUM INTO '" + outside + "'", "DETACH main", "ANALYZE", "BEGIN",
		"SAVEPOINT x", "PRAGMA writable_schema = 1", "PRAGMA query_only = 0", "PRAGMA temp_store_directory = '/'",
		"SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('x', 'y')", "SELECT ripple_run(1)",
		"SELECT * FROM pragma_user_version", "SELECT * FROM ripple", "SELECT 1; DELETE FROM pages", "", "SELEC",
		"SELECT ?", "SELECT * FROM pages WHERE id = :id",
		"UPDATE sqlite_master SET sql = ''", "INSERT INTO sqlite_master VALUES (1, 2, 3, 4, 5)",
	} {
		_, err := answers(t.Context(), d, text)
		if wrong := new(sqlite.StatementError); !errors.As(err, &wrong) && text != "" {
			t.Errorf("%s: %v; want an error of the statement", text, err)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a file was written")
	}
	sameAnswer(t, d, write(t, s), "SELECT * FROM pages ORDER BY id")
}

// SQLite uses the intended ways to read tables.
func TestPlans(t *testing.T) {
	d := openDB(t, terrain(t).Survey())
	for _, tt := range []struct{ query, plan string }{
		{"SELECT * FROM pages WHERE id = 5", "SCAN pages VIRTUAL TABLE INDEX 1:"},
		{"SELECT * FROM pages WHERE rowid = 5", "SCAN pages VIRTUAL TABLE INDEX 1:"},
		{"SELECT * FROM pages WHERE url = 'x'", "SCAN pages VIRTUAL TABLE INDEX 3:"},
		{"SELECT * FROM pages WHERE url = 'x' COLLATE NOCASE", "SCAN pages VIRTUAL TABLE INDEX 0:"},
		{"SELECT * FROM pages WHERE domain = 'x' ORDER BY id", "SCAN pages VIRTUAL TABLE INDEX 4:"},
		{"SELECT * FROM pages WHERE id > 5 AND id <= 9 ORDER BY id DESC LIMIT 3",
			"SCAN pages VIRTUAL TABLE INDEX 65536:2 3 "},
		{"SELECT * FROM links ORDER BY id", "SCAN links VIRTUAL TABLE INDEX 0:"},
		{"SELECT f.url, l.anchor FROM links l JOIN pages f ON f.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id " +
			"WHERE t.url = 'x'", "SCAN t VIRTUAL TABLE INDEX 3:; SCAN l VIRTUAL TABLE INDEX 4:; SCAN f VIRTUAL TABLE INDEX 1:"},
		{"SELECT * FROM pages p WHERE NOT EXISTS (SELECT 1 FROM links WHERE to_page_id = p.id)",
			"SCAN p VIRTUAL TABLE INDEX 0:; CORRELATED SCALAR SUBQUERY 1; SCAN links VIRTUAL TABLE INDEX 4:"},
	} {
		var steps []string
		err := d.Query(t.Context(), "EXPLAIN QUERY PLAN "+tt.query, func([]string) (func([]any) (bool, error), error) {
			return func(values []any) (bool, error) {
				steps = append(steps, fmt.Sprint(values[3]))
				return true, nil
			}, nil
		})
		if got := strings.Join(steps, "; "); err != nil || got != tt.plan {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.query, err, got, tt.plan)
		}
	}
}

// TestCancelled cancels statements at their beginning, in a table, and while only SQLite works, before
// the first row and after it.
func TestCancelled(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("a.test/%d", i))
	}
	w.Visit("a.test/", w.Links(names...))
	d := openDB(t, w.Survey())
	endless := "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "
	for _, query := range []string{
		"SELECT 1 FROM pages a, pages b, pages c, pages d",
		"SELECT count(*) FROM pages a, pages b, pages c, pages d",
		endless + "count(*) FROM n",
		"SELECT 1 UNION ALL SELECT count(*) FROM (" + endless + "x FROM n)",
		"SELECT 1 UNION ALL SELECT count(*) FROM pages a, pages b, pages c, pages d",
		"SELECT 1 FROM pages a, pages b, pages c, pages d ORDER BY a.title || b.title || c.title || d.url",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, err := answers(ctx, d, query); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", query, err)
		}
		if _, err := answers(ctx, d, "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("already ended: %v", err)
		}
		cancel()
	}
	if got, err := answers(t.Context(), d, "SELECT count(*) FROM pages"); err != nil || got[0] != `int64 "301"|` {
		t.Errorf("afterwards: %v, %v", got, err)
	}
}

// An Answer can end the reading.
func TestEnough(t *testing.T) {
	d := openDB(t, terrain(t).Survey())
	failed := errors.New("the paper is out")
	for _, tt := range []struct {
		more bool
		err  error
	}{{false, nil}, {false, failed}, {true, failed}} {
		rows := 0
		err := d.Query(t.Context(), "SELECT * FROM pages", func([]string) (func([]any) (bool, error), error) {
			return func([]any) (bool, error) { rows++; return tt.more, tt.err }, nil
		})
		if rows != 1 || !errors.Is(err, tt.err) {
			t.Errorf("%+v: %d rows, %v", tt, rows, err)
		}
	}
	err := d.Query(t.Context(), "SELECT 1", func([]string) (func([]any) (bool, error), error) { return nil, failed })
	if !errors.Is(err, failed) {
		t.Errorf("refused: %v", err)
	}
}

// Statements that exceed the limits on memory or temporary files fail, and release what they used.
func TestTooMuchMemory(t *testing.T) {
	sqlite.BoundFiles(t, 32<<20)
	d := openDB(t, terrain(t).Survey())
	endless := "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT "
	for _, tt := range []struct{ query, want string }{
		{"SELECT length(hex(zeroblob(100000000)))", "128 MiB"},
		{"SELECT " + strings.Repeat("hex(zeroblob(30000000)), ", 39) + "1", "128 MiB"},
		{"SELECT length(a) FROM (SELECT " + strings.Repeat("hex(zeroblob(30000000)) || ", 39) + "1 AS a)", "128 MiB"},
		{endless + "json_group_array(hex(zeroblob(1000000))) FROM n", "128 MiB"},
		{endless + "json_group_object(x, hex(zeroblob(1000000))) FROM n", "128 MiB"},
		{endless + "group_concat(hex(zeroblob(1000000))) FROM n", "128 MiB"},
		{endless + "randomblob(1000000) FROM n ORDER BY 1", "32 MiB of temporary files"},
		{endless + "DISTINCT randomblob(100000) FROM n LIMIT -1 OFFSET 1000000", "32 MiB of temporary files"},
		{endless + "count(*) OVER (ORDER BY randomblob(100000)) FROM n", "32 MiB of temporary files"},
		{"SELECT zeroblob(20000000), zeroblob(20000000)", "32 MiB in a row"},
	} {
		_, err := answers(t.Context(), d, tt.query)
		if !errors.Is(err, sqlite.ErrMemory) || !strings.HasSuffix(err.Error(), ": more than "+tt.want) {
			t.Errorf("%.80s: %v; want %s", tt.query, err, tt.want)
		}
		if got, err := answers(t.Context(), d, "SELECT count(*) > 0 FROM pages"); err != nil || got[0] != `int64 "1"|` {
			t.Errorf("after %.80s: %v, %v", tt.query, got, err)
		}
		if memory, files := sqlite.Taken(); memory > 64<<20 || files != 0 {
			t.Errorf("after %.80s: %d bytes of memory and %d of files are taken", tt.query, memory, files)
		}
	}
}

// In files with a damaged record, statements end, and those that fail report damage.
func TestDamaged(t *testing.T) {
	w := randomTerrain(t, 1, 40)
	content, err := os.ReadFile(w.Store.Path())
	if err != nil {
		t.Fatal(err)
	}
	tables := tableNames(t, write(t, w.Survey()))
	path := filepath.Join(t.TempDir(), "state.bolt")
	r := rand.New(rand.NewPCG(1, 7))
	found := 0
	for range 25 {
		damaged := bytes.Clone(content)
		damageRecord(damaged, r)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		err := readTables(t, path, tables)
		if err != nil && !errors.Is(err, kv.ErrDamaged) {
			t.Errorf("it is not the file that is blamed: %v", err)
		}
		if err != nil {
			found++
		}
	}
	if found < 6 {
		t.Errorf("%d of 25 were found", found)
	}
}

// damageRecord flips a bit of a text in a record.
func damageRecord(content []byte, r *rand.Rand) {
	text := []byte([]string{"Home", "uthor", "/y?q=1", "q.test", "User-agent"}[r.IntN(5)])
	var places []int
	for at := 0; ; at++ {
		i := bytes.Index(content[at:], text)
		if i < 0 {
			break
		}
		at += i
		places = append(places, at)
	}
	if len(places) > 0 {
		content[places[r.IntN(len(places))]] ^= byte(1 << r.IntN(8))
	}
}

// readTables reads tables of a possibly damaged file and returns the first error.
func readTables(t *testing.T, path string, tables []string) error {
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	s, err := survey.New(store)
	if err != nil {
		return err
	}
	d := openDB(t, s)
	for _, table := range tables {
		if _, err := answers(t.Context(), d, "SELECT * FROM "+table); err != nil {
			return err
		}
	}
	return nil
}

// TestManyAtOnce queries many databases of different surveys concurrently.
func TestManyAtOnce(t *testing.T) {
	first, second := terrain(t), randomTerrain(t, 2, 40)
	want := map[string][]string{}
	query := "SELECT p.url, l.anchor, h.domain, d.depth FROM pages p LEFT JOIN links l ON l.to_page_id = p.id " +
		"LEFT JOIN hosts h ON h.domain = p.domain LEFT JOIN page_depths d ON d.page_id = p.id ORDER BY 1, 2, 3, 4"
	for _, w := range []*surveytest.World{first, second} {
		rows, err := told(t, write(t, w.Survey()), query)
		if err != nil {
			t.Fatal(err)
		}
		want[w.Store.Path()] = rows
		w.Store.Close()
	}
	g, ctx := errgroup.WithContext(t.Context())
	for i := range 64 {
		g.Go(func() error {
			path := []string{first.Store.Path(), second.Store.Path()}[i%2]
			got, err := askOnce(ctx, path, query)
			if err == nil && !slices.Equal(got, want[path]) {
				err = fmt.Errorf("%s: %d rows, want %d", path, len(got), len(want[path]))
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func askOnce(ctx context.Context, path, query string) ([]string, error) {
	store, err := kv.Open(path, kv.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	s, err := survey.New(store)
	if err != nil {
		return nil, err
	}
	d, err := sqlite.Open(s)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return answers(ctx, d, query)
}

// FuzzQuery states that no statement ends the process or changes anything.
func FuzzQuery(f *testing.F) {
	for _, r := range append(pageRows(), levelRows()...) {
		f.Add(r.query)
	}
	for _, text := range []string{
		"", ";", "SELECT", "EXPLAIN SELECT * FROM pages", "VALUES (1), (2)", "SELECT * FROM pages WHERE id = ?",
		"SELECT * FROM pages(1)", "SELECT pages FROM pages", "DELETE FROM pages", "PRAGMA table_info(pages)",
		"SELECT * FROM links NATURAL JOIN link_kinds", "SELECT url COLLATE nocase FROM pages WHERE url = 'X'",
		"SELECT hex(zeroblob(1000))", "SELECT randomblob(9)", "SELECT * FROM sqlite_master", "SELECT ripple_run(1)",
		"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT * FROM n",
	} {
		f.Add(text)
	}
	d := openDB(f, randomTerrain(f, 0, 40).Survey())
	whole := "SELECT group_concat(sql), (SELECT group_concat(url) FROM pages), (SELECT count(*) FROM links) " +
		"FROM sqlite_master"
	want, err := answers(f.Context(), d, whole)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := answers(ctx, d, text)
		if err != nil && strings.Contains(err.Error(), "panic") {
			t.Errorf("%q: %v", text, err)
		}
		if got, err := answers(t.Context(), d, whole); err != nil || !slices.Equal(got, want) {
			t.Errorf("after %q: %v, %v", text, got, err)
		}
	})
}
