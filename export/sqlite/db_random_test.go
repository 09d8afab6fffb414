package sqlite_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// randomNames returns up to n pages on hosts of every class, and one of an origin.
func randomNames(r *rand.Rand, n int) (names []string) {
	hosts := []string{"a.test", "x.q.test", "q.test", "b.test", "c.b.test", "bad.test", "stub.test", "d.test:8443"}
	for range n {
		names = append(names, hosts[r.IntN(len(hosts))]+"/"+[]string{"", "5", "o/r", "A", "a"}[r.IntN(5)]+
			[]string{"", "/x", "/y?q=1"}[r.IntN(3)])
	}
	return append(names, "a.test/")
}

// randomTerrain returns a terrain with two runs and random pages (at most n + 1), links and visits.
func randomTerrain(t testing.TB, seed uint64, n int) *surveytest.World {
	r := rand.New(rand.NewPCG(seed, 3))
	w := surveytest.New(t, surveytest.Lists)
	names := randomNames(r, n)
	for run := range 2 {
		for range 25 {
			randomVisit(w, r, names)
		}
		for _, name := range names[:10] {
			w.Depth(name, uint8(r.IntN(4)), 0)
		}
		randomHosts(w, r, names)
		randomSitemap(w, r, names)
		if run == 0 || r.IntN(2) == 0 {
			w.Change(func(run *schema.Run) { run.Status, run.Finished = schema.RunCompleted, w.At })
		}
		if run == 0 {
			w.Begin()
		}
	}
	return w
}

func randomVisit(w *surveytest.World, r *rand.Rand, names []string) {
	name := names[r.IntN(len(names))]
	if strings.HasPrefix(name, "bad.") || strings.HasPrefix(name, "stub.") {
		return
	}
	switch r.IntN(6) {
	case 0:
		if to := names[r.IntN(len(names))]; to != name {
			w.Depth(to, 1, 1)
			w.Visit(name, w.Redirect(to))
		}
	case 1:
		w.Visit(name, func(v *schema.Visit) {
			v.State, v.Status, v.Reason, v.Length, v.Charset = schema.DeadLink, 404, schema.StatusReason(404), -1, ""
		})
	default:
		w.Visit(name, func(v *schema.Visit) { randomPage(w, r, v, name, names) })
	}
}

func randomPage(w *surveytest.World, r *rand.Rand, v *schema.Visit, name string, names []string) {
	v.Title = []string{"", "Home", "home", "5", "x y"}[r.IntN(5)]
	v.SHA256[0] = byte(r.IntN(3))
	v.NoIndex, v.NoFollow = r.IntN(5) == 0, r.IntN(5) == 0
	for range r.IntN(3) {
		fact := schema.Fact{Name: []string{"author", "Author"}[r.IntN(2)], Value: names[r.IntN(len(names))]}
		v.Facts = append(v.Facts, fact)
	}
	met := map[string]bool{name: true}
	for range r.IntN(8) {
		to := names[r.IntN(len(names))]
		if met[to] {
			continue
		}
		met[to] = true
		w.URL(schema.KindPage, to, v.URL)
		l := schema.Link{To: w.Depth(to, 1, 0), Kinds: surveytest.Kinds(schema.LinkAnchor)}
		if r.IntN(3) == 0 {
			l.Kinds = l.Kinds.Add(schema.LinkCanonical).Add(schema.LinkRefresh)
		}
		l.Rel, l.Place = schema.Rel(r.IntN(8)), schema.Place(r.IntN(int(schema.PlaceNav)+1))
		l.Anchor = []string{"", "here", "HERE", "5"}[r.IntN(4)]
		v.Links = append(v.Links, l)
	}
}

func randomHosts(w *surveytest.World, r *rand.Rand, names []string) {
	for _, name := range names[:5] {
		w.Host(name, func(h *schema.Host) {
			h.Requests, h.Visits, h.RunRequests, h.Throttles = r.IntN(9), r.IntN(9), r.IntN(9), uint8(r.IntN(2))
			h.CrawlDelay = time.Duration(r.IntN(3)) * time.Second
		})
	}
	w.Update(func(tx *kv.Tx) error {
		return tx.Hosts.PutRobots(w.Store.HostOf(w.Page(names[0])),
			schema.RobotsCopy{At: w.At, Status: 200, Text: []byte("User-agent: *\n")})
	})
}

