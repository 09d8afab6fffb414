package crawl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// rendering is the configuration of a crawl of a.test that renders the pages that need it, with
// further tables.
func rendering(tables string) string {
	if !strings.Contains(tables, "[render]\n") {
		tables = "[render]\nmode = \"auto\"\n" + tables
	}
	return crawltest.Paper(tables + "\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n")
}

// rendered crawls a web of "host/path" -> reply with a browser, to the end.
func rendered(t *testing.T, web map[string]reply, tables string, with ...func(*paperServers)) *paperServers {
	t.Helper()
	s := newPaperServers(t)
	s.browser = &crawltest.Browser{}
	keyRow{web: web}.serve(s)
	for _, set := range with {
		set(s)
	}
	s.crawl(rendering(tables), 0)
	crawltest.Verify(t, s.path)
	return s
}

// application is a web of shells whose pages are linked only by scripts.
func application(n int) map[string]reply {
	web := map[string]reply{
		"a.test/":              shell("/app.js"),
		"a.test/app.js":        script("get https://cdn.test/lib.js", "link /p1", "link /p2", "title shown"),
		"cdn.test/lib.js":      script("get /api/menu.json"),
		"a.test/api/menu.json": script("link https://b.test/"),
	}
	for i := 1; i <= n; i++ {
		web[fmt.Sprintf("a.test/p%d", i)] = shell("/app.js", fmt.Sprintf("/data%d.js", i))
		web[fmt.Sprintf("a.test/data%d.js", i)] = script(fmt.Sprintf("link /p%d", i%n+1),
			fmt.Sprintf("link /p%d", 2*i%n+1))
	}
	return web
}

// Pages that only scripts link to are found, each as its scripts build it, and scripts that many
// pages share are requested once.
func TestRendering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, application(9), "")
		visits := s.visits()
		for i := range 10 {
			url := "https://a.test/"
			if i > 0 {
				url = fmt.Sprintf("https://a.test/p%d", i)
			}
			v := visits[url]
			if v.State != schema.Processed || v.Rendering != schema.Rendered || v.Title != "shell" || v.Shell == 0 {
				t.Errorf("%s is %s, %b, %q", url, v.State, v.Rendering, v.Title)
			}
			if want := min(3+i, 4); v.RenderAsked != want {
				t.Errorf("%s asked for %d, want %d", url, v.RenderAsked, want)
			}
			if len(v.Links) == 0 || slices.ContainsFunc(v.Links, func(l schema.Link) bool { return !l.Rendered }) {
				t.Errorf("%s has links that are not of its rendering: %+v", url, v.Links)
			}
		}
		if n := strings.Count(strings.Join(s.requests("a.test"), " "), "/app.js"); n != 1 {
			t.Errorf("/app.js was asked for %d times", n)
		}
		if got, want := strings.Join(s.requests("cdn.test"), " "), "GET /robots.txt GET /lib.js"; got != want {
			t.Errorf("the host of the library was asked %s, want %s", got, want)
		}
		if h := s.hostRecord("a.test"); h.RunRequests != 10+1+1+9 {
			t.Errorf("%d requests count for the budget of a.test", h.RunRequests)
		}
	})
}

// A page with content is left alone, as is everything if mode is off or the host is not one of
// those named.
func TestRenderingLeftAlone(t *testing.T) {
	web := map[string]reply{
		"a.test/": {status: 200, body: `<title>x</title><p>` + strings.Repeat("Much to read. ", 100) +
			`<a href="/b">b</a></p><script src="/app.js"></script>`},
		"a.test/b":      {status: 200, body: `<a href="https://c.test/">x</a>`},
		"c.test/":       shell("/app.js"),
		"c.test/app.js": script("link /never"),
	}
	for _, tt := range []struct{ tables, looked string }{
		{"[render]\nmode = \"auto\"\n", ""},
		{"[render]\nmode = \"always\"\n", "a.test/ a.test/b"},
		{"[render]\nmode = \"off\"\ndomains = [\"c.test\"]\n", ""},
		{"[render]\nmode = \"auto\"\ndomains = [\"c.test\"]\n", "c.test/"},
	} {
		t.Run(tt.tables, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rendered(t, web, tt.tables)
				var looked []string
				for url := range s.browser.Looks {
					looked = append(looked, strings.TrimPrefix(url, "https://"))
				}
				slices.Sort(looked)
				if got := strings.Join(looked, " "); got != tt.looked {
					t.Errorf("looked at %s, want %s", got, tt.looked)
				}
			})
		})
	}
}

