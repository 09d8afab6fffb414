package crawl

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// TestSitemapsOfGivenUpHost has the sitemaps that wait at a host that is given up stay as they are, with
// all that they name.
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
		s.surveyed(func(sv *survey.Survey) error {
			return survey.Check(sv, func(problem string) { t.Error(problem) })
		})
		crawltest.EachPage(t, s.path, func(p *survey.Page) {
			if lost := p.URL == "https://a.test/1"; (p.LastRun != 2) != lost {
				t.Errorf("%s: %v, seen last by run %d", p.URL, p.State, p.LastRun)
			}
		})
	})
}
