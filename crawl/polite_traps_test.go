package crawl

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// trapSite has n honest pages, each of which links to the next two, and on every page links into
// endless webs: a calendar, session numbers, and a relative link that lengthens its own path.
func trapSite(n int) func(question) reply {
	session := 0
	return func(q question) reply {
		if q.path == "/robots.txt" {
			return reply{status: 404}
		}
		path, query, _ := strings.Cut(q.path, "?")
		session++
		to := []string{fmt.Sprintf("%s?sid=%d", path, session), "deeper/and/"}
		var page, month int
		if _, err := fmt.Sscanf(path, "/honest/%d", &page); err == nil || path == "/" {
			for i := page + 1; i <= min(page+2, n); i++ {
				to = append(to, fmt.Sprintf("/honest/%d", i), fmt.Sprintf("/honest/%d?sid=%d", i, session))
			}
		}
		fmt.Sscanf(query, "month=%d", &month)
		to = append(to, fmt.Sprintf("/calendar?month=%d", month+1))
		if q.host != "a.test" { // an origin would be crawled to the end, which this web does not have
			to = append(to, fmt.Sprintf("/archive/%d/", session))
		}
		return links(to...)
	}
}

// TestTrapSite visits every honest page of a site with traps, and leaves the traps.
func TestTrapSite(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"a.test", "b.test"} {
		t.Run(host, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const honest = 30
				s := newPaperServers(t)
				s.host[host] = trapSite(honest)
				if host != "a.test" {
					s.host["a.test"] = pages(map[string]reply{"/": links("https://b.test/")})
				}
				s.crawl(politeConfig(map[string]string{
					"crawler": "max-depth = 60\nmax-domain-requests = 100000\nminimum-time-on-page = 100",
					"traps":   "max-queries-per-path = 3\nmax-per-prefix = 400\nmax-path-depth = 8\nmax-urls-per-host = 3000",
				}), 0)
				asked, perPath, perPrefix := map[string]bool{}, map[string]int{}, map[string]int{}
				for _, e := range only(s.log, host) {
					path, _, query := strings.Cut(e.Path, "?")
					asked[e.Path] = true
					if query {
						perPath[path]++
					}
					prefix, _, _ := strings.Cut(path[1:], "/")
					perPrefix[prefix]++
					if strings.Count(path, "/") > 9 || strings.Count(path, "deeper") > 3 {
						t.Errorf("asked for %s", e.Path)
					}
				}
				for i := 1; i <= honest; i++ {
					if p := fmt.Sprintf("/honest/%d", i); !asked[p] {
						t.Errorf("%s%s was not asked", host, p)
					}
				}
				for path, n := range perPath {
					if n > 3 {
						t.Errorf("%d queries of %s", n, path)
					}
				}
				for prefix, n := range perPrefix {
					if host == "b.test" && n > 400 {
						t.Errorf("%d pages below /%s", n, prefix)
					}
				}
				if h := s.hostRecord(host); h.Known > 3000 {
					t.Errorf("%d URLs are known", h.Known)
				}
				t.Logf("%d requests", len(only(s.log, host)))
			})
		})
	}
}
