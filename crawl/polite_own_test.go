package crawl

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/kv/survey"
)

// ofTwo is a configuration of a.test and b.test, with other lines first.
func ofTwo(crawler, more string) string {
	return "[crawler]\nhead-check = \"never\"\n" + crawler + "[user-agent]\ncrawler-name = \"T\"\n[recrawl]\nmin-age = \"0s\"\n" +
		"[politeness]\nminimum-time-per-address = \"0s\"\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n" + more +
		"[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"
}

// TestOthersTakeNoPlace has a page of one origin link to hundreds of invented pages of another: its
// own pages are all visited, and the coverage names the host that used the rest of its budget.
func TestOthersTakeNoPlace(t *testing.T) {
	t.Parallel()
	for name, form := range map[string]string{"queries of one path": "/view?junk=%d", "pages": "/f%d"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				var invented, own []string
				for i := range 400 {
					invented = append(invented, "https://b.test"+fmt.Sprintf(form, i))
				}
				for i := range 30 {
					own = append(own, fmt.Sprintf("/view?id=%d", i))
				}
				s.host["a.test"] = func(q question) reply {
					if q.path == "/" {
						return links(invented...)
					}
					return reply{status: http.StatusNotFound}
				}
				s.host["b.test"] = func(q question) reply {
					switch {
					case q.path == "/":
						r := links(own...)
						r.wait = time.Second // the invented pages are known before
						return r
					case strings.HasPrefix(q.path, "/view?id="):
						return reply{status: http.StatusOK, body: "<title>x</title>"}
					}
					return reply{status: http.StatusNotFound}
				}
				s.crawl(ofTwo("sitemaps = \"off\"\nmax-domain-requests = 40\n",
					"[traps]\nmax-queries-per-path = 40\nmax-urls-per-host = 300\n"), 0)
				pages := s.survey()
				for _, path := range own {
					if !pages["b.test"+path].visited {
						t.Errorf("%s is %+v", path, pages["b.test"+path])
					}
				}
				s.surveyed(func(sv *survey.Survey) error {
					id, _, err := sv.Hosts.Lookup("b.test")
					if err != nil {
						return err
					}
					r, err := sv.Hosts.Report(id)
					if err == nil && !strings.Contains(r.Coverage, "requests went to addresses that only a.test links to") {
						t.Errorf("coverage %q", r.Coverage)
					}
					return err
				})
			})
		})
	}
}

// TestOthersTakeNoSubdomain has a page of one origin invent subdomains of another, before that one
// names its own: all of its own are visited. A site of no origin has as many hosts as ever.
func TestOthersTakeNoSubdomain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var invented, own []string
		for i := range 60 {
			invented = append(invented, fmt.Sprintf("https://junk%d.b.test/", i), fmt.Sprintf("https://junk%d.c.test/", i))
		}
		for i := range 4 {
			own = append(own, fmt.Sprintf("https://own%d.b.test/", i))
		}
		s.host["a.test"] = pages(map[string]reply{"/": links(append(invented, own[0])...)})
		front := links(own...)
		front.wait = time.Minute // the invented ones are requested before
		s.host["b.test"] = pages(map[string]reply{"/": front})
		s.other = pages(map[string]reply{"/": {status: http.StatusOK, body: "<title>x</title>"}})
		s.crawl(strings.Replace(ofTwo("sitemaps = \"off\"\nmax-subdomains = 6\n", ""), "\"b.test\"", "\"*.b.test\"", 1), 0)
		junk := map[string]int{} // visited
		all := s.survey()
		for page, at := range all {
			if _, site, _ := strings.Cut(page, "."); at.visited && strings.HasPrefix(page, "junk") {
				junk[site]++
			}
		}
		for _, url := range own {
			if at := all[strings.TrimPrefix(url, "https://")]; !at.visited {
				t.Errorf("%s is %+v", url, at)
			}
		}
		if junk["b.test/"] != 1 || junk["c.test/"] != 6 {
			t.Errorf("invented hosts that have a place: %v; want 1 of the origin, and 6 of the other site", junk)
		}
	})
}