func randomSitemap(w *surveytest.World, r *rand.Rand, names []string) {
	name := fmt.Sprintf("a.test/sitemap%d.xml", r.IntN(3))
	w.URL(schema.KindSitemap, name, 0)
	w.Visit(name, func(v *schema.Visit) {
		for range r.IntN(5) {
			v.Sitemap = append(v.Sitemap, schema.SitemapEntry{
				To: w.Page(names[r.IntN(len(names))]), LastMod: w.At, ChangeFreq: []string{"", "daily"}[r.IntN(2)],
			})
		}
	})
}

// A twin is a survey both as a file and as virtual tables.
type twin struct {
	file    *sql.DB
	virtual *sqlite.DB
	columns map[string][]string
	values  map[string][]string // by table.column, as literals
	tables  []string
}

func newTwin(t testing.TB, s *survey.Survey) *twin {
	t.Helper()
	w := &twin{file: write(t, s), virtual: openDB(t, s), columns: map[string][]string{}, values: map[string][]string{}}
	w.tables = tableNames(t, w.file)
	for _, table := range w.tables {
		w.columns[table] = strings.Fields(rows(t, w.file, "SELECT name FROM pragma_table_info('"+table+"')"))
		for _, c := range w.columns[table] {
			query := "SELECT DISTINCT replace(quote(" + c + "), char(10), ' ') FROM " + table + " LIMIT 40"
			w.values[table+"."+c] = append(strings.Split(strings.TrimSpace(rows(t, w.file, query)), "\n"), "NULL")
			w.values[table+"."+c] = slices.DeleteFunc(w.values[table+"."+c], func(v string) bool { return v == "" })
		}
	}
	return w
}

// twins returns the surveys to compare: the newest run and an older one of several terrains.
func twins(t testing.TB) []*twin {
	t.Helper()
	all := []*twin{newTwin(t, terrain(t).Survey())}
	for seed, n := range []int{40, 40, 40, 10, 15} {
		w := randomTerrain(t, uint64(seed), n)
		older, err := w.Survey().At(1)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, newTwin(t, w.Survey()), newTwin(t, older))
	}
	return all
}

// TestSameRandomTables compares all tables of all twins twice, the second time with derived data
// present.
func TestSameRandomTables(t *testing.T) {
	for _, w := range twins(t) {
		for range 2 {
			for _, table := range w.tables {
				sameAnswer(t, w.virtual, w.file, "SELECT * FROM "+table)
			}
		}
		for _, table := range w.tables {
			if w.columns[table][0] == "id" {
				sameAnswer(t, w.virtual, w.file, "SELECT rowid, id, oid FROM "+table+" ORDER BY rowid DESC")
			}
		}
	}
}

// TestSameExtremes compares every column with numbers that no row can have.
func TestSameExtremes(t *testing.T) {
	w := newTwin(t, terrain(t).Survey())
	for _, table := range w.tables {
		for _, c := range w.columns[table] {
			for _, n := range []string{"9223372036854775807", "-9223372036854775808", "-1", "0", "4294967296"} {
				for _, op := range []string{"=", "<", "<=", ">", ">="} {
					sameAnswer(t, w.virtual, w.file, "SELECT count(*) FROM "+table+" WHERE "+c+" "+op+" "+n)
				}
			}
		}
	}
}

// TestSameRepetitions counts, for every column, the rows that share a value. Nothing is read from the
// second table of the join, so SQLite omits it if rows are declared to have at most one partner.
func TestSameRepetitions(t *testing.T) {
	all := twins(t)
	if os.Getenv("RIPPLE_PROOF") != "full" {
		all = all[:3] // a terrain with every kind of row, and two random ones
	}
	for _, w := range all {
		for _, table := range w.tables {
			for _, c := range w.columns[table] {
				sameAnswer(t, w.virtual, w.file, "SELECT a."+c+" FROM "+table+" a LEFT JOIN "+table+" b ON b."+c+" = a."+c)
			}
		}
	}
}

// TestSameAnswers runs random queries on all twins.
func TestSameAnswers(t *testing.T) {
	all := twins(t)
	rapid.Check(t, func(rt *rapid.T) {
		w := all[rapid.IntRange(0, len(all)-1).Draw(rt, "twin")]
		query := w.statement(rt)
		want, wantErr := told(t, w.file, query)
		got, err := answers(t.Context(), w.virtual, query)
		if (err == nil) != (wantErr == nil) {
			rt.Fatalf("%s: %v; want %v", query, err, wantErr)
		}
		if diff := difference(query, want, got); diff != "" {
			rt.Fatalf("%s (-file +virtual):\n%s", query, diff)
		}
	})
}

