package crawl

import (
	"fmt"
	"maps"
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

// anubis is a wall with status 200 that names its own resources.
func anubis() reply {
	return reply{status: http.StatusOK, body: `<title>Making sure you're not a bot!</title><meta name=robots content=noindex>` +
		`<script id="anubis_challenge" type="application/json">{}</script>` +
		`<meta http-equiv=refresh content="1; url=/pass-challenge?x=1">` +
		`<a href="https://maker.test/">Protected by</a>`}
}

// with returns a reply with another status and type.
func (r reply) with(status int, contentType string) reply {
	r.status, r.header = status, http.Header{"Content-Type": {contentType}}
	return r
}

// mitigated is a wall that only its header shows.
func mitigated(status int) reply {
	return reply{status: status, header: http.Header{"Cf-Mitigated": {"challenge"}, "Content-Type": {"text/html"}},
		body: `<a href="/own">x</a><a href="https://maker.test/">y</a>`}
}

// terrainOf returns the pages and links of a state file, without what a run alone decides.
func (s *paperServers) terrainOf() (pages, links []string) {
	s.surveyed(func(sv *survey.Survey) error {
		names := map[schema.ID]string{}
		err := sv.EachPage(func(p *survey.Page) error {
			names[p.ID] = p.URL
			pages = append(pages, fmt.Sprintf("%s %s %d %d", p.URL, p.State, p.Depth, p.LinkCount))
			return nil
		})
		if err != nil {
			return err
		}
		return sv.Links.Each(func(from schema.ID, l schema.Link, _, _ schema.RunID) error {
			links = append(links, fmt.Sprintf("%s -> %s", names[from], names[l.To]))
			return nil
		})
	})
	slices.Sort(pages)
	slices.Sort(links)
	return pages, links
}

// A site that shows only walls in a later run loses nothing, however long that lasts. It is requested three times in
// the first such run and once in the next.
func TestWalledLater(t *testing.T) {
	t.Parallel()
	for name, wall := range map[string]reply{
		"anubis": anubis(), "200": mitigated(200), "202": mitigated(202), "403": mitigated(403), "503": mitigated(503),
		"429": mitigated(429),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				walled := false
				real := site("", 8)
				s.host["a.test"] = func(q question) reply {
					if walled && q.path != "/robots.txt" {
						return wall
					}
					return real(q)
				}
				text := politeConfig(map[string]string{"recrawl": `min-age = "0s"`})
				var pages, links []string
				for run, want := range []int{9, 3, 1, 9} {
					walled = run == 1 || run == 2
					before := len(s.requests("a.test"))
					s.crawl(text, 0)
					s.completed()
					asked := 0
					for _, r := range s.requests("a.test")[before:] {
						if !strings.Contains(r, "robots.txt") {
							asked++
						}
					}
					if asked != want && (name != "429" || asked > want) { // a 429 suspends the host as well
						t.Errorf("run %d: %d pages were requested, want %d", run+1, asked, want)
					}
					nowPages, nowLinks := s.terrainOf()
					if run == 0 {
						pages, links = nowPages, nowLinks
					}
					if !slices.Equal(pages, nowPages) || !slices.Equal(links, nowLinks) {
						t.Errorf("run %d: the terrain is\n%s\n%s\nit was\n%s\n%s", run+1, nowPages, nowLinks, pages, links)
					}
					front := s.visits()["https://a.test/"]
					if got := front.Answer == schema.AnswerChallenge; got != walled || front.State != schema.Processed {
						t.Errorf("run %d: the front page is %s, answer %q", run+1, front.State, front.Answer)
					}
					crawltest.Verify(t, s.path)
					time.Sleep(48 * time.Hour)
				}
			})
		})
	}
}

// A failure between a real visit and a wall does not hide what the real one found.
func TestWalledAfterFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		real, now := site("", 4), reply{}
		s.host["a.test"] = func(q question) reply {
			if now.status != 0 && q.path != "/robots.txt" {
				return now
			}
			return real(q)
		}
		text := politeConfig(map[string]string{"recrawl": `min-age = "0s"`, "retry": "max-retries = 0"})
		s.crawl(text, 0)
		s.completed()
		pages, links := s.terrainOf()
		for _, now = range []reply{{status: http.StatusInternalServerError}, mitigated(403)} {
			time.Sleep(48 * time.Hour)
			s.crawl(text, 0)
			s.completed()
		}
		nowPages, nowLinks := s.terrainOf()
		if !slices.Contains(nowPages, pages[0]) || len(nowLinks) != len(links) {
			t.Errorf("the terrain is\n%s\n%s\nit was\n%s\n%s", nowPages, nowLinks, pages, links)
		}
		crawltest.Verify(t, s.path)
	})
}

