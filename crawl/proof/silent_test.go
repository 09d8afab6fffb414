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

// TestSilentHosts has honest hosts together with hosts that accept connections and say nothing.
func TestSilentHosts(t *testing.T) {
	beside(t, func(h *webtest.Host) { h.Down(webtest.DownSilent) })
}

// TestSlowHosts has honest hosts together with hosts that answer robots.txt and HEAD at once, but
// whose pages arrive slowly for as long as the crawl lasts.
func TestSlowHosts(t *testing.T) {
	beside(t, func(h *webtest.Host) {
		h.Page("/", "<title>a long page</title>").Fault(fault.BodyDrip).Every(100 * time.Millisecond)
	})
}

// beside compares how often honest hosts are requested together with hundreds of other hosts, in
// full with thousands, with how often they are without them: at least nine tenths as often. Without
// reserved slots it would be one tenth. Both crawls run at the same time, so that a busy machine
// slows both. As it may slow one more, or both too much for a comparison, there are ten tries, of
// which later ones last longer, or as many as envTries says.
func beside(t *testing.T, others func(*webtest.Host)) {
	t.Helper()
	for try := range crawltest.Number(envTries, 10) {
		if besideOnce(t, others, time.Duration(1+try/3)) {
			return
		}
	}
	t.Error("honest hosts were asked too seldom")
}

// besideOnce compares for times times eight seconds, in full 25.
func besideOnce(t *testing.T, others func(*webtest.Host), times time.Duration) bool {
	t.Helper()
	length, open, many := 8*time.Second*times, 10, 300
	if crawltest.Full() {
		length, open, many = 25*time.Second*times, 1000, 10_000
	}
	text := fmt.Sprintf(silentConfig, length, open)
	webs := []*webtest.Server{honestWeb(t, 0, nil), honestWeb(t, many, others)}
	var crawls []*exec.Cmd
	var ends []time.Time // requests are compared until then
	for _, s := range webs {
		ends = append(ends, time.Now().Add(length))
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
	// Both are compared for the same period, the only one in which there is something to request.
	quiet, among := honestlyAsked(webs[0], ends[0]), honestlyAsked(webs[1], ends[1])
	within := min(quiet.most, among.most)
	if n := len(quiet.after); n > 0 {
		within = min(within, quiet.after[n-1])
	}
	alone, disturbed := quiet.within(within), among.within(within)
	t.Logf("%d requests to honest hosts in the time of %d, %v", disturbed, alone, within.Round(time.Millisecond))
	met := map[string]bool{}
	for _, e := range webs[1].Log() {
		if e.Host[0] == 's' {
			met[e.Host] = true
		}
	}
	if len(met) < 5 {
		t.Logf("only %d of the others were asked", len(met))
		return false
	}
	return alone >= 40 && disturbed >= alone*9/10
}

// honestWeb has a few hosts that answer, and a number of others, which the pages of the first one
// link to.
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

// asked records when honest hosts were requested after the last of them had sent a page, since then
// and in order.
type asked struct {
	after []time.Duration
	most  time.Duration // for how long they could be requested; 0 or less: not all have sent a page
}

func (a asked) within(d time.Duration) (n int) {
	for _, at := range a.after {
		if at <= d {
			n++
		}
	}
	return n
}

// honestlyAsked reads the log of a web whose crawl sends requests until a time.
func honestlyAsked(s *webtest.Server, until time.Time) (a asked) {
	first, all := map[string]bool{}, until
	for _, e := range s.Log() {
		if e.Host[0] == 'h' && !first[e.Host] && e.Method == http.MethodGet && e.Path != "/robots.txt" &&
			!e.Done.IsZero() {
			if first[e.Host] = true; len(first) == honestHosts {
				all = e.Done
			}
		}
	}
	a.most = until.Sub(all)
	for _, e := range s.Log() {
		if e.Host[0] == 'h' && e.Arrived.After(all) {
			a.after = append(a.after, e.Arrived.Sub(all))
		}
	}
	return a
}