func (w *twin) statement(t *rapid.T) string {
	table := rapid.SampledFrom(w.tables).Draw(t, "table")
	switch rapid.IntRange(0, 4).Draw(t, "form") {
	case 0:
		return "SELECT count(*), min(" + w.column(t, table) + ") FROM " + table + " WHERE " + w.condition(t, table, "")
	case 1:
		other := rapid.SampledFrom(w.tables).Draw(t, "other")
		join := rapid.SampledFrom([]string{" JOIN ", " LEFT JOIN "}).Draw(t, "join")
		return "SELECT a.*, b.* FROM " + table + " a" + join + other + " b ON a." + w.column(t, table) + " = b." +
			w.column(t, other) + " WHERE " + w.condition(t, table, "a.")
	case 2:
		other := rapid.SampledFrom(w.tables).Draw(t, "other")
		return "SELECT a.* FROM " + table + " a LEFT JOIN " + other + " b ON a." + w.column(t, table) + " = b." +
			w.column(t, other) + " WHERE " + w.condition(t, table, "a.")
	case 3:
		if id := w.columns[table][0]; id == "id" {
			return "SELECT * FROM " + table + " WHERE " + w.condition(t, table, "") + " ORDER BY " +
				rapid.SampledFrom([]string{"id", "rowid"}).Draw(t, "by") +
				rapid.SampledFrom([]string{"", " DESC", ", 2"}).Draw(t, "order") +
				fmt.Sprintf(" LIMIT %d OFFSET %d", rapid.IntRange(0, 5).Draw(t, "limit"), rapid.IntRange(0, 2).Draw(t, "offset"))
		}
	}
	return "SELECT * FROM " + table + " WHERE " + w.condition(t, table, "")
}

func (w *twin) column(t *rapid.T, table string) string {
	return rapid.SampledFrom(w.columns[table]).Draw(t, "column")
}

func (w *twin) condition(t *rapid.T, table, of string) string {
	terms := []string{w.term(t, table, of)}
	for range rapid.IntRange(0, 2).Draw(t, "terms") {
		terms = append(terms, w.term(t, table, of))
	}
	return strings.Join(terms, rapid.SampledFrom([]string{" AND ", " OR "}).Draw(t, "between"))
}

func (w *twin) term(t *rapid.T, table, of string) string {
	c := w.column(t, table)
	if rapid.IntRange(0, 2).Draw(t, "first column") == 0 {
		c = w.columns[table][0]
	}
	name := c
	v := func() string { return w.value(t, table, name) }
	c = of + c
	switch rapid.IntRange(0, 9).Draw(t, "operator") {
	case 0:
		return c + rapid.SampledFrom([]string{" IS NULL", " IS NOT NULL"}).Draw(t, "null")
	case 1:
		return c + " IN (" + v() + ", " + v() + ", " + v() + ")"
	case 2:
		return c + " = " + v() + " COLLATE " + rapid.SampledFrom([]string{"NOCASE", "RTRIM", "BINARY"}).Draw(t, "collation")
	case 3:
		return c + " BETWEEN " + v() + " AND " + v()
	case 4:
		return c + rapid.SampledFrom([]string{" LIKE ", " GLOB "}).Draw(t, "pattern") + v()
	case 5:
		other := rapid.SampledFrom(w.tables).Draw(t, "other")
		return c + rapid.SampledFrom([]string{" IN ", " NOT IN "}).Draw(t, "in") + "(SELECT " + w.column(t, other) +
			" FROM " + other + ")"
	case 6, 7:
		return c + " = " + v()
	}
	comparisons := []string{" < ", " <= ", " > ", " >= ", " != ", " IS ", " IS NOT "}
	return c + rapid.SampledFrom(comparisons).Draw(t, "comparison") + v()
}

// value returns a value of a column, of another column, or of another type.
func (w *twin) value(t *rapid.T, table, column string) string {
	if rapid.IntRange(0, 3).Draw(t, "odd") == 0 {
		return rapid.SampledFrom([]string{"NULL", "0", "-1", "5", "5.0", "5.5", "'5'", "' 5'", "'5.0'", "'05'", "'+5'",
			"1e18", "9223372036854775807", "-9223372036854775808", "9e99", "-9e99", "''", "'x'", "x'35'", "CAST('5' AS BLOB)",
			"'HOME'", "'home '", "'https://A.test/'", "'a.test/%'", "'https://a*'"}).Draw(t, "oddity")
	}
	if rapid.IntRange(0, 5).Draw(t, "of another") == 0 {
		table = rapid.SampledFrom(w.tables).Draw(t, "table of value")
		column = w.column(t, table)
	}
	return rapid.SampledFrom(w.values[table+"."+column]).Draw(t, "value")
}
