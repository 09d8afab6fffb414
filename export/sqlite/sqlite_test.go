package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/export/atomicfile"
	"github.com/sumi-ripple/ripple/export/sqlite"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// terrain returns a small terrain with a row for every table.
func terrain(t testing.TB) *surveytest.World {
	w := surveytest.New(t, surveytest.Lists)
	to := w.Depth("a.test/listed", 0, 0)
	w.URL(schema.KindSitemap, "a.test/sitemap.xml", 0)
	w.Visit("a.test/sitemap.xml", func(v *schema.Visit) {
		v.Sitemap = []schema.SitemapEntry{{To: to, LastMod: w.At, ChangeFreq: "daily"}}
	})
	w.Visit("a.test/", func(v *schema.Visit) {
		v.Title, v.ETag, v.SHA256, v.NoFollow = "Home\x00 \xff", `"tag"`, [32]byte{1}, true
		v.Facts = []schema.Fact{{Name: "author", Value: "Ada"}, {Name: "author", Value: "Eve"}}
		w.Links("b.test/", "bad.test/x", "stub.test/o/r", "stub.test/o/s", "a.test/moved", "a.test/gone")(v)
		v.Links[1].Kinds = surveytest.Kinds(schema.LinkAnchor, schema.LinkCanonical)
		v.Links[1].Rel, v.Links[1].Place = schema.RelNofollow|schema.RelUGC, schema.PlaceNav
	})
	w.Visit("a.test/moved", w.Redirect("q.test/"))
	w.Visit("a.test/gone", func(v *schema.Visit) {
		v.State, v.Status, v.Reason, v.Length, v.Charset = schema.DeadLink, 404, schema.StatusReason(404), -1, ""
	})
	w.Depth("b.test/", 1, 0)
	w.Visit("b.test/", w.Links("bad.test/x", "a.test/", "b.test/deep"))
	w.Depth("b.test/deep", 2, 0)
	w.Depth("q.test/", 0, 0)
	for _, name := range []string{"bad.test/x", "stub.test/o/r", "stub.test/o/s"} {
		w.Depth(name, 1, 0)
	}
	w.Host("a.test/", func(h *schema.Host) {
		h.Requests, h.Visits, h.RunRequests, h.CrawlDelay, h.RobotsAt = 9, 4, 7, 3*time.Second, w.At
	})
	w.Update(func(tx *kv.Tx) error {
		return tx.Hosts.PutRobots(w.Store.HostOf(w.Page("a.test/")),
			schema.RobotsCopy{At: w.At, Status: 200, Text: []byte("User-agent: *\n")})
	})
	w.Inlinks(&schema.Graph{Release: "cc-main-2024-may", Origins: []string{"a.test", "*.q.test"}, Found: []uint32{1, 1}},
		schema.Inlink{Host: "far.net", HarmonicRank: 7, Origins: []uint32{0, 1}},
		schema.Inlink{Host: "blog.far.net", PageRank: 1 << 31, Origins: []uint32{1}})
	w.Change(func(r *schema.Run) {
		r.Status, r.End, r.Finished, r.Pages, r.Requests = schema.RunCompleted, schema.End{Kind: schema.EndFrontier}, w.At, 5,
			9
	})
	return w
}

func write(t testing.TB, s *survey.Survey) *sql.DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd name?#%20.db")
	if err := sqlite.Write(t.Context(), path, s, sqlite.Options{Check: true}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v, %v; want the database alone", entries, err)
	}
	return open(t, path)
}

