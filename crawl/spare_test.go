package crawl

import (
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// The entries of a sitemap are known after a restart in the middle of the run: a page that the
// sitemap declares unchanged is not requested.
func TestListingsSurviveRestart(t *testing.T) {
	p := newEmptyPaper(t, `[recrawl]
min-age = "0s"
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/p0"]
`)
	p.web.links["https://h0.test/p0"] = []string{"https://h0.test/p1", "https://h0.test/p2"}
	p.run(0)
	p.complete()
	p.start()
	p.addSitemap("https://h0.test/sitemap.xml",
		schema.SitemapEntry{To: p.id("https://h0.test/p1"), LastMod: time.Unix(1e8, 0)})
	p.kill()
	p.run(0)
	for page, want := range map[string]int{"https://h0.test/p1": 1, "https://h0.test/p2": 2} {
		if got := p.asked[page]; got != want {
			t.Errorf("%s was asked %d times, want %d", page, got, want)
		}
	}
}
