package proof

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

const wideConfig = `
[crawler]
max-depth = 1
head-check = "never"
sitemaps = "off"
[network]
max-open = 2000
[retry]
timeout = "5m"
connect-timeout = "5m"
[[quality]]
domain = "*.wide.test"
seeds = ["%s"]
`

// wideWeb is a web of many hosts with few pages, which all answer late, so that the maximum number
// of requests is open.
func wideWeb(t *testing.T, hosts int) *killableWeb {
	t.Helper()
	s := crawltest.Serve(t, webtest.WithLatency(time.Second))
	web := s.Generate(1, webtest.GenConfig{Domain: "wide.test", Hosts: hosts, Pages: 2, Links: 3, Hrefs: 4, Size: 400})
	return newKillableWeb(t, s, fmt.Sprintf(wideConfig, strings.Join(web.Seeds(), `", "`)))
}

// TestKilledWide kills a crawl with many requests open, twice: the map is that of a crawl without
// kills, and no more requests are repeated than may be uncommitted. On a busy machine, the server
// takes minutes for thousands of handshakes.
func TestKilledWide(t *testing.T) {
	t.Parallel()
	hosts, uncommitted := 200, 4000
	if crawltest.Full() {
		hosts = 6000
	}
	whole := wideWeb(t, hosts)
	whole.crawl(t, 0)
	w := wideWeb(t, hosts)
	kills := 0
	for range 2 {
		if w.killAfter(t, hosts/2) {
			kills++
		}
	}
	w.crawl(t, 0)
	if crawltest.Digest(t, w.state) != crawltest.Digest(t, whole.state) {
		report(t, "state", w.pages(t), whole.pages(t))
		t.Error("the map differs after kills")
	}
	asked, again := map[string]bool{}, 0
	for _, e := range w.server.Log() {
		if asked[e.Host+e.Path] {
			again++
		}
		asked[e.Host+e.Path] = true
	}
	t.Logf("%d kills of a crawl of %d URLs: %d requests were repeated", kills, len(asked), again)
	if kills == 0 || again > kills*uncommitted {
		t.Errorf("%d kills, %d requests were repeated, want at most %d a kill", kills, again, uncommitted)
	}
	for _, bad := range webtest.CheckLog(w.log(), webtest.MinGap(100*time.Millisecond, 5*time.Millisecond),
		webtest.MaxOpen(1, 0), webtest.RobotsFirst()) {
		t.Error(bad)
	}
}
