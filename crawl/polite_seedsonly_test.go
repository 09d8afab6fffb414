package crawl

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// TestSeedsOfSlowHostInLaterRun visits the seed of a host with more than max-crawl-delay again in a
// later run, however many of its other pages wait.
func TestSeedsOfSlowHostInLaterRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = site("User-agent: *\nCrawl-delay: 301\n", 300)
		s.crawl(politeConfig(nil), 0)
		s.completed()
		time.Sleep(25 * time.Hour)
		s.log = nil
		s.crawl(politeConfig(nil), 0)
		if got := s.requests("a.test"); !slices.Equal(got, []string{"GET /robots.txt", "GET /"}) {
			t.Errorf("the later run asked for %q", got)
		}
	})
}

// TestAsSlowAsMayBe visits all pages of a host whose Crawl-delay is max-crawl-delay, and only the
// seed of one that asks for a second more.
func TestAsSlowAsMayBe(t *testing.T) {
	for delay, want := range map[string]int{"300": 4, "301": 2} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.host["a.test"] = site("User-agent: *\nCrawl-delay: "+delay+"\n", 2)
			s.crawl(politeConfig(nil), 0)
			if got := s.requests("a.test"); len(got) != want {
				t.Errorf("with a Crawl-delay of %s s it was asked for %q", delay, got)
			}
		})
	}
}

// TestRetriesOfSlowHost does not request a page that waits for a retry once its host has more than
// max-crawl-delay, like its other pages.
func TestRetriesOfSlowHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		honest := site("User-agent: *\nCrawl-delay: 3\n", 2)
		s.host["a.test"] = func(q question) reply {
			if q.path != "/robots.txt" && q.n == 0 {
				return reply{status: http.StatusInternalServerError}
			}
			return honest(q)
		}
		keys := map[string]string{"retry": "delay = \"1m\""}
		s.crawl(politeConfig(keys), 100*time.Second) // the front page, then two pages that wait for a retry
		s.log = nil
		keys["politeness"] = "max-crawl-delay = \"2s\""
		s.crawl(politeConfig(keys), 0)
		if got := s.requests("a.test"); len(got) > 0 {
			t.Errorf("asked for %q", got)
		}
	})
}

// TestYoungPagesOfSlowHost keeps young pages at a host with more than max-crawl-delay, whether it
// has seeds or not.
func TestYoungPagesOfSlowHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		slow := false
		host := func(q question) reply {
			switch {
			case slow && q.path == "/robots.txt":
				return reply{status: http.StatusOK, body: "User-agent: *\nCrawl-delay: 301\n"}
			case q.host == "a.test" && q.path == "/":
				return links("/1", "/2", "https://b.test/1", "https://b.test/2")
			}
			return site("", 0)(q)
		}
		s.host["a.test"], s.host["b.test"] = host, host
		keys := map[string]string{"politeness": "robots-ttl = \"1h\""}
		s.crawl(politeConfig(keys), 0)
		s.completed()
		time.Sleep(2 * time.Hour)
		slow, s.log = true, nil
		s.crawl(politeConfig(keys), 0)
		if n := len(s.log); n != 2 {
			t.Errorf("%d requests, want those for robots.txt", n)
		}
		crawltest.EachPage(t, s.path, func(p *survey.Page) {
			if p.State != schema.Processed || p.LastRun != 2 {
				t.Errorf("%s: %v, seen last by run %d", p.URL, p.State, p.LastRun)
			}
		})
	})
}
