package crawl

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/schema"
)

func redirect(to string) reply {
	return reply{status: http.StatusFound, header: http.Header{"Location": {to}}}
}

// A robotsRow is a host's answer to the n-th request for its robots.txt.
type robotsRow struct {
	name   string
	keys   map[string]string
	robots func(n int) reply
	want   string // requests to a.test after the first, with their seconds
	gaveUp schema.GiveUp
	why    string
}

func robotsRows() []robotsRow {
	status := func(code int) reply { return reply{status: code} }
	text := func(s string) reply { return reply{status: 200, body: s} }
	down := func(c fetch.Cause) reply { return reply{cause: c} }
	always := func(r reply) func(int) reply { return func(int) reply { return r } }
	first := func(n int, r, then reply) func(int) reply {
		return func(i int) reply {
			if i < n {
				return r
			}
			return then
		}
	}
	return []robotsRow{
		{name: "404 allows", robots: always(status(404)), want: "/@1 /1@2"},
		{name: "403 allows", robots: always(status(403)), want: "/@1 /1@2"},
		{name: "401 allows", robots: always(status(401)), want: "/@1 /1@2"},
		{name: "a redirect without Location allows", robots: always(status(302)), want: "/@1 /1@2"},
		{name: "wildcards hold", robots: always(text("User-agent: testbot\nDisallow: /*1$\n")), want: "/@1"},
		{name: "another crawler's rules do not", robots: always(text("User-agent: other\nDisallow: /\n")),
			want: "/@1 /1@2"},
		{name: "a fraction of Crawl-delay", robots: always(text("User-agent: *\nCrawl-delay: 2.25\n")),
			want: "/@2.25 /1@4.5"},
		{name: "a Crawl-delay below the minimum", robots: always(text("User-agent: *\nCrawl-delay: 0.1\n")),
			want: "/@1 /1@2"},
		{name: "of a host with more than max-crawl-delay only seeds",
			robots: always(text("User-agent: *\nCrawl-delay: 301\n")), want: "/@301"},
		// a commit waits 100 ms for others
		{name: "500, then 200", robots: first(1, status(500), text("")), want: "/robots.txt@5.1 /@6.1 /1@7.1"},
		{name: "500 for ever", robots: always(status(500)), want: "/robots.txt@5.1 /robots.txt@10.2 /robots.txt@15.3",
			gaveUp: schema.GaveUpRobots, why: "robots.txt unavailable: 500"},
		{name: "time-outs double the delay", keys: map[string]string{"retry": "delay = \"1s\"\nmax-retries = 2"},
			robots: first(2, down(fetch.Timeout), text("")), want: "/robots.txt@2 /robots.txt@6 /@7 /1@8"},
		{name: "never answers", keys: map[string]string{"retry": "max-retries = 1"},
			robots: always(down(fetch.Timeout)),
			want:   "/robots.txt@5.1", gaveUp: schema.GaveUpRobots, why: "robots.txt unavailable"},
		{name: "never answers, which allows", keys: map[string]string{"retry": "max-retries = 1\ndelay=\"1s\"",
			"politeness": "robots-unreachable = \"allow\""}, robots: always(down(fetch.Timeout)),
			want: "/robots.txt@2 /@6 /1@7"},
		{name: "429, then 200", robots: first(1, status(429), text("")), want: "/robots.txt@5 /@6 /1@7"},
		{name: "503 with Retry-After", robots: first(1, reply{status: 503, header: http.Header{"Retry-After": {"30"}}},
			text("")), want: "/robots.txt@30 /@31 /1@32"},
		{name: "refused", robots: always(down(fetch.Refused)), want: "", gaveUp: schema.GaveUpConnection,
			why: "connection refused"},
		{name: "no such name", robots: always(down(fetch.NXDomain)), want: "", gaveUp: schema.GaveUpConnection,
			why: "no such host"},
		{name: "TLS", robots: always(down(fetch.TLS)), want: "", gaveUp: schema.GaveUpConnection, why: "tls error"},
		{name: "redirect to itself", keys: map[string]string{"retry": "max-retries = 0"},
			robots: always(redirect("/robots.txt")), want: "", gaveUp: schema.GaveUpRobots, why: "redirect loop"},
		{name: "five redirects", robots: always(redirect("https://hop1.test/robots.txt")), want: "/@5.6"},
		{name: "redirect to a blacklisted host is not followed",
			robots: always(redirect("https://black.test/robots.txt")), want: "/@1 /1@2"},
		{name: "redirect to a host with rules", robots: always(redirect("https://rules.test/r/robots.txt")), want: "/@4.2"},
		{name: "redirect to an address of a host whose robots.txt is asked first",
			robots: always(redirect("https://rules.test/r")), want: "/@12.2"},
		{name: "redirect to a host that brings a Crawl-delay", robots: always(redirect("https://slow.test/r/robots.txt")),
			want: "/@12.001 /1@24.001"},
		{name: "redirect to a host that throttles", robots: always(redirect("https://busy.test/r/robots.txt")),
			want: "/robots.txt@6.1 /robots.txt@12.2 /robots.txt@18.3", gaveUp: schema.GaveUpRobots,
			why: "robots.txt unavailable"},
	}
}

