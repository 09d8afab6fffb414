package crawl

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

func urlset(urls ...string) string {
	var b strings.Builder
	b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	for _, u := range urls {
		fmt.Fprintf(&b, "<url><loc>%s</loc><lastmod>2024-05-06</lastmod><changefreq>weekly</changefreq></url>", u)
	}
	return b.String() + "</urlset>"
}

func index(urls ...string) string {
	var b strings.Builder
	b.WriteString("<sitemapindex>")
	for _, u := range urls {
		fmt.Fprintf(&b, "<sitemap><loc>%s</loc></sitemap>", u)
	}
	return b.String() + "</sitemapindex>"
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

const withSitemaps = "[crawler]\nhead-check = \"never\"\nsitemaps = %q\nmax-domain-requests = 5000\n" +
	"[user-agent]\ncrawler-name = \"T\"\n[politeness]\nminimum-time-per-address = \"0s\"\n" +
	"[traps]\nmax-queries-per-path = 0\n" +
	"[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n[[blacklist]]\ndomain = \"*.black.test\"\n"

// A sitemapRow is a host with sitemaps, and the requests to it.
type sitemapRow struct {
	name     string
	mode     string // of [crawler] sitemaps; by default "quality"
	robots   string
	files    map[string]reply // by path, of a.test
	elsehost map[string]reply // of maps.test
	asked    string           // paths of a.test that must be requested in addition to /, /1 and robots.txt, sorted
	not      string           // paths that must not be requested
}

func sitemapRows() []sitemapRow {
	return []sitemapRow{
		{
			name: "the usual paths", files: map[string]reply{"/sitemap.xml": {status: 200,
				body: urlset("https://a.test/o")}},
			asked: "/o /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml",
		},
		{
			name: "robots.txt names them", robots: "Sitemap: https://a.test/x.xml\nsitemap: /y.xml\n",
			files: map[string]reply{"/x.xml": {status: 200, body: urlset("https://a.test/o")},
				"/y.xml": {status: 200, body: urlset("https://a.test/p")}},
			asked: "/o /p /x.xml /y.xml", not: "/sitemap.xml",
		},
		{
			name: "nested indexes, one of which names itself", robots: "Sitemap: https://a.test/i.xml\n",
			files: map[string]reply{
				"/i.xml": {status: 200, body: index("https://a.test/i.xml", "https://a.test/j.xml")},
				"/j.xml": {status: 200, body: index("https://a.test/i.xml", "https://a.test/k.xml")},
				"/k.xml": {status: 200, body: urlset("https://a.test/o")},
			},
			asked: "/i.xml /j.xml /k.xml /o",
		},
		{
			name:   "gzip, text, RSS and Atom",
			robots: "Sitemap: /z.gz\nSitemap: /t.txt\nSitemap: /r.rss\nSitemap: /a.atom\n", files: map[string]reply{
				"/z.gz":   {status: 200, body: gzipped(urlset("https://a.test/o"))},
				"/t.txt":  {status: 200, body: "https://a.test/p\nhttps://a.test/q\n"},
				"/r.rss":  {status: 200, body: "<rss><channel><item><link>https://a.test/r</link></item></channel></rss>"},
				"/a.atom": {status: 200, body: `<feed><entry><link href="https://a.test/s"/></entry></feed>`},
			},
			asked: "/a.atom /o /p /q /r /r.rss /s /t.txt /z.gz",
		},
		{
			name:   "on another host, for pages of the origin alone",
			robots: "Sitemap: https://maps.test/m.xml\nSitemap: https://maps.black.test/m.xml\n",
			elsehost: map[string]reply{"/m.xml": {status: 200, body: urlset("https://a.test/o", "https://b.test/x",
				"https://sub.a.test/y")}},
			asked: "/o /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml",
		},
		{
			name: "robots.txt forbids it", robots: "User-agent: *\nDisallow: /x.xml\nSitemap: /x.xml\n",
			files: map[string]reply{"/x.xml": {status: 200, body: urlset("https://a.test/o")}}, asked: "",
			not: "/x.xml",
		},
		{
			name: "redirected", robots: "Sitemap: /i.xml\nSitemap: https://maps.test/none.xml\n",
			files: map[string]reply{
				"/i.xml": redirect("/j.xml"),
				"/j.xml": {status: 200, body: index("https://a.test/k.xml")},
				"/k.xml": redirect("https://maps.test/k.xml"),
			},
			elsehost: map[string]reply{"/k.xml": {status: 200, body: urlset("https://a.test/o")}},
			asked:    "/i.xml /j.xml /k.xml /o",
		},
		{
			name: "an error page is none",
			files: map[string]reply{"/sitemap.xml": {status: 200,
				body: "<!doctype html><title>Welcome</title><a href=\"/o\">o</a>"}},
			asked: "/sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml", not: "/o",
		},
		{
			name: "those that are named are missing", robots: "Sitemap: /gone.xml\nSitemap: https://maps.test/none.xml\n" +
				"Sitemap: /page.xml\nSitemap: /moved.xml\nSitemap: /round.xml\nSitemap: https://away.test/s.xml\n",
			files: map[string]reply{
				"/gone.xml":    {status: 404},
				"/page.xml":    {status: 200, body: "<!doctype html><title>Welcome</title>"},
				"/moved.xml":   redirect("https://maps.test/none.xml"),
				"/round.xml":   redirect("/round2.xml"),
				"/round2.xml":  redirect("/round.xml"),
				"/sitemap.xml": {status: 200, body: urlset("https://a.test/o")},
			},
			asked: "/gone.xml /moved.xml /o /page.xml /round.xml /round2.xml" +
				" /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml",
		},
		{
			name: "one that is named is empty", robots: "Sitemap: /gone.xml\nSitemap: /empty.xml\n",
			files: map[string]reply{"/gone.xml": {status: 410}, "/empty.xml": {status: 200, body: urlset()}},
			asked: "/empty.xml /gone.xml", not: "/sitemap.xml",
		},
		{
			name: "what is named is no URL", robots: "Sitemap: https://a.test:99999/s.xml\n",
			files: map[string]reply{"/sitemap.xml": {status: 200, body: urlset("https://a.test/o")}},
			asked: "/o /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml",
		},
		{
			name: "off", mode: "off", files: map[string]reply{"/sitemap.xml": {status: 200,
				body: urlset("https://a.test/o")}},
			asked: "", not: "/sitemap.xml",
		},
		{
			name: "only", mode: "only", files: map[string]reply{"/sitemap.xml": {status: 200,
				body: urlset("https://a.test/o")}},
			asked: "/o /sitemap-index.xml /sitemap.xml /sitemap_index.xml /wp-sitemap.xml", not: "/1",
		},
	}
}

// host is a.test.
func (r sitemapRow) host(q question) reply {
	if file, ok := r.files[q.path]; ok {
		return file
	}
	switch q.path {
	case "/robots.txt":
		return reply{status: 200, body: r.robots}
	case "/":
		return links("/1")
	case "/sitemap.xml", "/sitemap_index.xml", "/sitemap-index.xml", "/wp-sitemap.xml":
		return reply{status: 404}
	}
	return reply{status: 200}
}

// check compares the requests with the row.
func (r sitemapRow) check(t *testing.T, s *paperServers) {
	got := map[string]bool{}
	for _, e := range only(s.log, "a.test") {
		if got[e.Path] {
			t.Errorf("%s was asked twice", e.Path)
		}
		got[e.Path] = true
	}
	for _, p := range strings.Fields(r.asked) {
		if !got[p] {
			t.Errorf("%s was not asked", p)
		}
		delete(got, p)
	}
	for _, p := range []string{"/", "/robots.txt"} {
		delete(got, p)
	}
	if r.mode != "only" && !got["/1"] {
		t.Error("/1 was not asked")
	}
	delete(got, "/1")
	if r.mode == "only" && len(only(s.log, "a.test")) != 7 {
		t.Errorf("asked %v", s.requests("a.test"))
	}
	if len(got) > 0 {
		t.Errorf("asked besides: %v (must not: %s)", got, r.not)
	}
	for _, host := range []string{"b.test", "sub.a.test", "maps.black.test"} {
		if n := len(only(s.log, host)); n > 0 {
			t.Errorf("%s was asked %d times", host, n)
		}
	}
}

// TestSitemaps serves files of every kind, and checks what is requested and the result.
func TestSitemaps(t *testing.T) {
	for _, tt := range sitemapRows() {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"], s.host["maps.test"] = tt.host, pages(tt.elsehost)
				s.crawl(fmt.Sprintf(withSitemaps, cmp.Or(tt.mode, "quality")), 0)
				tt.check(t, s)
			})
		})
	}
}

