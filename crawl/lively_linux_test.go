package crawl_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest/apps"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// What pages do with databases, locks, caches, animations, preloads, images and deep modules gives all their links, and
// one digest: with one browser and with four, in any order of answers, while processes of the browsers are killed.
// Without RIPPLE_PROOF=full these are three of the pages, with one browser and with two.
func TestLivelyDigest(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	s := crawltest.Serve(t)
	var pages []string
	if !crawltest.Full() {
		pages = []string{"caches", "modules", "races"}
	}
	wantLinks, wantPages := apps.Lively(s, pages...)
	random := rand.New(rand.NewPCG(crawltest.Seed(t), 1))
	var digest string
	type crawling struct {
		browsers, kills int
		near, far       time.Duration // most latency
	}
	hows := []crawling{{1, 0, 0, 0}, {2, 1, 300 * time.Millisecond, 300 * time.Millisecond}}
	if crawltest.Full() {
		hows = []crawling{
			{1, 0, 0, 0}, {4, 0, 0, 600 * time.Millisecond}, {4, 0, 600 * time.Millisecond, 0},
			{2, 3, 300 * time.Millisecond, 300 * time.Millisecond},
		}
	}
	for _, how := range hows {
		s.Host("lively.test").Latency(time.Duration(random.Int64N(int64(how.near) + 1)))
		s.Host("far.test").Latency(time.Duration(random.Int64N(int64(how.far) + 1)))
		text := crawltest.Config(t, s, fmt.Sprintf(appConfig, how.browsers, os.Getuid() != 0, "lively.test", "lively.test"))
		store := crawltest.Open(t, stateFile(t))
		s.ResetLog()
		killed := killBrowsers(t, how.kills, func() bool { return len(s.Log()) > 0 })
		walk(t, store, crawltest.Parse(t, text+"[retry]\nmax-retries = 100\n"))
		killed()
		links, pages := 0, 0
		for url, page := range drawnPages(t, store) {
			if page.rendering&schema.Rendered != 0 {
				pages++
			}
			for _, link := range page.links {
				if strings.HasPrefix(link, url+"/") && url != "https://lively.test" {
					links++
				}
			}
		}
		if links != wantLinks || pages != wantPages {
			t.Errorf("%+v: %d links of %d rendered pages, want %d of %d", how, links, pages, wantLinks, wantPages)
		}
		now := must(survey.Digest(crawltest.Survey(t, store)))(t)
		if digest == "" {
			digest = now
		}
		if now != digest {
			t.Errorf("%+v: another digest", how)
		}
	}
}