// robotsServers are a.test, whose robots.txt is given, and the hosts that it may redirect to.
func robotsServers(s *paperServers, robots func(n int) reply) {
	s.host["a.test"] = func(q question) reply {
		if q.path == "/robots.txt" && strings.HasPrefix(q.host, "www.") {
			return reply{cause: fetch.NXDomain}
		}
		if q.path == "/robots.txt" {
			return robots(q.n)
		}
		return site("", 1)(q)
	}
	for i := range 6 {
		s.host[fmt.Sprintf("hop%d.test", i)] = func(q question) reply {
			return redirect(fmt.Sprintf("https://hop%d.test/robots.txt", i+1))
		}
	}
	answer := func(r reply) func(question) reply { return func(question) reply { return r } }
	const no1, slow = "User-agent: *\nDisallow: /1", "User-agent: *\nCrawl-delay: 12"
	s.host["hop5.test"] = answer(reply{status: 200, body: no1, wait: 5 * time.Second})
	s.host["rules.test"] = answer(reply{status: 200, body: no1, wait: 4 * time.Second})
	s.host["slow.test"] = answer(reply{status: 200, body: slow, wait: 4 * time.Second})
	s.host["busy.test"] = answer(reply{status: 429, wait: time.Second})
}

// check compares the requests with the row.
func (r robotsRow) check(t *testing.T, s *paperServers) {
	var got []string
	log := only(s.log, "a.test")
	for _, e := range log[1:] {
		got = append(got, e.Path+"@"+seconds([]float64{e.Arrived.Sub(log[0].Arrived).Seconds()}))
	}
	if strings.Join(got, " ") != r.want {
		t.Errorf("asked %v, want %s", got, r.want)
	}
	if len(only(s.log, "black.test"))+len(only(s.log, "hop6.test")) > 0 {
		t.Error("a redirect was followed that must not be")
	}
	h := s.hostRecord("a.test")
	if h.RunGivenUp != r.gaveUp || !strings.Contains(strings.ToLower(h.RunGivenUpWhy.String()), r.why) {
		t.Errorf("given up %v, %q; want %v, %q", h.RunGivenUp, h.RunGivenUpWhy, r.gaveUp, r.why)
	}
	for _, bad := range webtest.CheckLog(s.log, webtest.MinGap(time.Second, 0), webtest.MaxOpen(1, 0)) {
		t.Error(bad)
	}
}

// TestRobots requests robots.txt first, whatever it answers.
func TestRobots(t *testing.T) {
	for _, tt := range robotsRows() {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				robotsServers(s, tt.robots)
				s.crawl(politeConfig(tt.keys)+"[[blacklist]]\ndomain = \"*.black.test\"\n", 0)
				tt.check(t, s)
			})
		})
	}
}