// TestSitemapDepth has an index name an index, and so on without end: 16 of them are read. One that
// is also named at a smaller depth has that depth.
func TestSitemapDepth(t *testing.T) {
	t.Parallel()
	for near, want := range map[string]int{"": 16, "Sitemap: /10.xml\n": 26} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.host["a.test"] = func(q question) reply {
				var n int
				if _, err := fmt.Sscanf(q.path, "/%d.xml", &n); err == nil {
					return reply{status: 200, body: index(fmt.Sprintf("https://a.test/%d.xml", n+1))}
				}
				return site("Sitemap: /0.xml\n"+near, 0)(q)
			}
			s.crawl(fmt.Sprintf(withSitemaps, "quality"), 0)
			s.completed()
			files := 0
			for _, e := range s.log {
				if strings.HasSuffix(e.Path, ".xml") {
					files++
				}
			}
			if files != want {
				t.Errorf("with %q %d files were asked, want %d", near, files, want)
			}
		})
	}
}

// TestSitemapLimits names more files than are read, and more pages than the
// linked ones: 200 files a host, orphans last, at depth 0, with their dates.
func TestSitemapLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			switch {
			case q.path == "/robots.txt":
				return reply{status: 200, body: "Sitemap: /index.xml\n"}
			case q.path == "/":
				return links(paths(20)...)
			case q.path == "/index.xml":
				var files []string
				for i := range 400 {
					files = append(files, fmt.Sprintf("https://a.test/s%d.xml", i))
				}
				return reply{status: 200, body: index(files...)}
			case strings.HasSuffix(q.path, ".xml"):
				return reply{status: 200, body: urlset("https://a.test/orphan" +
					strings.TrimSuffix(q.path[2:], ".xml"))}
			}
			return links("https://b.test/")
		}
		s.crawl(fmt.Sprintf(withSitemaps, "quality"), 0)
		s.completed()
		files, orphans, lastLinked, firstOrphan := 0, 0, 0, 0
		for i, e := range only(s.log, "a.test") {
			switch {
			case strings.HasSuffix(e.Path, ".xml"):
				files++
			case strings.HasPrefix(e.Path, "/orphan"):
				orphans++
				if firstOrphan == 0 {
					firstOrphan = i
				}
			default:
				lastLinked = i
			}
		}
		if files != 200 || orphans != 199 {
			t.Errorf("%d files and %d orphans were asked, want 200 and 199", files, orphans)
		}
		if firstOrphan < lastLinked {
			t.Errorf("an orphan was asked as request %d, the last linked page as %d", firstOrphan, lastLinked)
		}
		s.view(func(store *kv.Store, tx *kv.Tx) error {
			return tx.Visits.Each(1, func(v *schema.Visit) (bool, error) {
				norm, err := tx.URLs.Norm(v.URL)
				if depth, _ := store.Depth(v.URL); strings.Contains(norm, "/orphan") && depth != 0 {
					t.Errorf("%s has depth %d", norm, depth)
				}
				for _, e := range v.Sitemap {
					if !e.LastMod.Equal(time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC)) || e.ChangeFreq != "weekly" {
						t.Errorf("%s: %v %s", norm, e.LastMod, e.ChangeFreq)
					}
				}
				return true, err
			})
		})
		s.log = nil // the next run reads as many again
		s.crawl(fmt.Sprintf(withSitemaps, "quality"), 0)
		files = len(slices.DeleteFunc(s.requests("a.test"),
			func(r string) bool { return !strings.HasSuffix(r, ".xml") }))
		if files != 200 {
			t.Errorf("%d files were asked in the second run, want 200", files)
		}
	})
}

