package crawl

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

// TestForeignSitemaps has a robots.txt name thousands of sitemaps on foreign sites, some of which
// lead on. Only the first hosts are requested, and what they lead to on those hosts and their own
// site. A blacklisted host does not count as one of the first, nor as a sitemap that is left out.
func TestForeignSitemaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		robots := strings.Builder{}
		robots.WriteString("Sitemap: https://x.black.test/x.xml\n")
		for i := range 9000 {
			fmt.Fprintf(&robots, "Sitemap: https://m%d.test/x.xml\n", i)
		}
		robots.WriteString("Sitemap: https://sub.a.test/x.xml\nSitemap: https://m3.test/y.xml\n")
		s.host["a.test"] = site(robots.String(), 1)
		s.host["m0.test"] = pages(map[string]reply{"/x.xml": {status: 200, body: index(
			"https://sub.m0.test/own.xml", "https://m1.test/named.xml", "https://a.test/back.xml",
			"https://else.test/no.xml", "https://m10.test/no.xml", "https://y.black.test/no.xml")}})
		s.host["m1.test"] = pages(map[string]reply{"/x.xml": redirect("https://m2.test/to.xml"),
			"/named.xml": redirect("https://else.test/no2.xml")})
		s.crawl(strings.Replace(fmt.Sprintf(withSitemaps, "quality"), "max-domain-requests",
			"minimum-time-on-page = 100\nmax-domain-requests", 1), 0)
		asked := map[string]string{}
		for _, e := range s.log {
			if e.Path != "/robots.txt" {
				asked[e.Host] += e.Path + " "
			}
		}
		want := map[string]string{
			"a.test": "/ /back.xml /1 ", "sub.a.test": "/x.xml ", "sub.m0.test": "/own.xml ", "m0.test": "/x.xml ",
			"m1.test": "/x.xml /named.xml ", "m2.test": "/x.xml /to.xml ", "m3.test": "/x.xml /y.xml ",
		}
		for i := 4; i < 10; i++ {
			want[fmt.Sprintf("m%d.test", i)] = "/x.xml "
		}
		for host, paths := range asked {
			if len(paths) != len(want[host]) {
				t.Errorf("%s was asked for %q, want %q", host, paths, want[host])
			}
		}
		if len(asked) != len(want) {
			t.Errorf("%d hosts were asked, want %d", len(asked), len(want))
		}
		wantCovered(t, s, "a.test", "8,990 sitemaps not read (max-sitemap-hosts = 10)")
		wantCovered(t, s, "m0.test", "2 sitemaps not read (max-sitemap-hosts = 10)")
		wantCovered(t, s, "m1.test", "1 sitemap not read (max-sitemap-hosts = 10)")
	})
}

// wantCovered checks that a host is cut, and that its coverage says so.
func wantCovered(t *testing.T, s *paperServers, host, words string) {
	t.Helper()
	crawltest.EachHost(t, s.path, func(r *survey.HostReport) {
		if r.Host.Name == host && (!r.Cover.Cut() || r.Coverage != words) {
			t.Errorf("%s is covered as %d, %q, want %q", host, r.Cover, r.Coverage, words)
		}
	})
}

// TestForeignHostsOfAPage records the links of a page to the first hosts outside its site, known or
// not, and counts the others.
func TestForeignHostsOfAPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var to []string
		for i := range 1500 {
			to = append(to, fmt.Sprintf("https://n%d.test/", i))
		}
		to = append(to, "https://n3.test/x", "https://sub.a.test/", "/next")
		s.host["a.test"] = pages(map[string]reply{"/": links(to...),
			"/next": links("https://n1400.test/", "https://n1.test/")})
		s.crawl(politeConfig(map[string]string{"crawler": "max-depth = 0"}), 0)
		visits := s.visits()
		if v := visits["https://a.test/"]; v.Distinct != 1503 || v.BeyondHosts != 500 || len(v.Links) != 1003 {
			t.Errorf("%d links, %d recorded, %d beyond", v.Distinct, len(v.Links), v.BeyondHosts)
		}
		if v := visits["https://a.test/next"]; v.BeyondHosts != 0 || len(v.Links) != 2 {
			t.Errorf("of the second page %d links are recorded, %d beyond", len(v.Links), v.BeyondHosts)
		}
		wantCovered(t, s, "a.test", "500 links left out (max-hosts-per-page = 1000)")
	})
}
