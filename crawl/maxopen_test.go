package crawl_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/schema/config"
)

const maxOpenConfig = `
[crawler]
max-depth = 0
head-check = "never"
sitemaps = "off"
[network]
max-open = %d
[[quality]]
domain = "*.gen.test"
seeds = ["%s"]
`

// A crawl goes from few open requests to thousands and back while it is running, loses nothing and
// stops when requested.
func TestReloadMaxOpen(t *testing.T) {
	t.Parallel()
	const hosts = 300
	s := crawltest.Serve(t, webtest.WithLatency(300*time.Millisecond))
	web := s.Generate(1, webtest.GenConfig{Hosts: hosts, Pages: 1000, Size: 500})
	with := func(open int) *config.Config {
		text := fmt.Sprintf(maxOpenConfig, open, strings.Join(web.Seeds(), `", "`))
		return crawltest.Parse(t, crawltest.Config(t, s, text))
	}
	c, _, err := crawl.Begin(t.Context(), crawltest.Open(t, stateFile(t)), crawl.Options{Config: with(2),
		Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx)
		ended <- err
	}()
	until := func(what string, reached func(crawl.Status) bool) {
		t.Helper()
		for {
			st, err := c.Status()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if reached(st) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	until("few", func(st crawl.Status) bool {
		if st.Open > 2 {
			t.Fatalf("%d open, want 2", st.Open)
		}
		return st.Sent > 10
	})
	c.Reload(with(5000))
	until("many", func(st crawl.Status) bool { return st.Open > 50 })
	c.Reload(with(2))
	until("few again", func(st crawl.Status) bool { return st.Open == 2 && st.Unsent > 0 })
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, bad := range webtest.CheckLog(s.Log(), webtest.MinGap(100*time.Millisecond, 5*time.Millisecond),
		webtest.MaxOpen(1, 0), webtest.RobotsFirst()) {
		t.Error(bad)
	}
}
