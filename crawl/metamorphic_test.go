package crawl

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
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
	s := newPaperServers(t)
	delays := rand.New(rand.NewPCG(r.Uint64(), 0))
	s.other = func(q question) reply {
		s.mu.Lock()
		wait := time.Duration(delays.IntN(400)) * time.Millisecond
		s.mu.Unlock()
		answer := generated(web, q)
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
