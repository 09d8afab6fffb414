package proof

import (
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

const silentConfig = `
[crawler]
max-depth = 2
max-concurrent-pages-open = 10
max-run-time = "8s"
[retry]
timeout = "2s"
connect-timeout = "2s"
max-retries = 0
[politeness]
adaptive-delay = false
[[quality]]
domain = "h0.test"
seeds = ["https://h0.test/"]
`

const honestHosts, honestPages = 4, 40

// TestSilentHosts compares how often honest hosts are asked beside hosts that accept and say nothing with how often
// they
// are without them. Both crawls run at the same time, so that a busy machine slows both.
func TestSilentHosts(t *testing.T) {
	webs := []*webtest.Server{honestWeb(t, 0), honestWeb(t, 300)}
	var crawls []*exec.Cmd
	for _, s := range webs {
		cmd := child(newKillableWeb(t, s, silentConfig).config)
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
	alone, beside := honestlyAsked(webs[0]), honestlyAsked(webs[1])
	if alone < 40 || beside < alone*9/10 {
		t.Errorf("%d requests to honest hosts in the time of %d", beside, alone)
	}
	silent := map[string]bool{}
	for _, e := range webs[1].Log() {
		if e.Host[0] == 's' {
			silent[e.Host] = true
		}
	}
	if len(silent) < 5 {
		t.Errorf("only %d silent hosts were asked", len(silent))
	}
}

// honestWeb has a few hosts that answer, and so many that do not.
func honestWeb(t *testing.T, silent int) *webtest.Server {
	s := crawltest.Serve(t)
	var links []string
	for i := range honestHosts {
		links = append(links, fmt.Sprintf("https://h%d.test/", i))
	}
	for i := range silent {
		name := fmt.Sprintf("s%d.test", i)
		s.Host(name).Down(webtest.DownSilent)
		links = append(links, "https://"+name+"/")
	}
	for p := range honestPages {
		links = append(links, fmt.Sprintf("/%d", p))
	}
	for i := range honestHosts {
		h := s.Host(fmt.Sprintf("h%d.test", i))
		h.Page("/", crawltest.Anchors(links...))
		for p := range honestPages {
			h.Page(fmt.Sprintf("/%d", p), "<title>a page</title>")
		}
	}
	return s
}

// honestlyAsked counts requests to the honest hosts in the three seconds after the last of them had answered once.
func honestlyAsked(s *webtest.Server) (n int) {
	first, all := map[string]bool{}, time.Time{}
	for _, e := range s.Log() {
		if e.Host[0] == 'h' && !first[e.Host] && !e.FirstByte.IsZero() {
			first[e.Host], all = true, e.FirstByte
		}
	}
	for _, e := range s.Log() {
		if e.Host[0] == 'h' && e.Arrived.After(all) && e.Arrived.Before(all.Add(3*time.Second)) {
			n++
		}
	}
	return n
}