// disallow is a robots.txt with a rule for all.
func disallow(rule string) reply { return reply{status: 200, body: "User-agent: *\n" + rule + "\n"} }

// Reasons why a resource is refused to a page, and how they are reported.
func TestRenderingRefused(t *testing.T) {
	one := func(web map[string]reply) map[string]reply {
		web["a.test/"] = shell("/app.js")
		if _, ok := web["a.test/app.js"]; !ok {
			web["a.test/app.js"] = script("link /b", "get https://cdn.test/lib.js")
		}
		if _, ok := web["cdn.test/lib.js"]; !ok {
			web["cdn.test/lib.js"] = script("link /c")
		}
		return web
	}
	loud := map[string]reply{"a.test/app.js": script("link /b", "get /1.js", "get /2.js", "get /3.js", "get /4.js")}
	failures := func(cause fetch.Cause) map[string]reply {
		return one(map[string]reply{"cdn.test/lib.js": {cause: cause}})
	}
	tests := []struct {
		name, tables string
		web          map[string]reply
		want         schema.Rendering
		links        int
		asked        string // of cdn.test, without robots.txt
	}{
		{"nothing", "", one(map[string]reply{}), 0, 2, "/lib.js"},
		{"robots.txt of another host", "", one(map[string]reply{"cdn.test/robots.txt": disallow("Disallow: /lib")}),
			schema.RenderDenied, 1, ""},
		{"robots.txt of the host", "", one(map[string]reply{"a.test/robots.txt": disallow("Disallow: /*.js$")}),
			schema.RenderDenied | schema.RenderEmpty, 0, ""},
		{"the blacklist", "[[blacklist]]\ndomain = \"cdn.test\"\n", one(map[string]reply{}), schema.RenderRefused, 1,
			""},
		{"the stub list", "[[stub]]\ndomain = \"cdn.test\"\n", one(map[string]reply{}), schema.RenderRefused, 1, ""},
		{"a pattern", "[[blacklist]]\nurl = '/lib\\.js$'\n", one(map[string]reply{}), schema.RenderRefused, 1, ""},
		{"a redirect", "", one(map[string]reply{"cdn.test/lib.js": redirect("https://cdn.test/new.js"),
			"cdn.test/new.js": script("link /c")}), 0, 2, "/lib.js /new.js"},
		{"http", "", one(map[string]reply{"a.test/app.js": script("link /b", "get http://cdn.test/lib.js")}),
			schema.RenderRefused, 1, ""},
		{"a Crawl-delay beyond what is waited for", "", one(map[string]reply{
			"cdn.test/robots.txt": disallow("Crawl-delay: 400")}), schema.RenderRefused, 1, ""},
		{"a host that refuses", "", failures(fetch.Refused), schema.RenderRefused, 1, "/lib.js"},
		{"a host that is silent", "[retry]\nmax-retries = 1\n", failures(fetch.Timeout), schema.RenderRefused, 1,
			"/lib.js /lib.js"},
		{"a failure of the server", "[retry]\nmax-retries = 2\n",
			one(map[string]reply{"cdn.test/lib.js": {status: 500}}), 0, 1, "/lib.js /lib.js /lib.js"},
		{"one failure of the server", "", map[string]reply{"a.test/": shell("https://cdn.test/lib.js"),
			"cdn.test/lib.js#0": {status: 500}, "cdn.test/lib.js#1": script("link /b", "link /c")}, 0, 2,
			"/lib.js /lib.js"},
		{"a host that asks for rest once too often", "[politeness]\nmax-rate-limits = 2\n",
			one(map[string]reply{"cdn.test/lib.js": {status: 429}}), schema.RenderRefused, 1, "/lib.js /lib.js"},
		{"what is not there", "", one(map[string]reply{"cdn.test/lib.js": {status: 404}}), 0, 1, "/lib.js"},
		{"max-requests", "[render]\nmode = \"auto\"\nmax-requests = 3\n", one(loud), schema.RenderCut, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := rendered(t, tt.web, tt.tables)
				v := s.visits()["https://a.test/"]
				if v.State != schema.Processed || v.Rendering != tt.want|schema.Rendered || len(v.Links) != tt.links {
					t.Errorf("%s, %b with %d links; want %b with %d", v.State, v.Rendering, len(v.Links),
						tt.want|schema.Rendered, tt.links)
				}
				asked := strings.ReplaceAll(strings.Join(s.requests("cdn.test"), " "), "GET ", "")
				if asked = strings.TrimSpace(strings.ReplaceAll(asked, "/robots.txt", "")); asked != tt.asked {
					t.Errorf("asked for %q, want %q", asked, tt.asked)
				}
			})
		})
	}
}

