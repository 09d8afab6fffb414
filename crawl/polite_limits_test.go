package crawl

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/schema"
)

// TestMaxPagesIsReached gives the last page of a run to a host that then cannot be reached: another
// host gets it.
func TestMaxPagesIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.host["a.test"] = pages(map[string]reply{"/": links("https://b.test/", "https://c.test/", "https://d.test/")})
		s.host["b.test"] = func(q question) reply {
			if q.path == "/robots.txt" {
				return reply{status: http.StatusNotFound}
			}
			return reply{cause: fetch.ConnectTimeout, wait: 5 * time.Second}
		}
		honest := site("", 0)
		s.other = func(q question) reply { // after the other host has the last page
			r := honest(q)
			r.wait = 2 * time.Second
			return r
		}
		run := s.crawl(politeConfig(map[string]string{"crawler": "max-pages = 2", "retry": "max-retries = 5"}), 0)
		if run.Pages != 2 {
			t.Errorf("%d pages, want 2", run.Pages)
		}
	})
}

// TestCapsInParallel holds the cap of a group of pages across hosts that are requested at the same
// time.
func TestCapsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		var to []string
		for i := range 12 {
			to = append(to, fmt.Sprintf("https://h%d.wide.test/talk/1", i),
				fmt.Sprintf("https://h%d.wide.test/talk/2", i))
		}
		s.host["a.test"] = pages(map[string]reply{"/": links(to...)})
		s.other = func(q question) reply {
			if q.path == "/robots.txt" {
				return reply{status: 404}
			}
			return reply{status: 200, wait: 3 * time.Second}
		}
		s.crawl(politeConfig(map[string]string{
			"politeness": "max-parallel-per-domain = 2",
			"more": "[[page-type]]\nname = \"talks\"\ndomain = \"*.wide.test\"\npath = '^/(?P<group>talk)/'\n" +
				"max-per-group = 5\n",
		}), 0)
		n := 0
		for _, e := range s.log {
			if e.Path == "/talk/1" || e.Path == "/talk/2" {
				n++
			}
		}
		if n != 5 {
			t.Errorf("%d pages of the group were asked, want 5", n)
		}
	})
}

// TestLookUpAgain repeats a look-up after a second if this machine had no resources for it, since
// no server's clock paces that.
func TestLookUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		s.deaf, s.address = 3, "192.0.2.1"
		s.host["a.test"] = site("", 1)
		s.crawl(strings.Replace(politeConfig(nil), "per-address = \"0s\"", "per-address = \"1s\"", 1), 0)
		if len(s.lookedUp) != 4 {
			t.Fatalf("looked up %d times, want 4", len(s.lookedUp))
		}
		for i, at := range s.lookedUp[1:] {
			if gap := at.Sub(s.lookedUp[i]); gap < time.Second || gap > 2*time.Second {
				t.Errorf("look-up %d follows after %v", i+2, gap)
			}
		}
		if asked := s.requests("a.test"); len(asked) != 3 {
			t.Errorf("asked for %v", asked)
		}
	})
}

// TestCutInRetry gives the used-up budget as the reason for the end, even if everything that is
// left has been tried.
func TestCutInRetry(t *testing.T) {
	t.Parallel()
	for _, pages := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.host["a.test"] = func(q question) reply {
				if q.path == "/1" {
					return reply{status: http.StatusInternalServerError}
				}
				return site("", pages)(q)
			}
			run := s.crawl(politeConfig(map[string]string{"crawler": "max-domain-requests = 3"}), 0)
			if got := s.survey()["a.test/1"].state; run.End.Kind != schema.EndBudgets || got != "request_limit_hit" {
				t.Errorf("of %d pages: the run ended because %s; the page is %s", pages, run.End, got)
			}
		})
	}
}
