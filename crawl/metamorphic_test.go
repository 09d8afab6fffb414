package crawl

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

func metamorphicConfig(workers int) string {
	return crawltest.Paper(fmt.Sprintf(`[crawler]
max-depth = 3
max-concurrent-pages-open = %d
minimum-time-on-page = 100
head-check = "auto"
sitemaps = "quality"
[[quality]]
domain = "h0.gen.test"
seeds = ["https://h0.gen.test/"]
[[quality]]
domain = "h1.gen.test"
seeds = ["https://h1.gen.test/"]
[[stub]]
domain = "h2.gen.test"
`, workers))
}

// TestOneDigest crawls one web with few and many workers, small and large commits, with and without
// kills, and with answers in different orders: the map is always the same.
func TestOneDigest(t *testing.T) {
	t.Parallel()
	orders := 1
	if crawltest.Full() {
		orders = 4
	}
	seed := crawltest.Seed(t)
	server, err := webtest.New(webtest.WithoutLog())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	web := server.Generate(seed, webtest.GenConfig{Hosts: 12, Pages: 10, Links: 8, Leave: 0.4, Redirects: 0.15,
		Dead: 0.05})
	digests, crawls := map[string]string{}, 0
	for _, workers := range []int{1, 4, 32} {
		for _, most := range []int{1, 50} {
			for _, kills := range []int{0, 4} {
				for order := range orders {
					name := fmt.Sprintf("%d workers, %d a commit, %d kills, order %d", workers, most, kills, order)
					r := rand.New(rand.NewPCG(seed, uint64(crawls)))
					synctest.Test(t, func(t *testing.T) {
						digests[crawlShuffled(t, web, r, workers, most,
							kills)] = name
					})
					crawls++
				}
			}
		}
	}
	if len(digests) != 1 {
		t.Errorf("seed %d: %d different maps: %v", seed, len(digests), digests)
	}
	t.Logf("seed %d: %d crawls, %d digest", seed, crawls, len(digests))
}

func crawlShuffled(t *testing.T, web *webtest.Web, r *rand.Rand, workers, most, kills int) string {
	return crawlAnswers(t, func(q question) reply { return generated(web, q) }, r, workers, most, kills)
}

// crawlAnswers crawls servers that answer after different times, and returns the digest.
func crawlAnswers(t *testing.T, answers func(question) reply, r *rand.Rand, workers, most, kills int) string {
	s := newPaperServers(t)
	delays := rand.New(rand.NewPCG(r.Uint64(), 0))
	s.other = func(q question) reply {
		s.mu.Lock()
		wait := time.Duration(delays.IntN(400)) * time.Millisecond
		s.mu.Unlock()
		answer := answers(q)
		answer.wait = wait
		return answer
	}
	s.most = most
	cfg := crawltest.Parse(t, metamorphicConfig(workers))
	for range kills {
		s.crawlWith(cfg, time.Duration(200+r.IntN(2500))*time.Millisecond)
	}
	s.crawlWith(cfg, 0)
	crawltest.Verify(t, s.path)
	return crawltest.Digest(t, s.path)
}

// generated answers like the web.
func generated(web *webtest.Web, q question) reply {
	url := "https://" + q.host + q.path
	if q.path == "/robots.txt" {
		return reply{status: http.StatusNotFound}
	}
	if to, ok := web.Redirect(url); ok {
		return reply{status: http.StatusMovedPermanently, header: http.Header{"Location": {to}}}
	}
	if status := web.Status(url); status != http.StatusOK {
		return reply{status: status}
	}
	var b strings.Builder
	for i, to := range web.Links(url) {
		fmt.Fprintf(&b, "<a href=%q>link %d</a>", to, i)
	}
	return reply{status: http.StatusOK, body: b.String()}
}

// TestOneDigestGuarded crawls a web of which two sites show walls on half of their pages, demand payment, and say in
// robots.txt, headers and elements what their pages may be used for. Orders and kills change nothing.
func TestOneDigestGuarded(t *testing.T) {
	t.Parallel()
	seed := crawltest.Seed(t)
	server, err := webtest.New(webtest.WithoutLog())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	web := server.Generate(4, webtest.GenConfig{Hosts: 6, Pages: 10, Links: 8, Leave: 0.3, Redirects: 0.1, Dead: 0.05})
	var mu sync.Mutex
	met := map[string]int{} // answers of each kind
	answers := func(q question) reply {
		answer, kind := protected(web, q)
		mu.Lock()
		defer mu.Unlock()
		met[kind]++
		return answer
	}
	digests := map[string]string{}
	for order := range 6 {
		workers, kills := []int{1, 4, 32}[order%3], order%2*3
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, uint64(order)))
			digests[crawlAnswers(t, answers, r, workers, 20, kills)] = fmt.Sprintf("%d workers, %d kills", workers, kills)
		})
	}
	if len(digests) != 1 {
		t.Errorf("seed %d: %d different maps: %v", seed, len(digests), digests)
	}
	for _, kind := range []string{"wall", "payment", "page"} {
		if met[kind] == 0 {
			t.Errorf("seed %d: no answer was a %s: %v", seed, kind, met)
		}
	}
}

// protected answers like the web, but two hosts protect their pages. It returns the kind of the answer as well.
func protected(web *webtest.Web, q question) (reply, string) {
	if q.host != "h0.gen.test" && q.host != "h1.gen.test" {
		return generated(web, q), "other"
	}
	if q.path == "/robots.txt" {
		rules := "User-agent: *\nContent-Usage: train-ai=n\nContent-Signal: search=yes\n"
		return reply{status: http.StatusOK, body: rules}, "robots"
	}
	answer := generated(web, q)
	if answer.status != http.StatusOK || q.path == "/" {
		return answer, "other"
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(q.host + q.path))
	switch n := h.Sum32() % 16; {
	case n < 4:
		return anubis(), "wall"
	case n < 8:
		return mitigated(http.StatusForbidden), "wall"
	case n == 8:
		return reply{status: http.StatusPaymentRequired, header: http.Header{"Crawler-Price": {"USD 0.01"}}}, "payment"
	}
	answer.header = http.Header{"Content-Usage": {"search=n"}, "X-Robots-Tag": {"nosnippet"}}
	answer.body += `<link rel=license href="/licence"><meta name=robots content=noarchive>`
	return answer, "page"
}