func open(t testing.TB, path string) *sql.DB {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy.db")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", copied)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// rows runs a query and formats each row as a line, with values separated by bars.
func rows(t testing.TB, db *sql.DB, query string) string {
	t.Helper()
	r, err := db.Query(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	columns, _ := r.Columns()
	var b strings.Builder
	for r.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := r.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if i > 0 {
				b.WriteByte('|')
			}
			if got := *v.(*any); got != nil {
				fmt.Fprint(&b, got)
			}
		}
		b.WriteByte('\n')
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A rowsRow is a query on the database of terrain, and the expected answer.
type rowsRow struct{ name, query, want string }

// pageRows query pages and the links between them.
func pageRows() []rowsRow {
	return []rowsRow{
		{"runs", "SELECT id, started_at, finished_at, length(config_hash), status, reason, pages, requests FROM runs",
			"1|2026-01-15T10:30:00Z|2026-01-15T10:30:05Z|64|completed|the frontier is empty|5|9\n"},
		{"pages", "SELECT url, domain, state, class, status_code, error_message, rule FROM pages ORDER BY url", `` +
			"https://a.test/|a.test|processed|quality|200||quality \"a.test\"\n" +
			"https://a.test/gone|a.test|dead_link|quality|404|404 Not Found|quality \"a.test\"\n" +
			"https://a.test/listed|a.test|queued|quality|||quality \"a.test\"\n" +
			"https://a.test/moved|a.test|processed|quality|301||quality \"a.test\"\n" +
			"https://b.test/|b.test|processed|discovered|200||\n" +
			"https://b.test/deep|b.test|queued|discovered|||\n" +
			"https://bad.test/x|bad.test|blacklisted|blacklist|||blacklist \"bad.test\"\n" +
			"https://q.test/|q.test|queued|quality|||quality \"*.q.test\"\n" +
			"https://stub.test/o/r|stub.test|stubbed|stub|||stub \"stub.test\"\n" +
			"https://stub.test/o/s|stub.test|stubbed|stub|||stub \"stub.test\"\n"},
		{"facts of a page", "SELECT title, content_type, visited_at, discovered_at, surt_key, fetch_url, charset, etag, " +
			"content_length, substr(body_sha256,1,4), response_ms, noindex, nofollow, first_run, last_run " +
			"FROM pages WHERE url = 'https://a.test/'",
			"Home\uFFFD \uFFFD|text/html|2026-01-15T10:30:02Z|2026-01-15T10:30:01Z|" +
				"test,a)/|https://a.test/|utf-8|\"tag\"|10|0100|30|0|1|1|1\n"},
		{"facts of a page never visited",
			"SELECT status_code, visited_at, fetch_url, content_length, body_sha256, response_ms, redirect_to " +
				"FROM pages WHERE url = 'https://b.test/deep'", "||||||\n"},
		{"referrer", "SELECT r.url FROM pages p JOIN pages r ON r.id = p.referrer_id WHERE p.url = 'https://b.test/'",
			"https://a.test/\n"},
		{"depths", "SELECT url, quality_origin, depth FROM page_depths JOIN pages p ON p.id = page_id " +
			"WHERE domain IN ('b.test', 'q.test') ORDER BY 1, 2",
			"https://b.test/|a.test|1\nhttps://b.test/deep|a.test|2\nhttps://q.test/|*.q.test|0\nhttps://q.test/|a.test|1\n"},
		{"links", "SELECT f.url, t.url, l.kind, rel, place, anchor " +
			"FROM links l JOIN pages f ON f.id = from_page_id JOIN pages t ON t.id = to_page_id " +
			"WHERE t.domain IN ('bad.test', 'q.test') ORDER BY 1, 2",
			"https://a.test/|https://bad.test/x|canonical|nofollow ugc|nav|to bad.test/x\n" +
				"https://a.test/moved|https://q.test/|redirect|||\n" +
				"https://b.test/|https://bad.test/x|anchor||main|to bad.test/x\n"},
		{"link kinds", "SELECT count(*), count(DISTINCT kind) FROM link_kinds", "11|3\n"},
		{"redirects", "SELECT f.url, t.url, status FROM redirects JOIN pages f ON f.id = from_page_id " +
			"JOIN pages t ON t.id = to_page_id", "https://a.test/moved|https://q.test/|301\n"},
		{"facts", "SELECT name, value FROM facts", "author|Ada\nauthor|Eve\n"},
		{"blacklisted", "SELECT url, reference_count, first_seen_run, (SELECT count(*) FROM blacklisted_referrers) " +
			"FROM blacklisted_urls", "https://bad.test/x|2|1|2\n"},
		{"stubbed", "SELECT url, reference_count FROM stubbed_urls ORDER BY url",
			"https://stub.test/o/r|1\nhttps://stub.test/o/s|1\n"},
		{"in-links", "SELECT * FROM inlinks", "a.test|far.net|far.net|cc-main-2024-may|7|\n" +
			"*.q.test|far.net|far.net|cc-main-2024-may|7|\n*.q.test|blog.far.net|far.net|cc-main-2024-may||2147483648\n"},
		{"domain states", "SELECT * FROM domain_states", "1|a.test|7|0|User-agent: *\n|2026-01-15T10:30:05Z\n"},
		{"frontier", "SELECT url, priority, added_at FROM frontier JOIN pages p ON p.id = page_id ORDER BY priority, url",
			"https://a.test/listed|0|2026-01-15T10:30:00Z\nhttps://q.test/|0|2026-01-15T10:30:03Z\n" +
				"https://b.test/deep|2|2026-01-15T10:30:05Z\n"},
	}
}

// levelRows query the levels above pages, and metrics.
func levelRows() []rowsRow {
	return []rowsRow{
		{"sitemap URLs", "SELECT url, sitemap_url, lastmod, changefreq, linked " +
			"FROM sitemap_urls JOIN pages p ON p.id = page_id",
			"https://a.test/listed|https://a.test/sitemap.xml|2026-01-15T10:30:01Z|daily|0\n"},
		{"hosts", "SELECT domain, site, class, title, min_depth, pages_known, pages_visited, crawl_count, requests, " +
			"delay_ms, coverage, known_missing FROM hosts JOIN sites s ON s.id = site_id ORDER BY domain",
			"a.test|a.test|quality|Home\uFFFD \uFFFD|0|4|3|4|9|3000|slowed by Crawl-delay (3s)|1\n" +
				"b.test|b.test|discovered||1|2|1|0|0|1000|not finished|1\n" +
				"bad.test|bad.test|blacklist||1|1|0|0|0|1000|blacklist|0\n" +
				"q.test|q.test|quality||0|1|0|0|0|1000|not finished|1\n" +
				"stub.test|stub.test|stub||1|2|0|0|0|1000|stub|0\n"},
		{"sites", "SELECT site, hosts, pages FROM sites WHERE site = 'stub.test'", "stub.test|1|2\n"},
		{"entities", "SELECT entity, hosts, pages FROM entities WHERE entity LIKE 'stub%'", "stub.test/o|1|2\n"},
		{"host links", "SELECT f.domain, t.domain, links, pages, editorial, first_run, last_run " +
			"FROM host_links JOIN hosts f ON f.id = from_id JOIN hosts t ON t.id = to_id ORDER BY 1, 2",
			"a.test|b.test|1|1|1|1|1\na.test|bad.test|1|1|0|1|1\na.test|q.test|1|1|0|1|1\na.test|stub.test|2|1|2|1|1\n" +
				"b.test|a.test|1|1|1|1|1\nb.test|bad.test|1|1|1|1|1\n"},
		{"site links", "SELECT sum(links), count(*) FROM site_links", "7|6\n"},
		{"entity links", "SELECT sum(links), count(*) FROM entity_links", "7|6\n"},
		{"page metrics", "SELECT count(*), sum(in_degree), sum(out_degree), round(sum(pagerank), 9), min(harmonic), " +
			"max(component) FROM page_metrics", "10|10|10|1|0|1\n"},
		{"page metrics of a page", "SELECT in_degree, out_degree, " +
			"(SELECT count(*) FROM links WHERE to_page_id = page_id), component, community " +
			"FROM page_metrics JOIN pages p ON p.id = page_id WHERE url = 'https://a.test/'", "1|6|1|0|0\n"},
		{"host metrics", "SELECT count(*), sum(in_degree), sum(out_degree), round(sum(pagerank), 9), max(component) " +
			"FROM host_metrics", "5|6|6|1|0\n"},
		{"site metrics", "SELECT count(*), sum(in_degree), sum(out_degree), round(sum(pagerank), 9), max(component) " +
			"FROM site_metrics", "5|6|6|1|0\n"},
		{"header", "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
			fmt.Sprintf("%d|1\n", sqlite.ApplicationID)},
	}
}

func TestRows(t *testing.T) {
	w := terrain(t)
	db := write(t, w.Survey())
	for _, tt := range append(pageRows(), levelRows()...) {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rows(t, db, tt.query)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

// TestRuns has two runs: a link knows the first and the last run.
func TestRuns(t *testing.T) {
	w := surveytest.New(t, surveytest.Lists)
	w.Visit("a.test/", w.Links("a.test/x", "a.test/old"))
	w.Visit("a.test/x", nil)
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	w.Begin()
	w.Visit("a.test/", w.Links("a.test/x", "a.test/new"))
	w.Visit("a.test/x", func(v *schema.Visit) { v.Status, v.Stand = 304, 2 })
	w.Change(func(r *schema.Run) { r.Status = schema.RunCompleted })
	db := write(t, w.Survey())
	want := "https://a.test/new|2|2\nhttps://a.test/x|1|2\n"
	if got := rows(t, db, "SELECT url, l.discovered_run, l.last_run "+
		"FROM links l JOIN pages p ON p.id = to_page_id ORDER BY url"); got != want {
		t.Errorf("links:\n%swant:\n%s", got, want)
	}
	want = "https://a.test/|1|2|processed\nhttps://a.test/new|2|2|discovered\nhttps://a.test/old|1|1|discovered\n" +
		"https://a.test/x|1|2|processed\n"
	if got := rows(t, db, "SELECT url, first_run, last_run, state FROM pages ORDER BY url"); got != want {
		t.Errorf("pages:\n%swant:\n%s", got, want)
	}
}

// The tables, columns and indexes that readers rely on are those of terrain.sql, in order.
func TestSchema(t *testing.T) {
	specified, err := os.ReadFile("testdata/specified.sql")
	if err != nil {
		t.Fatal(err)
	}
	old, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "specified.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if _, err := old.Exec(string(specified)); err != nil {
		t.Fatal(err)
	}
	db := write(t, terrain(t).Survey())
	for _, kind := range []string{"table", "index"} {
		query := "SELECT name, tbl_name FROM sqlite_master WHERE type = '" + kind +
			"' AND name NOT LIKE 'sqlite%' ORDER BY rowid"
		if want, got := rows(t, old, query), rows(t, db, query); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%sdo not begin with\n%s", kind, got, want)
		}
	}
	for _, name := range strings.Fields(rows(t, old,
		"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")) {
		query := "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('" + name + "')"
		if want, got := rows(t, old, query), rows(t, db, query); !strings.HasPrefix(got, want) {
			t.Errorf("columns of %s:\n%sdo not begin with\n%s", name, got, want)
		}
		query = "SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list('" + name + "') ORDER BY 1, 2, 3"
		for _, key := range strings.SplitAfter(rows(t, old, query), "\n") {
			if !strings.Contains(rows(t, db, query), key) {
				t.Errorf("%s lacks the foreign key %s", name, key)
			}
		}
		query = "SELECT name, \"unique\", origin, (SELECT group_concat(name || ' ' || \"desc\") " +
			"FROM pragma_index_xinfo(i.name) WHERE key) FROM pragma_index_list('" + name + "') i ORDER BY name"
		if want, got := rows(t, old, query), rows(t, db, query); got != want {
			t.Errorf("indexes of %s:\n%swant\n%s", name, got, want)
		}
	}
}

// NoMetrics leaves out the metrics, and nothing else.
func TestNoMetrics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := sqlite.Write(t.Context(), path, terrain(t).Survey(),
		sqlite.Options{NoMetrics: true, Check: true}); err != nil {
		t.Fatal(err)
	}
	query := "SELECT (SELECT count(*) FROM page_metrics), (SELECT count(*) FROM host_metrics), " +
		"(SELECT count(*) FROM site_metrics), (SELECT count(*) FROM pages), (SELECT count(*) FROM host_links)"
	if got := rows(t, open(t, path), query); got != "0|0|0|10|6\n" {
		t.Errorf("got %s", got)
	}
}

