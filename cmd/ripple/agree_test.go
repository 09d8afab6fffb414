package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/command"
	"github.com/sumi-ripple/ripple/cmd/ripple/docs"
	"github.com/sumi-ripple/ripple/cmd/ripple/serve"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

const agreeConfig = `
[crawler]
max-depth = 1
[politeness]
adaptive-delay = false
[recrawl]
min-age = "0s"
[monitor]
report-path = "./end.json"
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
[[blacklist]]
domain = "bad.test"
[[stub]]
domain = "stub.test"
`

// A revised is a web that changes between two runs, and that can stop the run that requests its
// front page.
type revised struct {
	t       *testing.T
	config  string
	dir     string
	changed atomic.Bool
	stop    atomic.Pointer[context.CancelFunc]
}

func newRevised(t *testing.T) *revised {
	s := crawltest.Serve(t)
	r := &revised{t: t, dir: t.TempDir()}
	a := s.Host("a.test")
	a.Handle("/", func(w http.ResponseWriter, _ *http.Request) {
		if stop := r.stop.Load(); stop != nil {
			(*stop)()
		}
		links := []string{"/gone", "/stay", "/dies", "/moves", "/same", "https://b.test/", "https://bad.test/ad"}
		if r.changed.Load() {
			links = []string{"/stay", "/dies", "/moves", "/same", "/new", "https://b.test/"}
		}
		w.Header().Set("Content-Type", "text/html")
		for _, l := range links {
			fmt.Fprintf(w, "<a href=%q>to %s</a>\n", l, l)
		}
	})
	a.Page("/gone", `<a href="/stay">s</a> <a href="https://only.test/">o</a> <a href="https://stub.test/x">x</a>`)
	a.Page("/stay", `<title>Stay</title><a href="/">home</a>`)
	a.Page("/same", `<a href="/">home</a> <a href="https://bad.test/pixel">p</a>`).ETag(`"1"`)
	a.Page("/new", `<a href="/stay">stay</a>`)
	a.Handle("/dies", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.changed.Load() {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, `<a href="/stay">s</a>`)
	})
	a.Handle("/moves", func(w http.ResponseWriter, q *http.Request) {
		if r.changed.Load() {
			http.Redirect(w, q, "/new", http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<a href="/stay">s</a>`)
	})
	s.Host("b.test").Page("/", `<a href="/deep">deep</a>`)
	s.Host("only.test").Page("/", `only`)
	r.config, _ = crawltest.Files(t, s, agreeConfig)
	return r
}

// ripple runs a command on the state, and returns its output.
func (r *revised) ripple(args ...string) string {
	r.t.Helper()
	var out, told strings.Builder
	if err := command.New(&out, &told).Run(r.t.Context(), append(args, "--config", r.config)); err != nil {
		r.t.Fatalf("ripple %s: %v\n%s", strings.Join(args, " "), err, told.String())
	}
	return out.String()
}

func (r *revised) crawl() {
	r.t.Helper()
	var out, told strings.Builder
	if err := command.New(&out, &told).Run(r.t.Context(), []string{"crawl", r.config}); err != nil {
		r.t.Fatalf("crawl: %v\n%s", err, told.String())
	}
}

// crawlHalf begins a run that ends with its first page.
func (r *revised) crawlHalf() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	r.stop.Store(&cancel)
	var out, told strings.Builder
	err := command.New(&out, &told).Run(ctx, []string{"crawl", r.config})
	if !strings.Contains(told.String(), "interrupted") {
		r.t.Fatalf("the crawl was not stopped: %v\n%s", err, told.String())
	}
	r.stop.Store(nil)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(r.config), "end.json"))
	if end := decoded[answer.Report](r.t, string(text)); err != nil || end.RunID != 3 || end.Status != "interrupted" {
		r.t.Errorf("the report of a run that was stopped: %v\n%s", err, text)
	}
}

// shared holds the figures that outputs share. A figure that an output does not have is missing.
type shared map[string]int

// agreedStates returns the states that the web gives its pages.
func agreedStates() []string {
	return []string{"processed", "dead_link", "blacklisted", "stubbed", "depth_exceeded", "discovered", "queued"}
}

func decoded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// stats returns the figures of "ripple stats".
func (r *revised) stats() shared {
	s := decoded[answer.Stats](r.t, r.ripple("stats", "--json"))
	return sharedOf(&s)
}

func sharedOf(s *answer.Stats) shared {
	f := shared{"pages": s.Pages, "links": s.Links, "met": s.Pages - s.NotMet, "waiting": s.Frontier,
		"requested": s.Run.Pages, "requests": s.Run.Requests}
	for _, state := range agreedStates() {
		f[state] = s.ByState[state]
	}
	return f
}

// desk returns the figures of the desk's API: those of stats, and those of status, runs and hosts.
func (r *revised) desk() shared {
	r.t.Helper()
	d, end := openState(r.t, filepath.Join(filepath.Dir(r.config), "state.bolt"), "")
	defer end()
	ask := func(path string) string {
		code, text := d.get(path)
		if code != http.StatusOK {
			r.t.Fatalf("%s: %d %s", path, code, text)
		}
		return string(text)
	}
	s := decoded[answer.Stats](r.t, ask("stats"))
	f := sharedOf(&s)
	now, newest := decoded[serve.DeskStatus](r.t, ask("status")), decoded[answer.RunList](r.t, ask("runs")).Runs[0]
	for _, other := range []shared{
		{"requested": now.Pages, "requests": now.Requests, "waiting": now.PagesWaiting},
		{"requested": newest.Pages, "requests": newest.Requests},
	} {
		for name, n := range other {
			if n != f[name] {
				r.t.Errorf("the desk's stats say that %s is %d, another answer of it %d", name, f[name], n)
			}
		}
	}
	for _, h := range decoded[serve.HostPage](r.t, ask("hosts?limit=500")).Hosts {
		f["visited"] += h.Visited
	}
	return f
}

// ask returns the figures that SQL gives. number runs a statement that returns one number.
func ask(number func(sql string) int, latest int) shared {
	f := shared{
		"pages": number("SELECT count(*) FROM pages"), "links": number("SELECT count(*) FROM links"),
		"met":        number(fmt.Sprintf("SELECT count(*) FROM pages WHERE last_run >= %d", latest)),
		"site pages": number("SELECT sum(pages) FROM sites"),
		"host links": number("SELECT sum(links) FROM host_links"),
		"waiting":    number("SELECT count(*) FROM frontier"),
		"requested":  number("SELECT pages FROM runs ORDER BY id DESC LIMIT 1"),
		"requests":   number("SELECT requests FROM runs ORDER BY id DESC LIMIT 1"),
		"visited":    number("SELECT sum(pages_visited) FROM hosts"),
	}
	for _, state := range agreedStates() {
		f[state] = number("SELECT count(*) FROM pages WHERE state = '" + state + "'")
	}
	if n := number("SELECT count(*) FROM blacklisted_urls"); n != f["blacklisted"] {
		f["blacklisted"] = -n
	}
	if n := number("SELECT count(*) FROM stubbed_urls"); n != f["stubbed"] {
		f["stubbed"] = -n
	}
	if n := number("SELECT count(*) FROM redirects"); n != number("SELECT count(*) FROM links WHERE kind = 'redirect'") {
		f["links"] = -n
	}
	return f
}

func (r *revised) query(latest int) shared {
	return ask(func(sql string) int {
		n, err := strconv.Atoi(strings.TrimSpace(strings.Split(r.ripple("query", "--csv", sql), "\n")[1]))
		if err != nil {
			r.t.Fatal(err)
		}
		return n
	}, latest)
}

func (r *revised) sqlite(latest int, args ...string) shared {
	path := filepath.Join(r.dir, "terrain.db")
	r.ripple(append([]string{"export", "--sqlite", path, "--check"}, args...)...)
	db := openDatabase(r.t, path)
	defer db.Close()
	return ask(func(text string) (n int) {
		if err := db.QueryRow(text).Scan(&n); err != nil {
			r.t.Fatal(err)
		}
		return n
	}, latest)
}

func (r *revised) report() shared {
	path := filepath.Join(r.dir, "report.json")
	r.ripple("export", "--report", path)
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	one := decoded[answer.Report](r.t, string(text))
	f := shared{"pages": one.Metrics.NodesDiscovered, "links": one.Metrics.Edges, "crawled": one.Crawled,
		"requested": one.Pages, "requests": one.Requests}
	for _, state := range agreedStates() {
		f[state] = one.States[state]
	}
	return f
}

func (r *revised) summary() shared {
	text := r.ripple("summary")
	f := shared{}
	for name, row := range map[string]string{"crawled": "Pages Crawled", "links": "Total Links Recorded",
		"blacklisted": "Blacklisted URLs Found", "stubbed": "Stubbed URLs Found"} {
		n, err := strconv.Atoi(regexp.MustCompile(`\| ` + row + ` \| (\d+) \|`).FindStringSubmatch(text)[1])
		if err != nil {
			r.t.Fatal(err)
		}
		f[name] = n
	}
	return f
}

// graphs returns the figures of the graphs, by format.
func (r *revised) graphs() map[string]shared {
	at := func(name string) string { return filepath.Join(r.dir, name) }
	r.ripple("export", "--level", "page", "--jsonl", at("g.jsonl"), "--csv", at("csv"), "--gexf", at("g.gexf"),
		"--parquet", at("parquet"))
	read := func(name string) []byte {
		data, err := os.ReadFile(at(name))
		if err != nil {
			r.t.Fatal(err)
		}
		return data
	}
	return map[string]shared{"jsonl": fromJSONL(r.t, read("g.jsonl")), "csv": fromCSV(r.t, read("csv/nodes.csv"),
		read("csv/edges.csv")), "gexf": fromGEXF(read("g.gexf")), "parquet": {
		"met": rowsOf(r.t, read("parquet/nodes.parquet")), "links": rowsOf(r.t, read("parquet/edges.parquet"))}}
}

func fromJSONL(t *testing.T, data []byte) shared {
	f := shared{}
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		switch one := decoded[map[string]any](t, line); {
		case one["source"] != nil:
			f["links"]++
		case one["state"] != nil:
			f["met"]++
			f.count(fmt.Sprint(one["state"]))
		}
	}
	return f
}

// count counts a page by its state. Graphs contain no pages that are gone.
func (f shared) count(state string) {
	if state != "discovered" {
		f[state]++
	}
}

func fromCSV(t *testing.T, nodes, edges []byte) shared {
	f := shared{}
	rows, err := csv.NewReader(bytes.NewReader(nodes)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range rows[0] {
		if name != "state" {
			continue
		}
		for _, row := range rows[1:] {
			f["met"]++
			f.count(row[i])
		}
	}
	f["links"] = strings.Count(string(edges), "\n") - 1
	return f
}

func fromGEXF(data []byte) shared {
	text := string(data)
	return shared{"met": strings.Count(text, "<node "), "links": strings.Count(text, "<edge ")}
}

func rowsOf(t *testing.T, data []byte) int {
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return int(f.NumRows())
}

// compare compares the same figure of different outputs.
func (r *revised) compare(latest int) shared {
	r.t.Helper()
	all := r.graphs()
	all["stats"], all["query"], all["sqlite"] = r.stats(), r.query(latest), r.sqlite(latest)
	all["report"], all["summary"], all["desk"] = r.report(), r.summary(), r.desk()
	said, by := shared{}, map[string]string{}
	for _, output := range []string{"stats", "query", "sqlite", "report", "summary", "desk", "jsonl", "csv", "gexf",
		"parquet"} {
		for name, n := range all[output] {
			if by[name] == "" {
				said[name], by[name] = n, output
			} else if n != said[name] {
				r.t.Errorf("run %d: %s is %d in %s and %d in %s", latest, name, said[name], by[name], n, output)
			}
		}
	}
	return said
}

// TestOutputsAgree crawls a web twice, and half of it a third time: pages are gone, new, moved,
// failed and unchanged. A figure that two outputs show is the same in both.
func TestOutputsAgree(t *testing.T) {
	t.Parallel()
	r := newRevised(t)
	r.crawl()
	first := r.compare(1)
	if want := (shared{"processed": 8, "blacklisted": 2, "stubbed": 1, "depth_exceeded": 1}); !first.holds(want) {
		t.Errorf("the first run: %v; want %v", first, want)
	}
	r.changed.Store(true)
	r.crawl()
	second := r.compare(2)
	want := shared{"processed": 6, "crawled": 6, "dead_link": 1, "blacklisted": 1, "stubbed": 0, "discovered": 4}
	if !second.holds(want) {
		t.Errorf("the second run: %v; want %v", second, want)
	}
	ever := r.sqlite(2, "--run", "all")
	if want := (shared{"processed": 8, "dead_link": 1, "blacklisted": 2, "stubbed": 1, "discovered": 0}); !ever.holds(want) ||
		ever["links"] <= second["links"] {
		t.Errorf("all runs: %v; want %v and more links than %d", ever, want, second["links"])
	}
	text := r.ripple("inspect", "https://a.test/gone")
	if !strings.Contains(text, "not met in run #2") {
		t.Errorf("inspect says of a page that has gone:\n%s", text)
	}
	r.answers()
	r.hosts()

	r.crawlHalf()
	third := r.compare(2)
	for _, name := range []string{"blacklisted", "stubbed", "links", "pages", "met"} {
		if third[name] != second[name] {
			t.Errorf("a third run that has begun: %s is %d; after the second %d", name, third[name], second[name])
		}
	}
	if third["queued"] == 0 {
		t.Errorf("a third run that has begun: no page waits: %v", third)
	}
}

func (f shared) holds(want shared) bool {
	for name, n := range want {
		if f[name] != n {
			return false
		}
	}
	return true
}

// hosts compares the figures of each host in the list of hosts with those that the host's own answer and SQL give.
func (r *revised) hosts() {
	r.t.Helper()
	d, end := openState(r.t, filepath.Join(filepath.Dir(r.config), "state.bolt"), "")
	defer end()
	_, text := d.get("hosts?limit=500")
	list := decoded[struct {
		Hosts []map[string]any `json:"hosts"`
	}](r.t, string(text)).Hosts
	if len(list) == 0 {
		r.t.Error("no host is listed")
	}
	for _, h := range list {
		name := h["domain"].(string)
		one := decoded[map[string]any](r.t, r.ripple("inspect", "--json", name))
		row := decoded[[]map[string]any](r.t, r.ripple("query", "--json", "SELECT * FROM hosts WHERE domain = '"+name+"'"))[0]
		figures := reflect.TypeFor[survey.HostFigures]()
		for i := range figures.NumField() {
			key := figures.Field(i).Tag.Get("json")
			if one[key] != h[key] {
				r.t.Errorf("%s: %s is %v in the list, and %v by itself", name, key, h[key], one[key])
			}
			if figures.Field(i).Tag.Get("sql") == "" && orEmpty(row[key]) != orEmpty(h[key]) {
				r.t.Errorf("%s: %s is %v in the list, and %v in SQL", name, key, h[key], row[key])
			}
		}
	}
}

// orEmpty returns an empty text for NULL, as which SQL stores it.
func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// answers runs the built-in questions on the terrain after two runs.
func (r *revised) answers() {
	r.t.Helper()
	want := map[string][]string{
		"Who links to a page?":                      {"https://a.test/,to /same,body"},
		"Which pages does no page link to?":         {},
		"How many links of each origin are broken?": {"a.test,1"},
		"Which hosts does only one origin link to?": {"b.test,a.test,1"},
	}
	for _, q := range docs.Questions() {
		sql := strings.ReplaceAll(q.SQL, "https://tidewater-maps.test/", "https://a.test/same")
		rows := strings.Split(strings.TrimSpace(r.ripple("query", "--csv", sql)), "\n")[1:]
		if strings.Contains(q.Asks, "matter most") && strings.Contains(strings.Join(rows, " "), "only.test") {
			r.t.Errorf("%s: a host whose pages have gone is among %v", q.Asks, rows)
		}
		want, known := want[q.Asks]
		if diff := cmp.Diff(want, rows); known && diff != "" && len(want)+len(rows) > 0 {
			r.t.Errorf("%s (-want +got)\n%s", q.Asks, diff)
		}
	}
}
