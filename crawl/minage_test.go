package crawl

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/schema"
)

// TestMinAgeKeepsFinalAnswers requests in the next run only pages that had no final answer. A kept
// page is not an error of that run, and a new form reopens it.
func TestMinAgeKeepsFinalAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		web := map[string]reply{
			"/":        links("/gone", "/shut", "/image", "/broken", "/silent", "/refused", "/ok"),
			"/gone":    {status: 404},
			"/shut":    {status: 403},
			"/image":   {status: 200, header: http.Header{"Content-Type": {"image/png"}}},
			"/broken":  {status: 500},
			"/silent":  {cause: fetch.Timeout},
			"/refused": {cause: fetch.Refused},
			"/ok":      {status: 200, body: "<title>x</title>"},
			"/gone/":   {status: 200, body: "<title>y</title>"},
		}
		s.host["a.test"] = pages(web)
		cfg := politeConfig(map[string]string{"retry": "max-retries = 0"})
		if run := s.crawl(cfg, 0); run.Errors[schema.ErrorDeadLink] != 1 {
			t.Errorf("errors of the first run: %v", run.Errors)
		}
		s.completed()
		s.log = nil
		time.Sleep(time.Hour)
		web["/broken"] = links("/gone/")
		run := s.crawl(cfg, 0)
		asked := s.requests("a.test")
		slices.Sort(asked)
		if want := []string{"GET /broken", "GET /gone", "GET /gone/", "GET /refused",
			"GET /silent"}; !slices.Equal(asked, want) {
			t.Errorf("asked for %q, want %q", asked, want)
		}
		if n := run.Errors[schema.ErrorDeadLink]; n != 0 || run.Errors[schema.ErrorRefused] != 1 {
			t.Errorf("errors of the second run: %v", run.Errors)
		}
		visits := s.visits()
		for path, want := range map[string]schema.State{
			"/shut": schema.Failed, "/image": schema.ContentMismatch, "/gone": schema.Processed,
			"/ok": schema.Processed,
		} {
			if v := visits["https://a.test"+path]; v.State != want || v.Kept == (path == "/gone") || v.Run != 2 {
				t.Errorf("%s: %v of run %d, kept %t", path, v.State, v.Run, v.Kept)
			}
		}
	})
}

// TestLimitRaised requests pages in full that lack links because of a limit which has been raised,
// and only these.
func TestLimitRaised(t *testing.T) {
	t.Parallel()
	for key, section := range map[string]string{
		"max-links-per-page": "crawler", "max-urls-per-host": "traps", "max-hosts-per-page": "traps",
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					if q.path != "/" {
						return site("", 0)(q)
					}
					r := links("/1", "/2", "/3", "/4", "https://x.test/", "https://y.test/", "https://z.test/")
					r.header = http.Header{"Etag": {`"1"`}, "Content-Type": {"text/html"}}
					if q.step.ETag != "" {
						return reply{status: http.StatusNotModified, header: r.header}
					}
					return r
				}
				s.other = site("", 0)
				conditional := func() (n int) {
					for _, v := range s.visits() {
						if v.Status == http.StatusNotModified {
							n++
						}
					}
					return n
				}
				for _, limit := range []int{2, 2, 1000, 1000} {
					time.Sleep(48 * time.Hour)
					s.crawl(politeConfig(map[string]string{section: fmt.Sprintf("%s = %d", key, limit)}), 0)
					s.completed()
					whole := len(s.requests("z.test")) > 0 && slices.Contains(s.requests("a.test"), "GET /4")
					if whole != (limit == 1000) {
						t.Errorf("limit %d: asked %v and %v", limit, s.requests("a.test"), s.requests("z.test"))
					}
				}
				if conditional() != 1 {
					t.Error("a page that lacks nothing was read once more")
				}
			})
		})
	}
}

// TestLimitRaisedListed does the same with a page that its sitemap says to be unchanged.
func TestLimitRaisedListed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			if q.path == "/s.xml" {
				return reply{status: http.StatusOK, body: strings.ReplaceAll(urlset("https://a.test/"), "2024", "1998")}
			}
			return site("Sitemap: /s.xml\n", 4)(q)
		}
		for i, limit := range []int{2, 2, 1000, 1000} {
			time.Sleep(48 * time.Hour)
			keys := fmt.Sprintf("sitemaps = \"quality\"\nmax-links-per-page = %d", limit)
			s.crawl(politeConfig(map[string]string{"crawler": keys}), 0)
			s.completed()
			asked := 0
			for _, request := range s.requests("a.test") {
				if request == "GET /" {
					asked++
				}
			}
			if whole := slices.Contains(s.requests("a.test"), "GET /4"); whole != (limit == 1000) || asked != 1+i/2 {
				t.Errorf("run %d, limit %d: the page was asked %d times; asked %v", i+1, limit, asked, s.requests("a.test"))
			}
		}
	})
}