// Only walls without an answer between them are in a row.
func TestWallsInARow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		n := 0
		s.host["a.test"] = pages(map[string]reply{"/": links("https://b.test/1", "https://b.test/2", "https://b.test/3",
			"https://b.test/4", "https://b.test/5", "https://b.test/6", "https://b.test/7")})
		s.host["b.test"] = func(q question) reply {
			if n++; q.path == "/robots.txt" || n%2 == 0 {
				return reply{status: http.StatusNotFound}
			}
			return anubis()
		}
		s.crawl(politeConfig(nil), 0)
		if h := s.hostRecord("b.test"); h.RunGivenUp != schema.NotGivenUp || h.RunVisited != 7 {
			t.Errorf("b.test: %d, %d pages visited", h.RunGivenUp, h.RunVisited)
		}
	})
}

// A site that shows walls from the start is given up after three, nothing of them enters the map, and the host's
// waits hold all the same.
func TestWalledFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			switch q.path {
			case "/robots.txt", "/sitemap.xml":
				return reply{status: http.StatusNotFound}
			case "/1", "/2", "/3", "/4", "/5":
				return anubis()
			}
			return links("/1", "/2", "/3", "/4", "/5", "https://b.test/1", "https://b.test/2", "https://b.test/3", "https://b.test/4")
		}
		s.host["b.test"] = func(q question) reply {
			if q.path == "/robots.txt" {
				return reply{status: http.StatusNotFound}
			}
			return anubis()
		}
		s.crawl(politeConfig(nil), 0)
		s.completed()
		visits := s.visits()
		for url, v := range visits {
			walled := v.Reason.Cause == schema.CauseChallenge
			if want := url != "https://a.test/"; walled != want || walled && (v.State != schema.Failed ||
				v.Answer != schema.AnswerChallenge || v.AnswerRule != "anubis-challenge" || len(v.Links) > 0 || v.Title != "") {
				t.Errorf("%s is %s: %s", url, v.State, v.Reason.String())
			}
		}
		if len(visits) != 1+5+3 { // a.test has shown a page
			t.Errorf("visited are %v", slices.Sorted(maps.Keys(visits)))
		}
		hosts := map[string]*schema.Host{}
		s.view(func(_ *kv.Store, tx *kv.Tx) error {
			return tx.Hosts.Each(1, func(h *schema.Host) (bool, error) {
				hosts[h.Name] = h
				return true, nil
			})
		})
		if h := hosts["b.test"]; h == nil || h.RunGivenUp != schema.GaveUpWall || h.RunGivenUpWhy.String() != "walled: Anubis" {
			t.Errorf("b.test: %+v", h)
		}
		if hosts["maker.test"] != nil || hosts["a.test"].RunGivenUp != schema.NotGivenUp {
			t.Errorf("hosts %v", slices.Sorted(maps.Keys(hosts)))
		}
	})
}

// Walls on URLs that only other hosts name end the requests to such URLs alone: after three in the first run, and after
// one in the next. A URL that becomes the host's own is requested all the same, unless the run has kept it by then.
func TestWalledOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var others []string
		for _, p := range paths(9) {
			others = append(others, "https://c.test"+p)
		}
		s.host["a.test"] = pages(map[string]reply{
			"/": links("https://b.test/", "https://c.test/own", "/late1"), "/late1": links("/late2"), "/late2": links("/late3"),
			"/late3": links("/late4"), "/late4": links("/late5"), "/late5": links("https://c.test/9"),
		})
		s.host["b.test"] = pages(map[string]reply{"/": links(others...)})
		s.host["c.test"] = func(q question) reply {
			switch q.path {
			case "/robots.txt":
				return reply{status: http.StatusNotFound}
			case "/own", "/9":
				return links("https://d.test" + q.path)
			}
			return anubis()
		}
		text := politeConfig(map[string]string{
			"crawler": "max-depth = 3\nminimum-time-on-page = 10000", "recrawl": `min-age = "0s"`,
		})
		for run, want := range []struct{ own, others int }{{2, 3}, {1, 1}} {
			before := len(s.requests("c.test"))
			s.crawl(text, 0)
			s.completed()
			own, other := 0, 0
			for _, r := range s.requests("c.test")[before:] {
				switch {
				case strings.Contains(r, "/own"), strings.HasSuffix(r, "/9"):
					own++
				case !strings.Contains(r, "robots.txt"):
					other++
				}
			}
			h := s.hostRecord("c.test")
			if own != want.own || other != want.others || h.RunGivenUp != schema.NotGivenUp || !h.RunOthersEnded {
				t.Errorf("run %d: %d own and %d other pages were requested: %v", run+1, own, other, s.requests("c.test")[before:])
			}
			s.surveyed(func(sv *survey.Survey) error {
				r, err := sv.Hosts.Report(h.ID)
				if err == nil && (!strings.Contains(r.Coverage, "refused: URLs that only other hosts name") || r.Waiting > 0) {
					t.Errorf("run %d: coverage %q, %d waiting", run+1, r.Coverage, r.Waiting)
				}
				return err
			})
			crawltest.Verify(t, s.path)
			time.Sleep(48 * time.Hour)
		}
	})
}

