package crawl

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestSeedsOfSlowHostInLaterRun has a later run visit the seed of a host with more than
// max-crawl-delay again, however many other pages of it wait.
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
