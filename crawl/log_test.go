package crawl_test

import (
	"testing"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestWithoutLog crawls with only a configuration: a page, and a host that makes the crawl warn.
func TestWithoutLog(t *testing.T) {
	s := crawltest.Serve(t)
	s.Host("a.test").Page("/", `<a href="/gone">gone</a>`)
	text := crawltest.Config(t, s, "[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n")
	store := crawltest.Open(t, stateFile(t))
	c, _, err := crawl.Begin(t.Context(), store, crawl.Options{
		Config: crawltest.Parse(t, text), Shared: crawl.NewShared(64), // few descriptors cause a warning
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Run(t.Context())
	if err != nil || !r.Walked || r.Run.Pages != 2 || r.Run.Status == schema.RunInterrupted {
		t.Errorf("%+v, %v", r, err)
	}
}
