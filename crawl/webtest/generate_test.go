package webtest

import (
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema/process"

	"github.com/sumi-ripple/ripple/crawl/webtest/prose"
)

func mixedWeb() GenConfig {
	return GenConfig{Hosts: 5, Pages: 60, Leave: 0.2, Redirects: 0.05, Dead: 0.05}
}

// The web's description agrees with what it serves: every page is fetched, and its links are
// compared with those of another parser.
func TestWebTellsTheTruth(t *testing.T) {
	s := newServer(t)
	w := s.Generate(7, mixedWeb())
	c := newClient(t, s)
	seen := map[string]bool{}
	queue := w.Seeds()[:1]
	kinds := map[int]int{}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		got := get(t, c, at)
		kinds[got.StatusCode]++
		if got.StatusCode != w.Status(at) {
			t.Fatalf("%s = %d, the web says %d", at, got.StatusCode, w.Status(at))
		}
		to, moved := w.Redirect(at)
		if moved != (got.StatusCode == 301) || to != got.Header.Get("Location") {
			t.Fatalf("%s redirects to %q, the web says %q", at, got.Header.Get("Location"), to)
		}
		links := w.Links(at)
		if got.StatusCode == 200 {
			if diff := cmp.Diff(hrefs(t, at, got.body), links); diff != "" {
				t.Fatalf("%s: %s", at, diff)
			}
		} else if links != nil {
			t.Fatalf("%s = %d has links", at, got.StatusCode)
		}
		queue = append(queue, links...)
		if moved {
			queue = append(queue, to)
		}
	}
	pages := 0
	for at := range w.Pages() {
		if pages++; !seen[at] {
			t.Errorf("%s cannot be reached", at)
		}
	}
	if pages != 300 || kinds[200] != pages || kinds[301] == 0 || kinds[404] == 0 {
		t.Errorf("%d pages, answers %v", pages, kinds)
	}
}

// hrefs returns the distinct links, resolved, https, without fragment.
func hrefs(t testing.TB, base, html string) []string {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	at, _ := url.Parse(base)
	var links []string
	seen := map[string]bool{}
	doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) {
		u, err := at.Parse(a.AttrOr("href", ""))
		if err != nil {
			t.Fatal(err)
		}
		u.Scheme, u.Fragment = "https", ""
		if !seen[u.String()] {
			seen[u.String()] = true
			links = append(links, u.String())
		}
	})
	return links
}

// The default page is as large and as linked as real pages.
func TestWebPageShape(t *testing.T) {
	s := newServer(t)
	s.Generate(3, GenConfig{Hosts: 20, Pages: 1000, Leave: 0.1})
	got := get(t, newClient(t, s), "https://h4.gen.test/")
	raw := map[string]bool{}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	anchors := doc.Find("a[href]").Each(func(_ int, a *goquery.Selection) { raw[a.AttrOr("href", "")] = true }).Length()
	if len(got.body) < 30000 || len(got.body) > 40000 || anchors != 141 || len(raw) != 41 {
		t.Errorf("%d bytes, %d anchors, %d distinct", len(got.body), anchors, len(raw))
	}
	for _, place := range []string{"nav", "main", "footer"} {
		if doc.Find(place+" a").Length() == 0 {
			t.Errorf("no link in %s", place)
		}
	}
	if doc.Find("title").Text() == "" {
		t.Error("no title")
	}
}

func TestWebIsDeterministic(t *testing.T) {
	a, b := newServer(t), newServer(t)
	a.Generate(1, mixedWeb())
	b.Generate(1, mixedWeb())
	other := newServer(t)
	other.Generate(2, mixedWeb())
	const at = "https://h3.gen.test/"
	first := get(t, newClient(t, a), at)
	if first.body != get(t, newClient(t, b), at).body {
		t.Error("one seed, two pages")
	}
	if first.body == get(t, newClient(t, other), at).body {
		t.Error("two seeds, one page")
	}
	if got := get(t, newClient(t, b), at, "If-None-Match", first.Header.Get("Etag")); got.StatusCode != 304 {
		t.Errorf("its tag is answered with %d", got.StatusCode)
	}
}

