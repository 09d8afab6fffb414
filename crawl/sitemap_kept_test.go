package crawl

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// TestSitemapsOfGivenUpHost keeps the sitemaps that wait at a host that is given up, with
// everything that they name.
func TestSitemapsOfGivenUpHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		file := func(kind, entry string, locs ...string) reply {
			body := "<" + kind + ">"
			for _, loc := range locs {
				body += "<" + entry + "><loc>https://a.test" + loc + "</loc></" + entry + ">"
			}
			return reply{status: http.StatusOK, body: body + "</" + kind + ">"}
		}
		away, cfg := false, politeConfig(map[string]string{"crawler": "sitemaps = \"quality\""})
		s.host["a.test"] = func(q question) reply {
			switch q.path {
			case "/robots.txt":
				return reply{status: http.StatusOK, body: "Sitemap: https://a.test/0.xml\n"}
			case "/0.xml":
				return file("sitemapindex", "sitemap", "/1.xml", "/2.xml", "/3.xml")
			case "/1.xml":
				if away {
					return reply{status: http.StatusTooManyRequests, header: http.Header{"Retry-After": {"90000"}}}
				}
				return file("urlset", "url", "/1")
			case "/2.xml":
				return file("urlset", "url", "/2")
			case "/3.xml":
				return file("sitemapindex", "sitemap", "/4.xml")
			case "/4.xml":
				return file("urlset", "url", "/4")
			}
			return site("", 0)(q)
		}
		s.crawl(cfg, 0)
		s.completed()
		time.Sleep(2 * time.Hour)
		away = true
		s.crawl(cfg, 0)
		s.verified()
		crawltest.EachPage(t, s.path, func(p *survey.Page) {
			if lost := p.URL == "https://a.test/1"; (p.LastRun != 2) != lost {
				t.Errorf("%s: %v, seen last by run %d", p.URL, p.State, p.LastRun)
			}
		})
	})
}

// TestUsualSitemapsLater has two hosts name the same sitemap, which is missing, at different times
// and over a restart: the usual ones are requested from both, once.
func TestUsualSitemapsLater(t *testing.T) {
	t.Parallel()
	for _, stop := range []time.Duration{0, 500 * time.Millisecond, 5 * time.Second, 35 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			for host, wait := range map[string]time.Duration{"a.test": 0, "b.test": 30 * time.Second} {
				s.host[host] = func(q question) reply {
					switch q.path {
					case "/robots.txt":
						return reply{status: http.StatusOK, body: "Sitemap: https://maps.test/s.xml\n", wait: wait}
					case "/sitemap.xml":
						return reply{status: http.StatusOK, body: urlset("https://" + host + "/o")}
					}
					return site("", 0)(q)
				}
			}
			s.host["maps.test"] = pages(map[string]reply{"/s.xml": {status: http.StatusNotFound}})
			cfg := fmt.Sprintf(withSitemaps, "quality") + "[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"
			if stop > 0 {
				s.crawl(cfg, stop)
			}
			s.crawl(cfg, 0)
			s.completed()
			for _, host := range []string{"a.test", "b.test"} {
				if !s.survey()[host+"/o"].visited {
					t.Errorf("stopped after %v, %s was asked for %q, not for what its usual sitemap names", stop, host,
						s.requests(host))
				}
			}
		})
	}
}

// TestFormerOriginInSitemap removes an origin whose pages are named by another one's sitemap: the
// pages go with it.
func TestFormerOriginInSitemap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			if q.path == "/s.xml" {
				return reply{status: http.StatusOK, body: urlset("https://a.test/o", "https://b.test/o")}
			}
			return site("Sitemap: /s.xml\n", 0)(q)
		}
		s.host["b.test"] = func(q question) reply {
			r := site("Sitemap: https://a.test/s.xml\n", 0)(q)
			if q.path == "/" {
				r.wait = time.Minute
			}
			return r
		}
		cfg := fmt.Sprintf(withSitemaps, "quality")
		s.crawl(cfg+"[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n", 30*time.Second)
		if page, known := s.survey()["b.test/o"]; page.depth != 0 || !known || page.visited {
			t.Fatalf("before: %+v", page)
		}
		s.log = nil
		s.crawl(cfg, 0)
		if page := s.survey()["b.test/o"]; page.depth != kv.NoDepth {
			t.Errorf("a page of a former origin: %+v", page)
		}
		if got := s.requests("b.test"); len(got) > 0 {
			t.Errorf("a former origin was asked for %q", got)
		}
		s.verified()
	})
}

// TestPageOfFormerOriginsSitemap removes an origin whose sitemap alone names a page of another one,
// for which it does not speak: if only pages of sitemaps are visited, the page waits neither before
// nor after.
func TestPageOfFormerOriginsSitemap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("", 0)
		s.host["b.test"] = func(q question) reply {
			if q.path == "/s.xml" {
				return reply{status: http.StatusOK, body: urlset("https://a.test/1")}
			}
			return site("Sitemap: /s.xml\n", 0)(q)
		}
		cfg := fmt.Sprintf(withSitemaps, "only")
		s.crawl(cfg+"[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n", 30*time.Second)
		if page := s.survey()["a.test/1"]; page.state != "discovered" {
			t.Fatalf("before: %+v", page)
		}
		s.crawl(cfg, 0)
		if page := s.survey()["a.test/1"]; page.state != "discovered" || page.visited {
			t.Errorf("a page of the sitemap of a former origin: %+v", page)
		}
		s.verified()
	})
}

// TestSitemapTriedOfFormerOrigin removes an origin whose sitemap waits for a retry: the retry is
// not made.
func TestSitemapTriedOfFormerOrigin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("", 0)
		s.host["b.test"] = func(q question) reply {
			if q.path == "/sitemap.xml" {
				return reply{status: http.StatusInternalServerError}
			}
			return site("", 0)(q)
		}
		cfg := fmt.Sprintf(withSitemaps, "quality") + "[retry]\ndelay = \"1m\"\n"
		s.crawl(cfg+"[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n", 30*time.Second)
		if h := s.hostRecord("b.test"); len(h.Retries) != 1 {
			t.Fatalf("before: %+v", h.Retries)
		}
		s.log = nil
		s.crawl(cfg, 0)
		if got := s.requests("b.test"); len(got) > 0 {
			t.Errorf("a former origin was asked for %q", got)
		}
	})
}