// TestOthersTakeNoHost has a page of one site invent hosts of another that belongs to no origin,
// before that one names its own: all of its own are recorded, and the left-out ones are reported.
func TestOthersTakeNoHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var invented, own []string
		for i := range 60 {
			invented = append(invented, fmt.Sprintf("https://junk%d.c.test/", i))
		}
		for i := range 4 {
			own = append(own, fmt.Sprintf("https://own%d.c.test/", i))
		}
		s.host["a.test"] = pages(map[string]reply{"/": links("https://d.test/", "https://c.test/")})
		s.host["d.test"] = pages(map[string]reply{"/": links(invented...)})
		front := links(own...)
		front.wait = time.Minute // the invented ones are met before
		s.host["c.test"] = pages(map[string]reply{"/": front})
		s.crawl(ofTwo("sitemaps = \"off\"\nmax-depth = 1\n", "[traps]\nmax-hosts-per-site = 6\n"), 0)
		junk, all := 0, s.survey()
		for page := range all {
			if strings.HasPrefix(page, "junk") {
				junk++
			}
		}
		for _, url := range own {
			if _, known := all[strings.TrimPrefix(url, "https://")]; !known {
				t.Errorf("%s is not recorded", url)
			}
		}
		s.surveyed(func(sv *survey.Survey) error {
			cut, err := survey.CutSites(sv)
			want := survey.CutSite{Site: "c.test", Hosts: 11, Overflow: 54,
				Limit: "max-hosts-per-site = 6 for hosts that only other sites name"}
			if junk != 6 || len(cut) != 1 || cut[0] != want {
				t.Errorf("%d invented hosts are recorded, and told of as %+v", junk, cut)
			}
			return err
		})
		s.verified()
	})
}

// TestSitemapSpeaks has a sitemap of a.test name a page of b.test. The page is requested, and
// spared because of an old date in the next run, only if b.test or the configuration says that the
// sitemap speaks for it. If only pages of sitemaps are visited, the same is true of a page that
// b.test links to.
func TestSitemapSpeaks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, robots, more string
		files              map[string]string // of a.test
		asked              bool
	}{
		{"nobody says so", "", "", nil, false},
		{"its robots.txt does", "Sitemap: https://a.test/s.xml\n", "", nil, true},
		{"its robots.txt names an index", "Sitemap: https://a.test/i.xml\n", "", map[string]string{
			"/i.xml": "<sitemapindex><sitemap><loc>https://a.test/s.xml</loc></sitemap></sitemapindex>"}, true},
		{"the configuration of its entry does", "", "sitemaps = [\"https://a.test/s.xml\"]\n", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					if q.path == "/s.xml" {
						return reply{status: http.StatusOK, body: urlset("https://b.test/o", "https://b.test/1")}
					}
					if body, ok := tt.files[q.path]; ok {
						return reply{status: http.StatusOK, body: body}
					}
					return site("Sitemap: /s.xml\n", 1)(q)
				}
				s.host["b.test"] = func(q question) reply {
					r := site(tt.robots, 1)(q)
					if q.path == "/robots.txt" {
						r.wait = time.Minute // it is read after the sitemap
					}
					return r
				}
				cfg := ofTwo("", "") + tt.more
				s.crawl(cfg, 0)
				if page := s.survey()["b.test/o"]; page.visited != tt.asked {
					t.Errorf("/o is %+v, asked for: want %t", page, tt.asked)
				}
				s.verified()
				s.crawl(ofTwo("sitemaps = \"only\"\n", "")+tt.more, 0)
				s.verified()
				fresh := newPaperServers(t)
				fresh.host = s.host
				fresh.crawl(ofTwo("sitemaps = \"only\"\n", "")+tt.more, 0)
				fresh.verified()
				want := surveyed{state: "discovered"}
				if tt.asked {
					want = surveyed{state: "processed", visited: true}
				}
				if got := fresh.survey()["b.test/1"]; got != want {
					t.Errorf("with sitemaps alone, /1 is %+v, want %+v", got, want)
				}
			})
		})
	}
}

// verified checks that the records agree.
func (s *paperServers) verified() {
	s.t.Helper()
	s.surveyed(func(sv *survey.Survey) error { return survey.Check(sv, func(problem string) { s.t.Error(problem) }) })
}