func TestForeign(t *testing.T) {
	s := terrain(t).Survey()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db")
	ours := filepath.Join(dir, "ours.db")
	if err := sqlite.Write(t.Context(), ours, s, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	database, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	foreign := bytes.Clone(database)
	foreign[71]++ // the last byte of the application id
	for name, content := range map[string][]byte{"text": []byte("precious"), "empty": {},
		"another program's database": foreign} {
		if err := os.WriteFile(path, content, 0o640); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.Write(t.Context(), path, s, sqlite.Options{}); !errors.Is(err, atomicfile.ErrForeign) {
			t.Errorf("%s: %v; want ErrForeign", name, err)
		}
		if kept, _ := os.ReadFile(path); !bytes.Equal(kept, content) {
			t.Errorf("%s: changed", name)
		}
	}
	if err := sqlite.Write(t.Context(), path, s, sqlite.Options{Force: true}); err != nil {
		t.Errorf("force: %v", err)
	}
	if err := sqlite.Write(t.Context(), path, s, sqlite.Options{}); err != nil {
		t.Errorf("over our own: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v; want that of the file replaced", info.Mode(), err)
	}
	if err := sqlite.Write(t.Context(), dir, s, sqlite.Options{Force: true}); !errors.Is(err, atomicfile.ErrForeign) {
		t.Errorf("a folder: %v; want ErrForeign", err)
	}
}

// TestInterrupted cancels an export half way: the old file is intact.
func TestInterrupted(t *testing.T) {
	s := terrain(t).Survey()
	path := filepath.Join(t.TempDir(), "x.db")
	if err := sqlite.Write(t.Context(), path, s, sqlite.Options{}); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(path)
	stale := filepath.Join(filepath.Dir(path), ".ripple-new-1")
	if err := errors.Join(os.Mkdir(stale, 0o700), os.WriteFile(filepath.Join(stale, "file"), before, 0o600)); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(stale, old, old); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sqlite.Write(ctx, path, s, sqlite.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	after, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	if !bytes.Equal(before, after) || len(entries) != 1 {
		t.Errorf("the old file is %d bytes of %d, in a folder of %d", len(after), len(before), len(entries))
	}
}
