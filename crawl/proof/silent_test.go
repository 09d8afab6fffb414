package proof

import (
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/crawl/webtest/fault"
)

const silentConfig = `
[crawler]
max-depth = 2
max-run-time = "%s"
head-check = "always"
[retry]
timeout = "2s"
connect-timeout = "2s"
max-retries = 0
[politeness]
adaptive-delay = false
[network]
max-open = %d
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/"]
`

const honestHosts, honestPages = 4, 40

// TestSilentHosts has honest hosts beside hosts that accept and say nothing.
func TestSilentHosts(t *testing.T) {
	beside(t, func(h *webtest.Host) { h.Down(webtest.DownSilent) })
}

// TestSlowHosts has honest hosts beside hosts that answer for robots.txt and to HEAD at once, and whose pages drip for
// as long as the crawl lasts.
func TestSlowHosts(t *testing.T) {
	beside(t, func(h *webtest.Host) {
		h.Page("/", "<title>a long page</title>").Fault(fault.BodyDrip).Every(100 * time.Millisecond)
	})
}

// beside compares how often honest hosts are asked beside hundreds of others, in full beside thousands, with how often
// they are without them: nine tenths at least, where without slots of their own it would be one. Both crawls run at the
// same time, so that a busy machine slows both; as it may slow one more, or both until there is nothing to compare, they
// have ten tries.
func beside(t *testing.T, others func(*webtest.Host)) {
	t.Helper()
	for range 10 {
		if besideOnce(t, others) {
			return
		}
	}
	t.Error("honest hosts were asked too seldom")
}

func besideOnce(t *testing.T, others func(*webtest.Host)) bool {
	t.Helper()
	text, many := fmt.Sprintf(silentConfig, "8s", 10), 300
	if crawltest.Full() {
		text, many = fmt.Sprintf(silentConfig, "25s", 1000), 10_000
	}
	webs := []*webtest.Server{honestWeb(t, 0, nil), honestWeb(t, many, others)}
	var crawls []*exec.Cmd
	for _, s := range webs {
		cmd := child(newKillableWeb(t, s, text).config)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		crawls = append(crawls, cmd)
	}
	for _, cmd := range crawls {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	alone, disturbed := honestlyAsked(webs[0]), honestlyAsked(webs[1])
	t.Logf("%d requests to honest hosts in the time of %d", disturbed, alone)
	asked := map[string]bool{}
	for _, e := range webs[1].Log() {
		if e.Host[0] == 's' {
			asked[e.Host] = true
		}
	}
	if len(asked) < 5 {
		t.Logf("only %d of the others were asked", len(asked))
		return false
	}
	return alone >= 40 && disturbed >= alone*9/10
}

// honestWeb has a few hosts that answer, and so many others, which the pages of the first one lead to.
func honestWeb(t *testing.T, others int, change func(*webtest.Host)) *webtest.Server {
	s := crawltest.Serve(t)
	var links []string
	for i := range honestHosts {
		links = append(links, fmt.Sprintf("https://h%d.test/", i))
	}
	var far [honestPages + 1][]string
	for i := range others {
		name := fmt.Sprintf("s%d.test", i)
		change(s.Host(name))
		page := i / 300 % len(far) // more than 1,000 hosts of a page are not followed
		far[page] = append(far[page], "https://"+name+"/")
	}
	for p := range honestPages {
		links = append(links, fmt.Sprintf("/%d", p))
	}
	for i := range honestHosts {
		h := s.Host(fmt.Sprintf("h%d.test", i))
		h.Page("/", crawltest.Anchors(slices.Concat(links, far[0])...))
		for p := range honestPages {
			h.Page(fmt.Sprintf("/%d", p), "<title>a page</title>"+crawltest.Anchors(far[p+1]...))
		}
	}
	return s
}

// honestlyAsked counts requests to the honest hosts in the three seconds after the last of them had sent a page.
func honestlyAsked(s *webtest.Server) (n int) {
	first, all := map[string]bool{}, time.Time{}
	for _, e := range s.Log() {
		if e.Host[0] == 'h' && !first[e.Host] && e.Method == http.MethodGet && e.Path != "/robots.txt" && !e.Done.IsZero() {
			first[e.Host], all = true, e.Done
		}
	}
	for _, e := range s.Log() {
		if e.Host[0] == 'h' && e.Arrived.After(all) && e.Arrived.Before(all.Add(3*time.Second)) {
			n++
		}
	}
	return n
}
