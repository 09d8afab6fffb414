package crawl_test

import (
	"net/http"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/kv/survey"
	"github.com/sumi-ripple/ripple/schema"
)

const heldConfig = `
[crawler]
max-depth = 1
[politeness]
max-rate-limits = 1
[[quality]]
domain = "home.test"
seeds = ["https://home.test/"]
[[page-type]]
name = "item"
domain = "*.shop.test"
path = '^/(?P<group>item)/'
max-per-group = 2
`

// TestHeldPages: a page that waits for open visits of its group is visited after all if one of them
// comes to nothing.
func TestHeldPages(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Host("home.test").Page("/", crawltest.Anchors("https://a.shop.test/item/1", "https://b.shop.test/item/1",
		"https://c.shop.test/item/1"))
	for _, host := range []string{"a", "b"} { // answered slowly, and given up at once
		s.Host(host+".shop.test").Page("/item/1", "").Times(9, http.StatusTooManyRequests,
			http.Header{"Retry-After": {"7200"}}).Delay(300e6)
	}
	s.Host("c.shop.test").Page("/item/1", "<title>C</title>").Delay(300e6)
	err := crawltest.Survey(t, crawled(t, s, heldConfig)).EachPage(func(p *survey.Page) error {
		if p.State == schema.Queued {
			t.Errorf("%s is left waiting", p.URL)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