// TestRobotsCopy keeps a copy for robots-ttl and, while the file is unreachable,
// for thirty days.
func TestRobotsCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		text, honest := "User-agent: *\nDisallow: /2\n", site("", 3)
		s.host["a.test"] = func(q question) reply {
			if q.path != "/robots.txt" {
				return honest(q)
			}
			if text == "" {
				return reply{status: http.StatusInternalServerError}
			}
			return reply{status: 200, body: text}
		}
		cfg := politeConfig(map[string]string{"recrawl": "min-age = \"0s\"", "retry": "max-retries = 1"})
		day := 24 * time.Hour
		for i, step := range []struct {
			after  time.Duration
			text   string
			robots int    // requests for it
			asked  string // pages requested in that run
		}{
			{0, text, 1, "/ /1 /3"},
			{23 * time.Hour, "User-agent: *\nDisallow: /1\n", 0, "/ /1 /3"}, // the copy is fresh
			{2 * time.Hour, "User-agent: *\nDisallow: /1\n", 1, "/ /2 /3"},  // it is not
			{2 * day, "", 1, "/ /2 /3"},                                     // unreachable: the copy is in force
			{27 * day, "", 1, "/ /2 /3"},
			{2 * day, "", 2, ""}, // no longer
		} {
			time.Sleep(step.after)
			text, s.log = step.text, nil
			s.crawl(cfg, 0)
			s.completed()
			asked, robots := map[string]bool{}, 0
			for _, e := range s.log {
				if e.Path == "/robots.txt" {
					robots++
				} else {
					asked[e.Path] = true
				}
			}
			var got []string
			for _, p := range []string{"/", "/1", "/2", "/3"} {
				if asked[p] {
					got = append(got, p)
				}
			}
			if robots != step.robots || strings.Join(got, " ") != step.asked {
				t.Errorf("run %d: robots.txt asked %d times, pages %v; want %d, %s", i+1, robots, got, step.robots,
					step.asked)
			}
		}
	})
}

// TestSubdomains meets a site with endless subdomains: only max-subdomains of them are requested,
// even for robots.txt alone.
func TestSubdomains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var all []string
		for i := range 300 {
			all = append(all, fmt.Sprintf("https://n%d.wild.test/", i))
		}
		s.host["a.test"] = func(q question) reply {
			if q.path == "/" {
				return links(all...)
			}
			return reply{status: 404}
		}
		s.other = func(q question) reply {
			if q.path == "/" {
				return links("/about", "https://m"+q.host+"/")
			}
			return reply{status: 200}
		}
		s.crawl(politeConfig(map[string]string{"crawler": "max-subdomains = 7"}), 2*time.Second)
		s.crawl(politeConfig(map[string]string{"crawler": "max-subdomains = 7"}), 0)
		asked := map[string]bool{}
		for _, e := range s.log {
			asked[e.Host] = true
		}
		if len(asked) != 1+7 {
			t.Errorf("%d hosts were asked, want a.test and 7", len(asked))
		}
		visited := 0
		for url := range s.visits() {
			if strings.HasSuffix(url, "/about") {
				visited++
			}
		}
		if visited != 7 {
			t.Errorf("%d of 7 hosts were visited to the end", visited)
		}
	})
}

// TestRedirectTargetGivenUp has two hosts whose robots.txt is at a third one, which asks for a long
// wait between the two answers.
func TestRedirectTargetGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			if q.path == "/" {
				return links("https://b.test/", "https://c.test/", "https://d.test/")
			}
			return reply{status: 404}
		}
		s.other = func(q question) reply {
			if q.path == "/robots.txt" && q.host != "common.test" {
				return redirect("https://common.test/robots.txt")
			}
			return reply{status: 429, header: http.Header{"Retry-After": {"7200"}}, wait: 3 * time.Second}
		}
		for run, asked := range []int{1, 0} { // the second run finds only the answer that the first got
			begun := time.Now()
			s.log = nil
			s.crawl(politeConfig(nil), 0)
			if n := len(only(s.log, "common.test")); n != asked {
				t.Errorf("run %d: common.test was asked %d times, want %d", run, n, asked)
			}
			for _, host := range []string{"b.test", "c.test", "d.test"} {
				if h := s.hostRecord(host); h.RunGivenUp != schema.GaveUpRobots {
					t.Errorf("run %d: %s: given up %v %q", run, host, h.RunGivenUp, h.RunGivenUpWhy)
				}
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("run %d took %v", run, took)
			}
			s.complete()
		}
	})
}

