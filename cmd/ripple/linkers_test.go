package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

const linkersConfig = `
[crawler]
max-depth = 1
[politeness]
adaptive-delay = false
[[quality]]
domain = "a.test"
seeds = ["https://a.test/"]
[[quality]]
domain = "o.test"
seeds = ["https://o.test/"]
`

// linkersWeb serves links of every kind and place to b.test and between two origins.
func linkersWeb(t *testing.T) string {
	s := crawltest.Serve(t)
	a, o := s.Host("a.test"), s.Host("o.test")
	menu := `<nav><a href="/">Home</a> <a href="https://b.test/">B</a></nav>`
	var list strings.Builder
	for i := range 12 {
		fmt.Fprintf(&list, `<a href="/%d">page %d</a> `, i, i)
		text := fmt.Sprintf(`<main><a href="https://b.test/%d">see %d</a></main>`, i%3, i%2)
		if i < 8 {
			text += `<main><a href="https://b.test/often">often</a></main>`
		}
		a.Page(fmt.Sprint("/", i), menu+text)
	}
	a.Page("/", menu+list.String())
	o.Page("/", `<head><link rel="canonical" href="https://b.test/same"></head>
		<main><a href="https://b.test/same">same</a> <a href="https://b.test/0" rel="nofollow">paid</a></main>
		<header><a href="https://b.test/1">top</a></header> <a href="https://b.test/2"></a> <a href="/moved">moved</a>
		<aside><a href="https://a.test/3">three</a></aside> <footer><a href="https://a.test/">A</a></footer>`)
	o.Handle("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://b.test/0", http.StatusFound)
	})
	b := s.Host("b.test")
	for _, path := range []string{"/", "/0", "/1", "/2", "/often", "/same"} {
		b.Page(path, `<a href="/">home</a> <a href="https://o.test/">O</a>`)
	}
	cfg, _ := crawltest.Files(t, s, linkersConfig)
	return cfg
}

// sqlPlaces counts links as the export has them, by what they lead to and by place. An endorsement has
// an anchor among its kinds, which need not be the strongest.
const sqlPlaces = `WITH l AS (
	SELECT links.*, %s AS target, iif(place IS NULL OR place = '', 'redirect', place) AS spot,
		rel IS NULL AND place IN ('main', 'body', 'aside') AND NOT sitewide AND EXISTS (SELECT 1 FROM link_kinds k
			WHERE k.from_page_id = links.from_page_id AND k.to_page_id = links.to_page_id AND kind = 'anchor') AS endorses
	FROM links JOIN pages f ON f.id = from_page_id JOIN pages t ON t.id = to_page_id WHERE %s),
by_place AS (
	SELECT 'text' AS name, * FROM l WHERE endorses
	UNION ALL SELECT spot, * FROM l
	UNION ALL SELECT 'sitewide', * FROM l WHERE sitewide)
SELECT target, name, count(DISTINCT p.id), count(DISTINCT from_page_id), count(DISTINCT anchor),
	count(DISTINCT quality_origin)
FROM by_place p LEFT JOIN page_depths d ON d.page_id = from_page_id AND d.depth = 0 GROUP BY 1, 2`

// placesBySQL asks the SQLite export.
func (r *revised) placesBySQL(target, where string) map[string][]answer.PlaceCount {
	r.t.Helper()
	path := filepath.Join(r.t.TempDir(), "terrain.db")
	r.ripple("export", "--sqlite", path)
	db := openDatabase(r.t, path)
	defer db.Close()
	rows, err := db.Query(fmt.Sprintf(sqlPlaces, target, where))
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	all := map[string][]answer.PlaceCount{}
	for rows.Next() {
		var to string
		var c answer.PlaceCount
		if err := rows.Scan(&to, &c.Place, &c.Links, &c.Pages, &c.Anchors, &c.Origins); err != nil {
			r.t.Fatal(err)
		}
		all[to] = append(all[to], c)
	}
	if err := rows.Err(); err != nil || len(all) == 0 {
		r.t.Fatalf("%d targets, %v", len(all), err)
	}
	return all
}

// metricsAgree compares metrics of the desk and of the command, by links in the text and by all links.
func (r *revised) metricsAgree(d *testDesk) {
	r.t.Helper()
	const trust = "SELECT domain, round(trust, 6) AS trust FROM host_metrics JOIN hosts ON id = host_id ORDER BY 1"
	said := map[string]bool{}
	for _, links := range []string{"", "text", "all"} {
		_, text := d.send("query", fmt.Sprintf(`{"sql": %q, "links": %q}`, trust, links))
		served := decoded[struct{ Rows [][2]any }](r.t, string(text)).Rows
		printed := decoded[[]map[string]any](r.t, r.ripple("query", "--json", "--links", cmp.Or(links, "text"), trust))
		for i, row := range printed {
			if i >= len(served) || served[i] != [2]any{row["domain"], row["trust"]} {
				r.t.Fatalf("links %q: the desk answers %v; query %v", links, served, printed)
			}
		}
		said[fmt.Sprint(served)] = true
	}
	if len(said) != 2 {
		r.t.Errorf("%d answers, not one by links in the text and one by all", len(said))
	}
	if code, text := d.send("query", `{"sql": "SELECT 1", "links": "some"}`); code != http.StatusBadRequest {
		r.t.Errorf("links that do not exist: %d %s", code, text)
	}
}

