package crawl

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// TestCrawlDelayTooLong gives up a host whose Crawl-delay no run waits for, even for a seed; a
// slightly shorter one is waited for.
func TestCrawlDelayTooLong(t *testing.T) {
	const year = "8760h0m0s"
	for _, tt := range []struct {
		delay, keys string
		host        string
		why         string // empty: not given up
		asked       string // pages of the host
	}{
		{delay: "1e9", host: "a.test", why: "Crawl-delay " + year + " > max-suspension = 1h0m0s"},
		{delay: "1e9", host: "b.test", why: "Crawl-delay " + year + " > max-suspension = 1h0m0s"},
		{delay: "1e999", host: "a.test", why: "Crawl-delay " + year + " > max-suspension = 1h0m0s"},
		{delay: "3600.001", host: "a.test", why: "Crawl-delay 1h0m0.001s > max-suspension = 1h0m0s"},
		{delay: "3600", host: "a.test", asked: "GET /"},
		{delay: "3600", host: "b.test"},
		{delay: "7200", keys: "max-crawl-delay = \"3h\"", host: "a.test", asked: "GET / GET /1"},
		{delay: "7200", keys: "max-crawl-delay = \"90m\"", host: "a.test",
			why: "Crawl-delay 2h0m0s > max-crawl-delay = 1h30m0s"},
		{delay: "7200", keys: "max-suspension = \"2h\"", host: "a.test", asked: "GET /"},
	} {
		t.Run(tt.delay+" "+tt.host+" "+tt.keys, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				if tt.host != "a.test" {
					s.host["a.test"] = pages(map[string]reply{"/": links("https://" + tt.host + "/")})
				}
				s.host[tt.host] = site("User-agent: *\nCrawl-delay: "+tt.delay+"\n", 1)
				begun := time.Now()
				run := s.crawl(politeConfig(map[string]string{"politeness": tt.keys}), 0)
				if took := time.Since(begun); tt.why != "" && took > time.Minute || !run.Walked {
					t.Errorf("took %v, walked %v", took, run.Walked)
				}
				if got := s.hostRecord(tt.host).RunGivenUpWhy.String(); got != tt.why {
					t.Errorf("given up because of %q, want %q", got, tt.why)
				}
				asked := slices.DeleteFunc(s.requests(tt.host), func(r string) bool { return r == "GET /robots.txt" })
				if got := fmt.Sprint(asked); got != "["+tt.asked+"]" {
					t.Errorf("asked for %s, want [%s]", got, tt.asked)
				}
				if tt.why != "" {
					wantHeld(t, s, tt.host, tt.why)
				}
			})
		})
	}
}

// wantHeld checks that the front page of a host waits for a reason, and that the host is reported
// as given up.
func wantHeld(t *testing.T, s *paperServers, host, why string) {
	t.Helper()
	crawltest.EachHost(t, s.path, func(r *survey.HostReport) {
		if r.Host.Name == host && (r.Cover != survey.CoverGivenUp || r.Coverage != "given up: "+why) {
			t.Errorf("%s is covered as %d, %q", host, r.Cover, r.Coverage)
		}
	})
	crawltest.EachPage(t, s.path, func(p *survey.Page) {
		if p.URL == "https://"+host+"/" && (p.State != schema.RateLimited || p.Error != why) {
			t.Errorf("%s: %v, %q", p.URL, p.State, p.Error)
		}
	})
}

// TestCrawlDelayTooLongAtStarts begins with what other processes left of a host whose Crawl-delay
// no run waits for, whatever its clocks say. The host is given up at once; only its robots.txt is
// requested, once that is old, and pages are requested when it asks for less.
func TestCrawlDelayTooLongAtStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		tooSlow := site("User-agent: *\nCrawl-delay: 1e9\n", 300)
		s.host["a.test"] = func(q question) reply { return reply{wait: time.Minute, cause: fetch.Cancelled} }
		cfg := politeConfig(map[string]string{"recrawl": "min-age = \"1000h\""})
		walk := func(because string, asked ...string) {
			t.Helper()
			s.log = nil
			begun := time.Now()
			run := s.crawl(cfg, 0)
			if took := time.Since(begun); took > 10*time.Minute || !run.Walked {
				t.Errorf("%s: took %v, walked %v", because, took, run.Walked)
			}
			if got := s.requests("a.test"); !slices.Equal(got[:min(len(got), 2)], asked) {
				t.Errorf("%s: asked for %q first, want %q", because, got, asked)
			}
		}
		s.crawl(cfg, time.Second)
		s.host["a.test"] = tooSlow
		walk("killed while robots.txt is asked", "GET /robots.txt")
		walk("the same run once more")
		s.completed()
		walk("the next run")
		s.changeHost("a.test", func(h *schema.Host) { // as an older release left it
			h.RunGivenUp, h.RunGivenUpWhy = schema.NotGivenUp, schema.Reason{}
			h.LastByte, h.LastEnd = time.Now().AddDate(30, 0, 0), time.Now().AddDate(30, 0, 0)
		})
		walk("with clocks in the future")
		s.completed()
		time.Sleep(25 * time.Hour)
		walk("an old robots.txt", "GET /robots.txt")
		s.completed()
		time.Sleep(25 * time.Hour)
		s.host["a.test"] = site("User-agent: *\nCrawl-delay: 1\n", 300)
		walk("asks for less", "GET /robots.txt", "GET /")
		s.completed()
		s.host["a.test"] = tooSlow
		time.Sleep(25 * time.Hour)
		walk("many pages stand", "GET /robots.txt")
		if h := s.hostRecord("a.test"); h.RunGivenUp != schema.GaveUpCrawlDelay {
			t.Errorf("given up %v at the end", h.RunGivenUp)
		}
	})
}