// A page that nothing can be shown of without sending is recorded as still empty, with what it wanted to send.
func TestRenderingSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, map[string]reply{"a.test/": shell("/app.js"),
			"a.test/app.js": script("post /graphql", "post /log")}, "")
		v := s.visits()["https://a.test/"]
		if v.Rendering != schema.Rendered|schema.RenderEmpty || v.Refusals != (schema.Refusals{schema.RefusedPost: 2}) {
			t.Errorf("the page is %q", v.Rendering.Tell(v.Shell, v.Refusals))
		}
	})
}

// If the budget ends while a page is rendered, the page is visited with what there is.
func TestRenderingBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, application(9), "[crawler]\nmax-domain-requests = 4\n")
		if h := s.hostRecord("a.test"); h.RunRequests != 4 {
			t.Errorf("%d requests were made, of 4", h.RunRequests)
		}
		var cut []string
		for url, v := range s.visits() {
			if v.State == schema.Processed && v.Rendering == schema.Rendered|schema.RenderBudget {
				cut = append(cut, url)
			}
		}
		if v := s.visits()["https://a.test/"]; v.Rendering != schema.Rendered || len(cut) != 1 {
			t.Errorf("the front page is %b, and %q are cut", v.Rendering, cut)
		}
	})
}

// When pages that are being rendered reach max-pages, their resources are still requested.
func TestRenderingMaxPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, application(9), "[crawler]\nmax-pages = 3\n")
		n := 0
		for _, v := range s.visits() {
			if n++; v.State == schema.Processed && v.Rendering != schema.Rendered {
				t.Errorf("a page is %b", v.Rendering)
			}
		}
		if n != 3 {
			t.Errorf("%d pages were visited, of 3", n)
		}
	})
}

// A browser that fails is retried; after the last try the page is as it was fetched.
func TestRenderingFails(t *testing.T) {
	for _, tt := range []struct {
		fails int
		want  schema.Rendering
		pages int
	}{{3, schema.Rendered, 10}, {4, schema.RenderFailed, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := rendered(t, application(9), "", func(s *paperServers) {
				s.browser.Fail = func(url string, n int) error {
					if url == "https://a.test/" && n < tt.fails {
						return errors.New("crashed")
					}
					return nil
				}
			})
			visits := s.visits()
			if v := visits["https://a.test/"]; v.State != schema.Processed || v.Rendering != tt.want ||
				v.Title != "shell" {
				t.Errorf("after %d failures: %s, %b, %q", tt.fails, v.State, v.Rendering, v.Title)
			}
			if n := strings.Count(strings.Join(s.requests("a.test"), " ")+" ", "GET / "); n != 1 {
				t.Errorf("the page was fetched %d times", n)
			}
			if len(visits) < tt.pages {
				t.Errorf("%d pages were visited, want %d", len(visits), tt.pages)
			}
			s.view(func(_ *kv.Store, tx *kv.Tx) error {
				run, err := tx.Runs.At(1)
				failed := 0
				if tt.want == schema.RenderFailed {
					failed = 1
				}
				if run.Rendered != tt.pages-failed || run.Unrendered != failed {
					t.Errorf("the run counts %d pages as rendered, %d as not, of %d; want %d as not", run.Rendered,
						run.Unrendered, run.Pages, failed)
				}
				return err
			})
		})
	}
}