func TestWebEndless(t *testing.T) {
	s := newServer(t)
	w := s.Generate(1, GenConfig{Hosts: 1 << 40, Pages: 50, Leave: 0.1, Endless: true, Robots: "User-agent: *\n"})
	c := newClient(t, s)
	at, seen := "https://h0.gen.test/", map[string]bool{}
	for range 40 { // deeper than 64-bit numbers, at eight children per page
		got := get(t, c, at)
		if got.StatusCode != 200 || len(got.body) < 20000 {
			t.Fatalf("%s = %d, %d bytes", at, got.StatusCode, len(got.body))
		}
		seen[at] = true
		fresh := 0
		for _, link := range w.Links(at) {
			if !seen[link] {
				seen[link] = true
				fresh++
			}
		}
		if fresh < branches {
			t.Fatalf("%s has %d new links", at, fresh)
		}
		at = w.Links(at)[7]
	}
	if got := get(t, c, "https://h12345.gen.test/robots.txt"); got.body != "User-agent: *\n" {
		t.Errorf("robots.txt = %q", got.body)
	}
	n := 0
	for range w.Pages() {
		if n++; n == 1000 {
			break
		}
	}
}

// URLs outside the web are not found in any spelling, and a host's own pages take precedence.
func TestWebStrangers(t *testing.T) {
	s := newServer(t)
	w := s.Generate(1, GenConfig{Hosts: 3, Pages: 3, Gzip: true})
	s.Host("h1.gen.test").Page("/", "own")
	c := newClient(t, s)
	second := w.Links(w.Seeds()[0])[0]
	for _, at := range []string{
		"https://h3.gen.test/", "https://h01.gen.test/", "https://h-1.gen.test/", "https://x.gen.test/",
		"https://h0.gen.test/notes/0", "https://h0.gen.test/notes/99", second + "/", second + "?q",
		strings.Replace(second, "/1", "/01", 1), "https://h0.gen.test/moved/0", "https://h0.gen.test/robots.txt",
	} {
		if got := get(t, c, at); got.StatusCode != 404 || w.Status(at) != 404 {
			t.Errorf("%s = %d, the web says %d", at, got.StatusCode, w.Status(at))
		}
	}
	if got := get(t, c, "https://h1.gen.test/"); got.body != "own" {
		t.Error("the host's own page does not come first")
	}
	if got := get(t, c, second, "Accept-Encoding", "gzip"); !strings.Contains(decode(t, "gzip", got.body), "<title>") {
		t.Error("no page in gzip")
	}
}

// A served page leaves nothing in memory.
func TestWebKeepsNothing(t *testing.T) {
	s := newServer(t, WithoutLog())
	w := s.Generate(1, GenConfig{Hosts: 1, Endless: true})
	c := newClient(t, s)
	visit := func(from, to int) {
		n := 0
		for at := range w.Pages() {
			if n++; n > to {
				return
			}
			if n > from {
				get(t, c, at)
			}
		}
	}
	visit(0, 50)
	before := process.LiveHeap()
	visit(50, 350)
	if after := process.LiveHeap(); after > before+2<<20 {
		t.Errorf("300 pages left %d bytes behind", after-before)
	}
}

func BenchmarkWebPage(b *testing.B) {
	w := &Web{cfg: GenConfig{Hosts: 100, Pages: 2000, Leave: 0.1}.withDefaults(), names: naming{suffix: ".gen.test"},
		prose: prose.NewStock(1)}
	var buf []byte
	n := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		buf = w.appendPage(buf[:0], place{n % 100, page, n % 2000})
		n++
	}
	b.SetBytes(int64(len(buf)))
}

// BenchmarkServe uses one client on warm connections, so each figure includes the client's share.
func BenchmarkServe(b *testing.B) {
	for _, bench := range []struct {
		name string
		opts []Option
	}{{"http1", []Option{WithoutHTTP2()}}, {"http2", nil}} {
		b.Run(bench.name, func(b *testing.B) {
			s := newServer(b, append(bench.opts, WithoutLog())...)
			w := s.Generate(1, GenConfig{Hosts: 4, Pages: 1000, Leave: 0.1})
			c := newClient(b, s)
			var urls []string
			for at := range w.Pages() {
				urls = append(urls, at)
			}
			n, before := 0, process.CPUTime()
			b.ReportAllocs()
			for b.Loop() {
				drainGet(b, c, urls[n%len(urls)])
				n++
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "pages/s")
			b.ReportMetric(float64((process.CPUTime()-before).Microseconds())/float64(n), "cpu-us/page")
		})
	}
}