// TestNameChanged resumes under another name: the rules of robots.txt for that name apply at once.
func TestNameChanged(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, after, want string }{
		{"TestBot", "OtherBot", "/robots.txt@0 /@1 /1@2 /2@32.5 /4@62.5"},
		{"SlowBot", "TestBot", "/robots.txt@0 /@3.5 /1@4.5 /2@5.5 /3@6.5 /4@7.5"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.host["a.test"] = site("User-agent: *\nDisallow: /x\n\nUser-agent: OtherBot\nCrawl-delay: 30\nDisallow: /3\n\n"+
				"User-agent: SlowBot\nCrawl-delay: 400\n", 4)
			cfg := politeConfig(nil)
			s.crawl(strings.Replace(cfg, "TestBot", tt.before, 1), 2500*time.Millisecond)
			s.crawl(strings.Replace(cfg, "TestBot", tt.after, 1), 0)
			var got []string
			for i, at := range s.arrivals("a.test") {
				got = append(got, strings.TrimPrefix(s.requests("a.test")[i], "GET ")+"@"+seconds([]float64{at}))
			}
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("from %s to %s asked %s\nwant %s", tt.before, tt.after, all, tt.want)
			}
		})
	}
}

// TestSlowHostAskedAgain requests the robots.txt of a host with too long a Crawl-delay again when
// it has expired: its pages have kept their places.
func TestSlowHostAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			if q.path == "/" {
				return links("https://b.test/1", "https://b.test/2")
			}
			return site("", 0)(q)
		}
		robots := "User-agent: *\nCrawl-delay: 400\n"
		s.host["b.test"] = func(q question) reply { return site(robots, 0)(q) }
		for range 2 {
			s.crawl(politeConfig(nil), 0)
			s.completed()
			if all := s.requests("b.test"); len(all) != 1 {
				t.Fatalf("a slow host was asked %v", all)
			}
		}
		robots = "User-agent: *\nDisallow:\n"
		time.Sleep(48 * time.Hour)
		s.crawl(politeConfig(nil), 0)
		if got := strings.Join(s.requests("b.test"), " "); got != "GET /robots.txt GET /robots.txt GET /1 GET /2" {
			t.Errorf("asked %s", got)
		}
	})
}

// TestNameChangedBeside does the same at a host where several requests may be open.
func TestNameChangedBeside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = func(q question) reply {
			if q.path == "/" {
				return links("https://b.test/1", "https://b.test/2", "https://b.test/3", "https://b.test/4")
			}
			return site("", 0)(q)
		}
		wait := time.Duration(0)
		s.host["b.test"] = func(q question) reply {
			r := site("User-agent: *\nDisallow: /x\n\nUser-agent: OtherBot\nCrawl-delay: 30\n", 0)(q)
			r.wait = wait
			return r
		}
		cfg := politeConfig(map[string]string{"politeness": "adaptive-delay = false\nmax-parallel-per-domain = 3"})
		s.crawl(cfg, 3500*time.Millisecond)
		known := len(s.arrivals("b.test"))
		wait = 20 * time.Second
		s.crawl(strings.Replace(cfg, "TestBot", "OtherBot", 1), 0)
		at := s.arrivals("b.test")
		if len(at) < known+2 {
			t.Fatalf("asked at %v", at)
		}
		for i := known + 1; i < len(at); i++ {
			if at[i]-at[i-1] < 30 {
				t.Errorf("asked at %v, from request %d on with a Crawl-delay of 30 s", at, known)
			}
		}
	})
}

// TestRobotsAskedAgainAfterAnOutage requests a robots.txt that was unavailable for a while again
// after robots-ttl, and obeys it in the same run.
func TestRobotsAskedAgainAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		begun := time.Now()
		s.host["a.test"] = func(q question) reply {
			since := time.Since(begun)
			switch {
			case q.path != "/robots.txt":
				return site("", 900)(q)
			case since < 23*time.Hour:
				return reply{status: 200, body: "User-agent: *\nCrawl-delay: 299\n"}
			case since < 25*time.Hour:
				return reply{status: 500}
			}
			return reply{status: 200, body: "User-agent: *\nDisallow: /\n"}
		}
		s.crawl(politeConfig(map[string]string{"crawler": "max-domain-requests = 2000"}), 0)
		asked := map[string]int{}
		for _, e := range s.log {
			asked[e.Path]++
			if since := e.Arrived.Sub(begun); since > 49*time.Hour {
				t.Fatalf("%s is asked %v after the start", e.Path, since)
			}
		}
		if n := asked["/robots.txt"]; n != 6 {
			t.Errorf("robots.txt is asked %d times, want once, four times while it failed, and once more", n)
		}
	})
}
