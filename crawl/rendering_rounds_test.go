package crawl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// However many rounds a page needs, because others have requested its scripts before or not, it is recorded the same.
func TestRenderingRounds(t *testing.T) {
	t.Parallel()
	const deep = 12
	tables := "[render]\nmode = \"auto\"\n[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"
	digests := map[string]bool{}
	for _, late := range []map[string]time.Duration{{}, {"a.test": 6 * time.Second}, {"b.test": 6 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			web := map[string]reply{}
			for _, host := range []string{"a.test", "b.test"} {
				front := shell("https://cdn.test/1.js")
				front.wait = late[host]
				web[host+"/"] = front
			}
			for i := 1; i <= deep; i++ {
				lines := []string{fmt.Sprintf("link /p%d", i)}
				if i < deep {
					lines = append(lines, fmt.Sprintf("get https://cdn.test/%d.js", i+1))
				}
				web[fmt.Sprintf("cdn.test/%d.js", i)] = script(lines...)
			}
			s := rendered(t, web, tables)
			digests[crawltest.Digest(t, s.path)] = true
			for _, url := range []string{"https://a.test/", "https://b.test/"} {
				if v := s.visits()[url]; v.Rendering != schema.Rendered || len(v.Links) != deep {
					t.Errorf("%s is %b, with %d of %d links", url, v.Rendering, len(v.Links), deep)
				}
			}
		})
	}
	if len(digests) != 1 {
		t.Errorf("%d digests", len(digests))
	}
}

// All rounds and tries of a page together get max-retries + 1 times the timeout of the browser's time. A page that
// needs more is as it was fetched.
func TestRenderingTime(t *testing.T) {
	web := map[string]reply{"a.test/": shell("/1.js"), "a.test/5.js": script("link /b")}
	for i := 1; i < 5; i++ {
		web[fmt.Sprintf("a.test/%d.js", i)] = script(fmt.Sprintf("get /%d.js", i+1))
	}
	for takes, want := range map[time.Duration]schema.Rendering{
		3 * time.Second: schema.Rendered, // 18 s in six rounds; the last one needs no further one
		5 * time.Second: schema.RenderTimedOut,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := rendered(t, web, "[render]\nmode = \"auto\"\ntimeout = \"10s\"\n[retry]\nmax-retries = 1\n",
				func(s *paperServers) { s.browser.Takes = takes })
			v := s.visits()["https://a.test/"]
			if v.State != schema.Processed || v.Rendering != want || v.Title != "shell" {
				t.Errorf("with rounds of %s: %s, %b, %q; want %b", takes, v.State, v.Rendering, v.Title, want)
			}
			if n := s.browser.Looks["https://a.test/"]; takes == 5*time.Second && n != 4 {
				t.Errorf("with rounds of %s: %d rounds, want 4", takes, n)
			}
		})
	}
}

// A host with pages that never end costs a browser once for each, and other hosts' pages come first. If the browser
// gets too little processor time, pages are tried again.
func TestRenderingEndless(t *testing.T) {
	const many = 12
	web := map[string]reply{"a.test/": links("/1"), "b.test/": shell("/b.js")}
	for i := 1; i <= many; i++ {
		page := shell("/a.js")
		page.body += fmt.Sprintf("<a href=/%d>", i+1)
		web[fmt.Sprintf("a.test/%d", i)] = page
	}
	web["a.test/a.js"], web["b.test/b.js"] = script("link /"), script("link /x")
	const tables = "[render]\nmode = \"auto\"\nmax-browsers = 1\ntimeout = \"10s\"\n[retry]\nmax-retries = 2\n" +
		"[[quality]]\ndomain = \"b.test\"\nseeds = [\"https://b.test/\"]\n"
	for _, starved := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := rendered(t, web, tables, func(s *paperServers) {
				s.browser.Endless = func(url string) bool { return strings.HasPrefix(url, "https://a.test/") }
				s.browser.Starved = starved
			})
			timedOut, failed, once, looks := 0, 0, 0, 0
			for url, v := range s.visits() {
				if !s.browser.Endless(url) || v.Rendering == 0 {
					continue
				}
				looks += s.browser.Looks[url]
				switch {
				case v.Rendering&schema.RenderTimedOut != 0:
					timedOut++
				case v.Rendering&schema.RenderFailed != 0:
					failed++
				}
				if v.Rendering&schema.RenderOnce != 0 {
					once++
				}
			}
			got, want := [4]int{timedOut, failed, once, looks}, [4]int{many, 0, many - 3, many}
			if starved {
				want = [4]int{0, many, 0, 3 * many}
			}
			if got != want {
				t.Errorf("timed out, failed, tried once, tries: %v, want %v", got, want)
			}
			if v := s.visits()["https://b.test/"]; v.Rendering != schema.Rendered {
				t.Errorf("the page of another host is %b", v.Rendering)
			}
		})
	}
}