// busiestAgree compares the busiest pages of b.test, by links in every place, with the links to these pages.
func busiestAgree(d *testDesk, pages map[string][]answer.PlaceCount) {
	d.t.Helper()
	for _, place := range answer.Places() {
		want := map[string]int{}
		for page, counts := range pages {
			for _, c := range counts {
				if c.Place == place && strings.HasPrefix(page, "https://b.test/") {
					want[page] = c.Links
				}
			}
		}
		got := map[string]int{}
		for _, p := range d.json("hosts/b.test?place=" + place).(map[string]any)["busiest_pages"].([]any) {
			p := p.(map[string]any)
			got[p["url"].(string)] = int(p["links_in"].(float64))
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			d.t.Errorf("busiest pages by links in %s (-SQL +desk):\n%s", place, diff)
		}
	}
}

// The commands, the desk and SQL count the same links to every host and page, by place.
func TestLinkersAgree(t *testing.T) {
	r := &revised{t: t, config: linkersWeb(t)}
	r.crawl()
	d := serveState(t, filepath.Join(filepath.Dir(r.config), "state.bolt"))
	type inspected struct {
		LinkedFrom struct {
			Hosts, Links, Pages int
			Places              []answer.PlaceCount
			From                []struct{ Links, Editorial int }
		} `json:"linked_from"`
		LinksIn struct {
			Total  int
			Places []answer.PlaceCount
			Links  []struct{ Editorial bool }
		} `json:"links_in"`
	}
	seen := map[string]bool{}
	check := func(target, question string, want []answer.PlaceCount, of func(*inspected) []answer.PlaceCount,
		listed func(*inspected) int) {
		t.Helper()
		slices.SortFunc(want, func(a, b answer.PlaceCount) int {
			return slices.Index(answer.Places(), a.Place) - slices.Index(answer.Places(), b.Place)
		})
		if want[0].Place != answer.InText {
			want = append([]answer.PlaceCount{{Place: answer.InText}}, want...)
		}
		for _, w := range append([]answer.PlaceCount{{}}, want...) {
			seen[w.Place] = seen[w.Place] || w.Links > 0
			args, asked := []string{"inspect", "--json", "--limit", "-1", target}, question+"limit=100000"
			if w.Place != "" {
				args, asked = append(args, "--place", w.Place), asked+"&place="+w.Place
			}
			_, text := d.get(asked)
			printed, served := decoded[inspected](t, r.ripple(args...)), decoded[inspected](t, string(text))
			if diff := gocmp.Diff(printed, served); diff != "" {
				t.Errorf("%s, %s: the desk answers otherwise (-inspect +desk):\n%s", target, w.Place, diff)
			}
			if diff := gocmp.Diff(want, of(&printed)); diff != "" {
				t.Errorf("%s (-SQL +inspect):\n%s", target, diff)
			}
			if n := listed(&printed); w.Place != "" && n != w.Links {
				t.Errorf("%s: %d links in %s are listed, not %d", target, n, w.Place, w.Links)
			}
		}
	}
	hosts := r.placesBySQL("t.domain", "f.domain <> t.domain")
	pages := r.placesBySQL("t.url", "1")
	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		check(host, "hosts/"+host+"?", hosts[host], func(in *inspected) []answer.PlaceCount { return in.LinkedFrom.Places },
			func(in *inspected) (links int) {
				for i, l := range in.LinkedFrom.From {
					links += l.Links
					if i > 0 && l.Editorial > 0 && in.LinkedFrom.From[i-1].Editorial == 0 {
						t.Errorf("%s: a host without an endorsement comes before one with some", host)
					}
				}
				return links
			})
	}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		check(page, "pages?url="+page+"&", pages[page], func(in *inspected) []answer.PlaceCount { return in.LinksIn.Places },
			func(in *inspected) int {
				for i, l := range in.LinksIn.Links {
					if i > 0 && l.Editorial && !in.LinksIn.Links[i-1].Editorial {
						t.Errorf("%s: another link comes before an endorsement", page)
					}
				}
				return len(in.LinksIn.Links)
			})
	}
	busiestAgree(d, pages)
	r.metricsAgree(d)
	for _, place := range answer.Places() {
		if !seen[place] {
			t.Errorf("no link is in %s", place)
		}
	}
}