// A rendering that takes too long fails, and so does a page that is too large.
func TestRenderingLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, application(2), "[render]\nmode = \"auto\"\ntimeout = \"20s\"\n", func(s *paperServers) {
			s.browser.Takes = 21 * time.Second
		})
		if v := s.visits()["https://a.test/"]; v.Rendering != schema.RenderTimedOut {
			t.Errorf("a look that takes 21 s: %b", v.Rendering)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, map[string]reply{"a.test/": shell("/a.js"), "a.test/a.js": script("large")}, "")
		if v := s.visits()["https://a.test/"]; v.Rendering != schema.RenderTooLarge || v.Title != "shell" {
			t.Errorf("a page that is too large: %b, %q", v.Rendering, v.Title)
		}
	})
}

// Answers that do not fit are refused, and a page for which there is no room is as it was fetched.
func TestRenderingRoom(t *testing.T) {
	web := map[string]reply{"a.test/": shell("/a.js"), "a.test/a.js": script("link /b", strings.Repeat("#", 2000))}
	for room, want := range map[int64]schema.Rendering{
		100: schema.RenderBudget, 1000: schema.Rendered | schema.RenderBudget | schema.RenderEmpty, 5000: schema.Rendered,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := rendered(t, web, "", func(s *paperServers) { s.room = room })
			if v := s.visits()["https://a.test/"]; v.State != schema.Processed || v.Rendering != want {
				t.Errorf("with %d bytes: %s, %b; want %b", room, v.State, v.Rendering, want)
			}
		})
	}
}

// Addresses to which a page tries to navigate are recorded as refresh links, and the browser does
// not follow them.
func TestRenderingNavigations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, map[string]reply{
			"a.test/": shell("/a.js"), "a.test/a.js": script("link /b", "go /b", "go https://c.test/x", "go /",
				"go mailto:x"),
		}, "")
		var kinds []string
		s.view(func(_ *kv.Store, tx *kv.Tx) error {
			for _, l := range s.visits()["https://a.test/"].Links {
				norm, err := tx.URLs.Norm(l.To)
				if err != nil {
					return err
				}
				kinds = append(kinds, fmt.Sprint(norm, l.Kinds.Has(schema.LinkAnchor), l.Kinds.Has(schema.LinkRefresh),
					l.Rendered))
			}
			return nil
		})
		slices.Sort(kinds)
		want := []string{"https://a.test/btrue true true", "https://c.test/xfalse true true"}
		if !slices.Equal(kinds, want) {
			t.Errorf("%q, want %q", kinds, want)
		}
	})
}

// The map is the same for any number of browsers, requests and commits at a time, and wherever a
// crawl is killed.
func TestRenderingOneDigest(t *testing.T) {
	t.Parallel()
	web := application(12)
	var digest string
	check := func(how string, s *paperServers) {
		t.Helper()
		got := crawltest.Digest(t, s.path)
		if digest == "" {
			digest = got
		}
		if got != digest {
			t.Errorf("another digest with %s", how)
		}
	}
	for _, browsers := range []int{1, 4} {
		for _, open := range []int{1, 10} {
			synctest.Test(t, func(t *testing.T) {
				how := fmt.Sprintf("[render]\nmode = \"auto\"\nmax-browsers = %d\n"+
					"[crawler]\nmax-concurrent-pages-open = %d\n"+
					"[politeness]\nmax-parallel-per-domain = %d\n", browsers, open, min(open, 3))
				s := rendered(t, web, how, func(s *paperServers) { s.browser.Takes = 700 * time.Millisecond })
				check(how, s)
				if s.browser.Most > browsers {
					t.Errorf("%d browsers at a time, of %d", s.browser.Most, browsers)
				}
			})
		}
	}
	seed := crawltest.Seed(t)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.browser, s.most = &crawltest.Browser{Takes: time.Second}, 1+random.IntN(5)
			keyRow{web: web}.serve(s)
			for range 1 + random.IntN(4) {
				s.crawl(rendering(""), time.Duration(1+random.IntN(20_000))*time.Millisecond)
				crawltest.Verify(t, s.path)
			}
			s.crawl(rendering(""), 0)
			check("kills", s)
			spared(t, s)
		})
	}
}

