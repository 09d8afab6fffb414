package crawl

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// moodyConfig returns a configuration with rules, caps and budgets that change.
func moodyConfig(r *rand.Rand) string {
	var b strings.Builder
	maybe := func(format string, args ...any) {
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, format+"\n", args...)
		}
	}
	fmt.Fprintf(&b, "[crawler]\nmax-depth = %d\nmax-concurrent-pages-open = %d\nminimum-time-on-page = 100\n",
		r.IntN(4), 1+r.IntN(20))
	maybe("head-check = \"never\"")
	maybe("max-domain-requests = %d", 1+r.IntN(30))
	maybe("max-pages = %d", 1+r.IntN(60))
	maybe("max-links-per-page = %d", 1+r.IntN(5))
	maybe("max-subdomains = %d", 1+r.IntN(4))
	maybe("respect-nofollow = true")
	maybe("follow-canonical = false")
	maybe("sitemaps = %q", []string{"off", "only"}[r.IntN(2)])
	b.WriteString("[politeness]\nminimum-time-per-address = \"0s\"\n")
	maybe("max-rate-limits = 2")
	maybe("max-crawl-delay = \"1s\"")
	fmt.Fprintf(&b, "[retry]\ndelay = \"100ms\"\nmax-retries = %d\n[traps]\n", r.IntN(3))
	maybe("max-urls-per-host = %d", 3+r.IntN(20))
	maybe("max-hosts-per-site = %d", 1+r.IntN(5))
	maybe("max-path-depth = 1")
	fmt.Fprintf(&b, "[recrawl]\nmin-age = %q\n[user-agent]\ncrawler-name = \"T\"\n", []string{"0s", "24h"}[r.IntN(2)])
	b.WriteString("[[quality]]\ndomain = \"h0.gen.test\"\nseeds = [\"https://h0.gen.test/\"]\n")
	maybe("max-requests = %d", 1+r.IntN(20))
	maybe("[[quality]]\ndomain = \"h1.gen.test\"\nseeds = [\"https://h1.gen.test/\"]\nexclude = [\"3$\"]")
	maybe("[[stub]]\ndomain = \"h2.gen.test\"")
	maybe("[[blacklist]]\nurl = '/p/4'")
	maybe("[[page-type]]\nname = \"p\"\ndomain = \"*.gen.test\"\npath = \"^/p\"\nmax-per-group = %d", 1+r.IntN(5))
	return b.String()
}

// moody answers like the web, or not, as each host pleases.
func moody(web *webtest.Web, seed uint64) func(question) reply {
	return func(q question) reply {
		r := rand.New(rand.NewPCG(seed, uint64(len(q.host))<<32|uint64(len(q.path))<<16|uint64(q.n)))
		switch r.IntN(14) {
		case 0:
			return reply{status: http.StatusInternalServerError}
		case 1:
			return reply{status: http.StatusTooManyRequests, header: http.Header{"Retry-After": {"1"}}}
		case 2:
			return reply{cause: fetch.Refused}
		case 3:
			return reply{cause: fetch.Timeout, wait: time.Second}
		}
		switch {
		case q.path == "/robots.txt" && r.IntN(3) == 0:
			return reply{status: http.StatusOK,
				body: fmt.Sprintf("User-agent: *\nDisallow: /p/2\nCrawl-delay: %d\n", r.IntN(4))}
		case q.path == "/sitemap.xml":
			return reply{status: http.StatusOK, body: "https://" + q.host + "/p/1\nhttps://" + q.host + "/p/2\n",
				header: http.Header{"Content-Type": {"text/plain"}}}
		}
		return generated(web, q)
	}
}

// TestVerifyFindsNothing crawls moody webs under random rules, is killed, resumes under other rules
// and begins further runs. In every case the records are consistent, and what was reported about a
// run when it ended is also reported after later runs.
func TestVerifyFindsNothing(t *testing.T) {
	t.Parallel()
	seed, webs := crawltest.Seed(t), 12
	if crawltest.Full() {
		webs = 200
	}
	server, err := webtest.New(webtest.WithoutLog())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	web := server.Generate(seed, webtest.GenConfig{Hosts: 9, Pages: 7, Links: 6, Leave: 0.4, Redirects: 0.2, Dead: 0.1})
	crawls, visits := 0, 0
	for i := range webs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		synctest.Test(t, func(t *testing.T) {
			s := newPaperServers(t)
			s.other = moody(web, r.Uint64())
			told := map[schema.RunID][]string{}
			for range 2 + r.IntN(3) {
				text := moodyConfig(r)
				kill := time.Duration(r.IntN(2)) * time.Duration(100+r.IntN(4000)) * time.Millisecond
				s.most = 1 + r.IntN(50)
				s.crawl(text, kill)
				crawltest.Verify(t, s.path)
				s.lookBack(told)
				crawls++
				visits += len(s.visits())
				if kill == 0 && r.IntN(2) == 0 {
					s.completed()
				}
				if t.Failed() {
					t.Fatalf("web %d of seed %d, under\n%s", i, seed, text)
				}
			}
		})
	}
	t.Logf("seed %d: %d webs, %d crawls, %d visits after them, every file verified", seed, webs, crawls, visits)
}

// lookBack compares what is reported about earlier runs with what was reported last, and records
// what is reported about the newest.
func (s *paperServers) lookBack(told map[schema.RunID][]string) {
	s.t.Helper()
	crawltest.Surveyed(s.t, s.path, func(newest *survey.Survey) error {
		told[newest.Run().ID] = surveytest.Tell(s.t, newest)
		for id, want := range told {
			older, err := newest.At(id)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, surveytest.Tell(s.t, older)); diff != "" {
				s.t.Errorf("run %d after run %d (-then +now):\n%s", id, newest.Run().ID, diff)
			}
		}
		return nil
	})
}