// TestTooManySitemaps reads the maximum number of sitemaps of a host, and reports the rest.
func TestTooManySitemaps(t *testing.T) {
	for files, coverage := range map[int]string{
		schema.MaxSitemapFiles - 1: "complete", schema.MaxSitemapFiles +
			2: "3 sitemaps not read (at most 200 of a host)",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			var all []string
			for i := range files {
				all = append(all, fmt.Sprintf("https://a.test/%d.xml", i))
			}
			web := map[string]reply{
				"/": links(), "/index.xml": {status: 200, body: index(all...)},
				"/robots.txt": {status: 200, body: "Sitemap: https://a.test/index.xml\n"},
			}
			s.host["a.test"] = func(q question) reply {
				if r, ok := web[q.path]; ok {
					return r
				}
				return reply{status: 200, body: urlset("https://a.test/")}
			}
			s.crawl(fmt.Sprintf(withSitemaps, "quality"), 0)
			crawltest.EachHost(t, s.path, func(r *survey.HostReport) {
				if r.Host.Name == "a.test" && r.Coverage != coverage {
					t.Errorf("%d sitemaps: %q, want %q", files+1, r.Coverage, coverage)
				}
			})
		})
	}
}

// TestSitemapTriedAtSpentHost retries a sitemap at a host whose pages have used up its budget.
func TestSitemapTriedAtSpentHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			switch {
			case q.path == "/s.xml" && q.n == 0:
				return reply{status: http.StatusServiceUnavailable}
			case q.path == "/s.xml":
				return reply{status: http.StatusOK, body: urlset("https://b.test/o")}
			}
			return site("Sitemap: /s.xml\n", 12)(q)
		}
		s.host["b.test"] = site("Sitemap: https://a.test/s.xml\n", 0)
		cfg := strings.Replace(withSitemaps, "max-domain-requests = 5000", "max-domain-requests = 3", 1)
		s.crawl(fmt.Sprintf(cfg, "quality")+"[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n", 0)
		if got := s.requests("b.test"); !slices.Contains(got, "GET /o") {
			t.Errorf("b.test was asked %v, though a sitemap names /o", got)
		}
	})
}

// TestSitemapBeyondLimit has a sitemap name more pages than are recorded for a host: all left-out
// pages are counted.
func TestSitemapBeyondLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			if q.path != "/s.xml" {
				return site("Sitemap: /s.xml\n", 0)(q)
			}
			var all []string
			for _, path := range paths(30) {
				all = append(all, "https://a.test"+path)
			}
			return reply{status: http.StatusOK, body: urlset(all...)}
		}
		s.crawl(fmt.Sprintf(strings.Replace(withSitemaps, "[traps]", "[traps]\nmax-urls-per-host = 10", 1), "quality"), 0)
		crawltest.EachHost(t, s.path, func(r *survey.HostReport) {
			want := "capped as a trap (21 URLs not recorded: max-urls-per-host = 10)"
			if r.Host.Name == "a.test" && r.Coverage != want {
				t.Errorf("%q, want %q", r.Coverage, want)
			}
		})
	})
}