// spared fails the test if a host was requested too soon.
func spared(t *testing.T, s *paperServers) {
	t.Helper()
	for _, host := range []string{"a.test", "cdn.test", "b.test"} {
		at := s.arrivals(host)
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < 0.999 {
				t.Errorf("%s was asked %.3f s after it was asked before", host, gap)
			}
		}
	}
}

// Requests of scripts obey the clocks of their hosts, including Crawl-delay and suspensions, and
// robots.txt comes first.
func TestRenderingPolite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := application(9)
		web["cdn.test/robots.txt"] = reply{status: 200, body: "User-agent: *\nCrawl-delay: 7\n"}
		for i := 1; i < 5; i++ {
			web[fmt.Sprintf("a.test/data%d.js", i)] = script(fmt.Sprintf("get https://cdn.test/%d.js", i))
			web[fmt.Sprintf("cdn.test/%d.js", i)] = script("link /p5")
		}
		s := rendered(t, web, "")
		spared(t, s)
		if first := s.requests("cdn.test")[0]; first != "GET /robots.txt" {
			t.Errorf("first cdn.test is asked %s", first)
		}
		at := s.arrivals("cdn.test")
		if len(at) < 4 {
			t.Fatalf("cdn.test was asked %d times", len(at))
		}
		for i := 1; i < len(at); i++ {
			if gap := at[i] - at[i-1]; gap < 6.999 {
				t.Errorf("cdn.test was asked after %.3f s, with a Crawl-delay of 7 s", gap)
			}
		}
		for _, v := range s.visits() {
			if v.State == schema.Processed && v.Rendering&^schema.Rendered != 0 {
				t.Errorf("a page is %b", v.Rendering)
			}
		}
	})
}

// The next run requests a rendered page without conditions.
func TestRenderingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := map[string]reply{"a.test/": shell("/a.js"), "a.test/a.js": script("link /b"),
			"a.test/b": {status: 200, body: "<p>b</p>"}}
		for _, path := range []string{"a.test/", "a.test/b"} {
			r := web[path]
			r.header = map[string][]string{"Content-Type": {"text/html"}, "Etag": {`"1"`}}
			web[path] = r
		}
		var conditional []string
		s := rendered(t, web, "", func(s *paperServers) {
			serve := s.other
			s.other = func(q question) reply {
				if q.step.ETag != "" {
					conditional = append(conditional, q.path)
				}
				return serve(q)
			}
		})
		s.complete()
		time.Sleep(48 * time.Hour)
		s.crawl(rendering(""), 0)
		if got := strings.Join(conditional, " "); got != "/b" {
			t.Errorf("asked with conditions: %q, want /b alone", got)
		}
	})
}

// Refusals are answers of a run, too: what a host does not give to one page it gives to none.
func TestRenderingAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := application(9)
		web["a.test/robots.txt"] = reply{status: 200, body: "User-agent: *\nDisallow: /api/\n"}
		web["cdn.test/lib.js"] = reply{cause: fetch.Refused}
		s := rendered(t, web, "")
		if got := strings.Join(s.requests("cdn.test"), " "); got != "GET /robots.txt GET /lib.js" {
			t.Errorf("cdn.test was asked %s", got)
		}
		if strings.Contains(strings.Join(s.requests("a.test"), " "), "/api/") {
			t.Error("what robots.txt forbids was asked for")
		}
		if v := s.visits()["https://a.test/p3"]; v.Rendering != schema.Rendered|schema.RenderRefused {
			t.Errorf("a page is %b", v.Rendering)
		}
	})
}
