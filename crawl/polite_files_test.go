package crawl

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// TestOthersSitemapsTakeNoPlace has one origin name hundreds of invented sitemaps of another,
// before that one has named its own. Its own sitemaps and pages come first, even with kills. Some
// of the others are tried after them, and the coverage says that the rest is left out. A sitemap
// that the host names as well is its own.
func TestOthersSitemapsTakeNoPlace(t *testing.T) {
	t.Parallel()
	var names, files []string
	for i := range 300 {
		files = append(files, fmt.Sprintf("https://b.test/x%d.xml", i))
		names = append(names, "Sitemap: "+files[i]+"\n")
	}
	attacker := map[string]map[string]reply{
		"robots.txt": {"/": links("/1"), "/robots.txt": {status: 200, body: strings.Join(names, "")}},
		"an index": {"/": links("/1"), "/robots.txt": {status: 200, body: "Sitemap: /i.xml\n"},
			"/i.xml": {status: 200, body: index(files...)}},
		"a redirect": {"/": links("/1"), "/robots.txt": {status: 200, body: "Sitemap: /r.xml\n"},
			"/r.xml": redirect("/i.xml"), "/i.xml": {status: 200, body: index(files...)}},
	}
	own := map[string]reply{
		"/robots.txt": {status: 200, body: "Sitemap: /real.xml\nSitemap: /x7.xml\n", wait: 5 * time.Second},
		"/real.xml":   {status: 200, body: urlset("https://b.test/hidden")},
		"/x7.xml":     {status: 200, body: urlset("https://b.test/seventh")},
		"/":           links("/1", "/2", "/3"), "/1": links(), "/2": links(), "/3": links(), "/hidden": links(), "/seventh": links(),
	}
	for name, web := range attacker {
		for kills := range 3 {
			t.Run(fmt.Sprintf("%s, %d kills", name, kills), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newPaperServers(t)
					s.host["a.test"], s.host["b.test"] = pages(web), pages(own)
					cfg := ofTwo("sitemaps = \"quality\"\n", "[traps]\nmax-urls-per-host = 100\n")
					for range kills {
						s.crawl(cfg, 7*time.Second)
					}
					s.crawl(cfg, 0)
					s.verified()
					invented, all := 0, map[string]bool{}
					for _, e := range only(s.log, "b.test") {
						switch _, ok := own[e.Path]; {
						case !ok:
							invented++
						case invented > 0 && kills == 0:
							t.Errorf("%s is asked after %d invented sitemaps", e.Path, invented)
						}
						all[e.Path] = true
					}
					for path := range own {
						if !all[path] {
							t.Errorf("%s is not asked", path)
						}
					}
					if kills == 0 && invented != schema.MaxSitemapOthers-1 { // one is its own
						t.Errorf("%d invented sitemaps are asked", invented)
					}
					wantCovered(t, s, "b.test", fmt.Sprintf("%d sitemaps not read (at most 20 that only other hosts name)", 101-2-invented))
				})
			})
		}
	}
}
