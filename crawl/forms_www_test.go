package crawl

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/fetch"
)

// TestNoLongerAtWWW moves a host that answered only at www. to the name without it. Once each page
// was found there, it is not requested at any other name.
func TestNoLongerAtWWW(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newPaperServers(t)
		answers, pages := "", []string{"GET /robots.txt", "GET /", "GET /1", "GET /2", "GET /3"}
		s.host["a.test"] = func(q question) reply {
			if q.host != answers {
				return reply{cause: fetch.NXDomain}
			}
			return site("", 3)(q)
		}
		for _, answers = range []string{"www.a.test", "a.test", "a.test"} {
			s.log = nil
			s.crawl(politeConfig(nil), 0)
			s.completed()
			time.Sleep(25 * time.Hour)
			if got := s.requests(answers); !slices.Equal(got, pages) {
				t.Errorf("at %s asked for %q", answers, got)
			}
		}
		if got := s.requests("www.a.test"); len(got) > 0 {
			t.Errorf("at www., where nothing answers any more, asked for %q", got)
		}
	})
}