// What scripts have requested is not requested again after a kill, and its host's budget pays once.
func TestRenderingAsksOnceOverKills(t *testing.T) {
	t.Parallel()
	for _, killed := range []int{3, 6, 9, 12, 15} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.browser = &crawltest.Browser{}
			web := application(9)
			web["a.test/gone.js"] = reply{cause: fetch.Refused}
			web["a.test/p2"] = shell("/app.js", "/gone.js")
			keyRow{web: web}.serve(s)
			s.crawl(rendering(""), time.Duration(killed)*time.Second+500*time.Millisecond)
			before := len(s.requests("a.test"))
			s.crawl(rendering(""), 0)
			counts, paid := map[string]int{}, 0
			for i, request := range s.requests("a.test") {
				if counts[request]++; !strings.HasSuffix(request, "/robots.txt") {
					paid++
				}
				if strings.Contains(request, ".js") && counts[request] > 1 {
					t.Errorf("%s is requested again, as number %d; the kill was after %d", request, i, before)
				}
			}
			if n := strings.Count(strings.Join(s.requests("cdn.test"), " "), "/lib.js"); n != 1 {
				t.Errorf("cdn.test is asked %d times for its script", n)
			}
			if h := s.hostRecord("a.test"); h.RunRequests != paid {
				t.Errorf("the budget of a.test paid for %d of %d requests", h.RunRequests, paid)
			}
			if _, err := os.Stat(answersPath(s.path)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("after the run, its answers are kept: %v", err)
			}
		})
	}
}

// After a kill it is known which hosts have pages that never end: their further pages have one try each.
func TestRenderingEndlessOverKills(t *testing.T) {
	const many = 12
	web := map[string]reply{"a.test/": links("/1"), "a.test/a.js": script("link /")}
	for i := 1; i <= many; i++ {
		page := shell("/a.js")
		page.body += fmt.Sprintf("<a href=/%d>", i+1)
		web[fmt.Sprintf("a.test/%d", i)] = page
	}
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.browser = &crawltest.Browser{Endless: func(string) bool { return true }}
		keyRow{web: web}.serve(s)
		text := rendering("[render]\nmode = \"auto\"\nmax-browsers = 1\ntimeout = \"10s\"\n")
		for range 5 {
			s.crawl(text, 23500*time.Millisecond) // two pages
		}
		s.crawl(text, 0)
		timedOut, once := 0, 0
		for _, v := range s.visits() {
			if v.Rendering&schema.RenderTimedOut != 0 {
				timedOut++
			}
			if v.Rendering&schema.RenderOnce != 0 {
				once++
			}
		}
		if timedOut != many || once != many-3 {
			t.Errorf("%d pages ran out of time, %d were tried once; want %d and %d", timedOut, once, many, many-3)
		}
		crawltest.EachHost(t, s.path, func(h *survey.HostReport) {
			if h.TimedOut != timedOut || h.TriedOnce != once {
				t.Errorf("the host is shown with %d and %d", h.TimedOut, h.TriedOnce)
			}
		})
	})
}

// The scripts that a page names are there when it is rendered the first time.
func TestRenderingNamedScripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rendered(t, application(9), "")
		for i := 1; i <= 9; i++ {
			if url := fmt.Sprintf("https://a.test/p%d", i); s.browser.Looks[url] != 1 {
				t.Errorf("%s was rendered %d times", url, s.browser.Looks[url])
			}
		}
		if n := s.browser.Looks["https://a.test/"]; n != 3 {
			t.Errorf("the front page, two of whose scripts are named by scripts, was rendered %d times", n)
		}
	})
}
