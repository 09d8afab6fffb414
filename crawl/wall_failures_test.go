package crawl

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

// A host that walls give up keeps the results of an earlier run, failures too, wherever the run was killed.
func TestWalledAfterFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before reply
		want   schema.State
	}{
		{"failed", reply{status: http.StatusInternalServerError}, schema.Failed},
		{"missing", reply{status: http.StatusNotFound}, schema.DeadLink},
		{"of another type", reply{status: http.StatusOK, header: http.Header{"Content-Type": {"image/png"}}},
			schema.ContentMismatch},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			digests := map[string]time.Duration{}
			for _, kill := range []time.Duration{0, time.Second, 3 * time.Second, 9 * time.Second, 20 * time.Second} {
				synctest.Test(t, func(t *testing.T) { digests[walledAfter(t, tt.before, tt.want, kill)] = kill })
			}
			if len(digests) != 1 {
				t.Errorf("%d digests after kills: %v", len(digests), digests)
			}
		})
	}
}

// walledAfter crawls a site whose pages have one answer, and then only walls with a kill, and returns the digest.
func walledAfter(t *testing.T, before reply, want schema.State, kill time.Duration) string {
	s := newPaperServers(t)
	real, now := site("", 20), before
	s.host["a.test"] = func(q question) reply {
		if q.path == "/" || q.path == "/robots.txt" {
			return real(q)
		}
		return now
	}
	text := politeConfig(map[string]string{"recrawl": `min-age = "0s"`, "retry": "max-retries = 0"})
	s.crawl(text, 0)
	s.completed()
	time.Sleep(48 * time.Hour)
	now = anubis()
	if kill > 0 {
		s.crawl(text, kill)
		crawltest.Verify(t, s.path)
	}
	s.crawl(text, 0)
	s.completed()
	crawltest.Verify(t, s.path)
	if h := s.hostRecord("a.test"); h.RunGivenUp != schema.GaveUpWall {
		t.Fatalf("after a kill at %s: a.test was not given up: %d", kill, h.RunGivenUp)
	}
	kept := 0
	s.surveyed(func(sv *survey.Survey) error {
		return sv.EachPage(func(p *survey.Page) error {
			if p.URL != "https://a.test/" && p.Visit.Answer == schema.AnswerPage {
				if kept++; p.State != want {
					t.Errorf("after a kill at %s: %s is %s, want %s", kill, p.URL, p.State, want)
				}
			}
			return nil
		})
	})
	if kept != 10 {
		t.Errorf("after a kill at %s: %d pages have their earlier result, want 10", kill, kept)
	}
	return crawltest.Digest(t, s.path)
}