// TestExtractAdded reads pages again when a new fact is requested, and only those of its domain.
func TestExtractAdded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.other = withETag("<h1>a heading</h1><a href=https://b.test/>b</a>")
		const more = "[[extract]]\nname = \"heading\"\nselector = \"h1\"\ndomain = \"a.test\"\n"
		for i, text := range []string{"", more, more} {
			time.Sleep(48 * time.Hour)
			s.crawl(politeConfig(map[string]string{"more": text}), 0)
			s.completed()
			visits := s.visits()
			a, b := visits["https://a.test/"], visits["https://b.test/"]
			if (a.Status == http.StatusOK) != (i < 2) || (b.Status == http.StatusOK) != (i == 0) || (len(a.Facts) == 1) != (i == 1) {
				t.Errorf("run %d: a.test %d with %v, b.test %d", i+1, a.Status, a.Facts, b.Status)
			}
		}
	})
}

// withETag answers with a page, or that it has not changed.
func withETag(body string) func(question) reply {
	return func(q question) reply {
		if q.path == "/robots.txt" {
			return reply{status: http.StatusNotFound}
		}
		r := reply{status: http.StatusOK, header: http.Header{"Etag": {`"1"`}, "Content-Type": {"text/html"}}, body: body}
		if q.step.ETag != "" {
			r.status, r.body = http.StatusNotModified, ""
		}
		return r
	}
}

// TestExtractAddedWithinRun reads pages again in the next run that were read before the
// configuration changed within their run, whether the run was resumed or reclassified.
func TestExtractAddedWithinRun(t *testing.T) {
	t.Parallel()
	after := politeConfig(map[string]string{"more": "[[extract]]\nname = \"heading\"\nselector = \"h1\"\n"})
	for name, change := range map[string]func(s *paperServers){
		"resumed": func(s *paperServers) { s.crawl(after, 0) },
		"reclassified": func(s *paperServers) {
			s.crawl(politeConfig(nil), 0)
			s.completed()
			store := crawltest.Open(s.t, s.path)
			if _, err := Reclassify(store, crawltest.Parse(s.t, after)); err != nil {
				s.t.Fatal(err)
			}
			if err := store.Close(); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.other = withETag("<h1>a heading</h1><a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><a href=/4>4</a>")
				s.crawl(politeConfig(nil), 3500*time.Millisecond) // some pages
				change(s)
				s.completed()
				for run := 2; run < 4; run++ {
					time.Sleep(48 * time.Hour)
					s.crawl(after, 0)
					s.completed()
					for _, url := range []string{"https://a.test/", "https://a.test/1", "https://a.test/4"} {
						v := s.visits()[url]
						if run == 2 && len(v.Facts) != 1 && v.Stand == 0 || run == 3 && v.Status != http.StatusNotModified {
							t.Errorf("run %d: %s: status %d, stands on %d, facts %v", run, url, v.Status, v.Stand, v.Facts)
						}
					}
					if v := s.visits()["https://a.test/"]; run == 2 && len(v.Facts) != 1 {
						t.Errorf("the first page: %d, %v", v.Status, v.Facts)
					}
				}
			})
		})
	}
}

// TestNoindexRelaxed reads pages again whose noindex is no longer respected.
func TestNoindexRelaxed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.other = withETag("<meta name=robots content=noindex><title>a title</title><h1>a heading</h1>")
		for i, keys := range []string{"", "respect-noindex = false", "respect-noindex = false"} {
			time.Sleep(48 * time.Hour)
			s.crawl(politeConfig(map[string]string{"crawler": keys}), 0)
			s.completed()
			v := s.visits()["https://a.test/"]
			if (v.Title == "a title") != (i > 0) || (v.Status == http.StatusOK) != (i < 2) {
				t.Errorf("run %d: status %d, title %q", i+1, v.Status, v.Title)
			}
		}
	})
}

// A page is kept while its answer says that it is fresh, unless the configuration has a min-age.
func TestMaxAge(t *testing.T) {
	for _, tt := range []struct {
		minAge string
		want   []string
	}{
		{"", []string{"GET /", "GET /none", "GET /robots.txt"}},
		{`min-age = "1h"`, []string{"GET /", "GET /fresh", "GET /none", "GET /robots.txt"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.host["a.test"] = pages(map[string]reply{
				"/":      links("/fresh", "/none"),
				"/fresh": {status: 200, body: "x", header: http.Header{"Cache-Control": {"max-age=259200"}}},
				"/none":  {status: 200, body: "x", header: http.Header{"Cache-Control": {"max-age=259200, no-store"}}},
			})
			cfg := politeConfig(map[string]string{"recrawl": tt.minAge})
			s.crawl(cfg, 0)
			s.completed()
			s.log = nil
			time.Sleep(48 * time.Hour)
			s.crawl(cfg, 0)
			asked := s.requests("a.test")
			slices.Sort(asked)
			if !slices.Equal(asked, tt.want) {
				t.Errorf("%q: asked for %q, want %q", tt.minAge, asked, tt.want)
			}
		})
	}
}
