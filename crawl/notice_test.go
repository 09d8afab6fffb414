package crawl_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
)

const noticeConfig = `
[crawler]
max-depth = 0
[[quality]]
domain = "moved.test"
seeds = ["https://moved.test/"]
[[quality]]
domain = "home.test"
seeds = ["https://home.test/"]
`

// TestNotices: anything that makes a map smaller than its owner expects is reported at once.
func TestNotices(t *testing.T) {
	t.Parallel()
	s := crawltest.Serve(t)
	s.Host("moved.test").Redirect("/", "https://elsewhere.test/", 301)
	s.Host("home.test").Page("/", crawltest.Anchors("https://shop.home.test/", "https://home.test/in",
		"https://other.test/"))
	s.Host("home.test").Page("/in", crawltest.Anchors("https://shop.home.test/again"))
	var out bytes.Buffer
	store := crawltest.Open(t, stateFile(t))
	log := slog.New(slog.NewTextHandler(&out, nil))
	c, _, err := crawl.Begin(t.Context(), store,
		crawl.Options{Config: crawltest.Parse(t, crawltest.Config(t, s, noticeConfig)), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for text, n := range map[string]int{
		`a seed ends outside its origin" seed=https://moved.test/ at=https://elsewhere.test/`: 1,
		`a subdomain of an origin is not covered" host=shop.home.test pattern=*.home.test`:    1,
		`other.test`: 0,
	} {
		if got := strings.Count(out.String(), text); got != n {
			t.Errorf("%q is said %d times, want %d:\n%s", text, got, n, out.String())
		}
	}
}