// TestCrawlDelayWaitedForLater resumes a run under a configuration that waits for the Crawl-delay
// for which a host was given up.
func TestCrawlDelayWaitedForLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("User-agent: *\nCrawl-delay: 7200\n", 1)
		s.crawl(politeConfig(nil), 0)
		if h := s.hostRecord("a.test"); h.RunGivenUp != schema.GaveUpCrawlDelay {
			t.Fatalf("given up %v", h.RunGivenUp)
		}
		s.crawl(politeConfig(map[string]string{"politeness": "max-crawl-delay = \"3h\""}), 0)
		if got := fmt.Sprint(s.requests("a.test")); got != "[GET /robots.txt GET / GET /1]" {
			t.Errorf("asked for %s", got)
		}
		if h := s.hostRecord("a.test"); h.RunGivenUp != schema.NotGivenUp {
			t.Errorf("given up %v at the end", h.RunGivenUp)
		}
	})
}

// TestGivenUpTakenBack resumes a run. Under the same configuration a host that was given up is not
// requested; under one that would not have given it up it is requested again, after the wait that
// it asked for.
func TestGivenUpTakenBack(t *testing.T) {
	rest := reply{status: http.StatusTooManyRequests, header: http.Header{"Retry-After": {"600"}}}
	robots := reply{status: http.StatusServiceUnavailable}
	for _, tt := range []struct {
		table, before, after string
		path                 string // of the page that is answered differently at first
		first                reply
		times                int
		why                  schema.GiveUp
		rest                 time.Duration
		back                 bool
	}{
		{"politeness", "max-rate-limits = 1", "max-rate-limits = 2", "/1", rest, 1, schema.GaveUpRateLimit,
			10 * time.Minute, true},
		{"politeness", "max-suspension = \"5m\"", "max-suspension = \"10m\"", "/1", rest, 1, schema.GaveUpRateLimit,
			10 * time.Minute, true},
		{"politeness", "max-suspension = \"5m\"", "max-suspension = \"9m\"", "/1", rest, 1, schema.GaveUpRateLimit, 0, false},
		{"politeness", "", "robots-unreachable = \"allow\"", "/robots.txt", robots, 99, schema.GaveUpRobots, 0, true},
		{"retry", "max-retries = 1", "max-retries = 3", "/robots.txt", robots, 2, schema.GaveUpRobots, 0, true},
	} {
		t.Run(tt.after, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newPaperServers(t)
				s.host["a.test"] = func(q question) reply {
					if q.path == tt.path && q.n < tt.times {
						return tt.first
					}
					return site("", 2)(q)
				}
				walk := func(keys string) []string {
					s.log = nil
					s.crawl(politeConfig(map[string]string{tt.table: keys}), 0)
					return s.requests("a.test")
				}
				if walk(tt.before); s.hostRecord("a.test").RunGivenUp != tt.why {
					t.Fatalf("given up %v, want %v", s.hostRecord("a.test").RunGivenUp, tt.why)
				}
				begun := time.Now()
				if got := walk(tt.before); len(got) > 0 {
					t.Errorf("under the same configuration it was asked for %q", got)
				}
				if again := time.Since(begun); again > 2*time.Second {
					t.Errorf("and the run ended after %v", again)
				}
				begun = time.Now()
				if got := walk(tt.after); slices.Contains(got, "GET /2") != tt.back {
					t.Errorf("asked for %q", got)
				}
				if took := time.Since(begun); took < tt.rest-10*time.Second {
					t.Errorf("after %v, though it wanted to rest for %v", took, tt.rest)
				}
			})
		})
	}
}

// TestCrawlDelayTooLongBehindRedirect resumes a host that later asks for less, though its
// robots.txt is at its other authority.
func TestCrawlDelayTooLongBehindRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		delay := "1e9"
		s.host["a.test"] = func(q question) reply {
			if q.path == "/robots.txt" && q.host == "a.test" {
				return redirect("https://www.a.test/robots.txt")
			}
			return site("User-agent: *\nCrawl-delay: "+delay+"\n", 0)(q)
		}
		s.crawl(politeConfig(nil), 0)
		if h := s.hostRecord("a.test"); h.RunGivenUp != schema.GaveUpCrawlDelay {
			t.Fatalf("given up %v", h.RunGivenUp)
		}
		s.completed()
		time.Sleep(25 * time.Hour)
		s.log, delay = nil, "1"
		s.crawl(politeConfig(nil), 0)
		if got := fmt.Sprint(s.requests("a.test")); got != "[GET /robots.txt GET /]" {
			t.Errorf("asked for %s", got)
		}
		if got := fmt.Sprint(s.requests("www.a.test")); got != "[GET /robots.txt]" {
			t.Errorf("at www. asked for %s", got)
		}
	})
}