// A wall in front of robots.txt allows nothing; neither does a success that is no answer. No content is no rules, and
// a web page is read as rules.
func TestWalledRobots(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		robots reply
		asked  bool
	}{
		{"anubis", anubis(), false},
		{"header", mitigated(200), false},
		{"forbidden", mitigated(403), false},
		{"forbidden, by its body", anubis().with(http.StatusForbidden, "text/html"), false},
		{"missing, by its body, without a type", anubis().with(http.StatusNotFound, ""), false},
		{"plain text, by its body", anubis().with(http.StatusOK, "text/plain"), false},
		{"accepted", reply{status: http.StatusAccepted}, false},
		{"partial", reply{status: http.StatusPartialContent}, false},
		{"no content", reply{status: http.StatusNoContent}, true},
		{"a 403 without a wall", reply{status: http.StatusForbidden}, true},
		{"a web page", reply{status: http.StatusOK, body: "<title>Home</title>"}, true},
		{"a web page with rules", reply{status: http.StatusOK, body: "<html><pre>\nUser-agent: *\nDisallow: /\n</pre>"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					if q.path == "/robots.txt" {
						return tt.robots
					}
					return reply{status: http.StatusOK}
				}
				s.crawl(politeConfig(nil), 0)
				asked := slices.ContainsFunc(s.requests("a.test"), func(r string) bool { return !strings.Contains(r, "robots.txt") })
				if asked != tt.asked {
					t.Errorf("requests %v", s.requests("a.test"))
				}
				id := s.hostRecord("a.test").ID
				s.surveyed(func(sv *survey.Survey) error {
					r, err := sv.Hosts.Report(id)
					page := err == nil && strings.HasSuffix(r.Coverage, "; robots.txt is a web page")
					if want := strings.HasPrefix(tt.name, "a web page"); err == nil && page != want {
						t.Errorf("coverage %q", r.Coverage)
					}
					isWall := !tt.asked && tt.robots.status != http.StatusAccepted && tt.robots.status != http.StatusPartialContent
					if want := isWall && tt.name != "a web page with rules"; err == nil && (r.Wall != "") != want {
						t.Errorf("wall %q", r.Wall)
					}
					return err
				})
			})
		})
	}
}

// A wall that no rule knows is suspected where nearly every page is the same interstitial, and neither at an honest site
// of short pages, nor at a gallery without words or one that its scripts build. Nothing else changes: the pages are processed.
func TestSuspectedWall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var targets []string
		for name, body := range map[string]func(q question) string{
			"wall.test": func(q question) string {
				return "<title>One moment</title><p>Checking the connection. Request " + q.path + " at 12:0" + q.path[2:] +
					`:00.</p><a href="https://maker.test/">Protected</a>`
			},
			"thin.test": func(q question) string {
				return "<title>Our house</title><p>Come and see us.</p><a href=/about>About us</a>"
			},
			"photos.test": func(q question) string {
				return "<title>Gallery</title><main><img src=/photos" + q.path + ".jpg></main>"
			},
			"gallery.test": func(q question) string {
				return `<title>Gallery</title><div id=root></div><noscript>You need to enable JavaScript to run this app.` +
					`</noscript><script src=/static/js/main.4f3a2b1c.js></script>`
			},
		} {
			for i := range 10 {
				targets = append(targets, fmt.Sprintf("https://%s/p%d", name, i))
			}
			s.host[name] = func(q question) reply {
				if q.path == "/robots.txt" {
					return reply{status: http.StatusNotFound}
				}
				return reply{status: http.StatusOK, body: body(q)}
			}
		}
		s.host["a.test"] = func(q question) reply {
			if q.path != "/" {
				return reply{status: http.StatusNotFound}
			}
			return links(targets...)
		}
		s.crawl(politeConfig(map[string]string{}), 0)
		s.completed()
		s.surveyed(func(sv *survey.Survey) error {
			return sv.Hosts.Each(func(r *survey.HostReport) error {
				want := map[string]string{"wall.test": survey.WallSuspected}[r.Host.Name]
				if r.Wall != want || r.Known >= 10 && r.Known != r.Processed {
					t.Errorf("%s: %q, %d pages; want %q", r.Host.Name, r.Wall, r.Processed, want)
				}
				return nil
			})
		})
	})
}
