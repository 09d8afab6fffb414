package crawl

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

const wideOutageConfig = `
[crawler]
max-depth = 0
minimum-time-on-page = 1000
[politeness]
adaptive-delay = false
[network]
max-open = %d
`

// TestWideOutage takes the network away for ten minutes while thousands of requests are open, in
// the middle of a crawl. No host is given up or blamed, hardly any request is sent meanwhile, no
// gap is shortened when all requests resume together, and the map is that of an undisturbed crawl.
func TestWideOutage(t *testing.T) {
	t.Parallel()
	hosts := 1000
	if crawltest.Full() {
		hosts = 10_000
	}
	quiet := newOutageWeb(t, hosts)
	quiet.crawl()
	w := newOutageWeb(t, hosts)
	w.from, w.to = 5500*time.Millisecond, 10*time.Minute
	w.crawl()
	open, probes := 0, 0
	for _, e := range w.log {
		switch at := e.Arrived.Sub(w.begun); {
		case at < w.from && e.Done.Sub(w.begun) > w.from:
			open++
		case at >= w.from+time.Minute && at < w.to:
			probes++
		}
	}
	if open < hosts*9/10 || probes > 60 {
		t.Errorf("%d were open when the network went, want %d; %d were asked while it was away, want 60 at most", open,
			hosts, probes)
	}
	w.wantMapOf(quiet)
	laws := []webtest.Rule{webtest.MinGap(time.Second, 0), webtest.MaxOpen(1, 0), webtest.RobotsFirst()}
	for _, bad := range webtest.CheckLog(w.log, laws...) {
		t.Error(bad)
	}
}

// TestResumedInOtherNetwork resumes a crawl in a network that blocks everything for a night, and
// answers for every host with its own certificate: hosts that answered the previous process are not
// to blame.
func TestResumedInOtherNetwork(t *testing.T) {
	t.Parallel()
	quiet := newOutageWeb(t, 20)
	quiet.crawl()
	w := newOutageWeb(t, 20)
	w.kill, w.to, w.lost = 7500*time.Millisecond, 8*time.Hour, reply{wait: 50 * time.Millisecond, cause: fetch.TLS}
	w.crawl()
	if n := len(w.log); n > 600 { // one a minute, and those of an undisturbed crawl
		t.Errorf("%d requests were made, most of them in vain", n)
	}
	w.wantMapOf(quiet)
}

// An outageWeb is many hosts with two pages that answer after three seconds, behind a network that
// is away for a while.
type outageWeb struct {
	*paperServers
	hosts    int
	kill     time.Duration // of a first process, while nothing is away; 0: there is none
	from, to time.Duration // since the start; 0: the network is never away
	lost     reply         // answer in that time
}

func newOutageWeb(t *testing.T, hosts int) *outageWeb {
	lost := reply{wait: 30 * time.Second, cause: fetch.Timeout}
	return &outageWeb{paperServers: newPaperServers(t), hosts: hosts, lost: lost}
}

// wantMapOf checks that no host is blamed, and that the map is that of an undisturbed crawl.
func (w *outageWeb) wantMapOf(quiet *outageWeb) {
	w.t.Helper()
	crawltest.EachPage(w.t, w.path, func(p *survey.Page) {
		if !p.Visited || p.Error != "" || p.Retries > 0 {
			w.t.Errorf("%s: visited %v, %q, %d retries", p.URL, p.Visited, p.Error, p.Retries)
		}
	})
	if got, want := crawltest.Digest(w.t, w.path), crawltest.Digest(w.t, quiet.path); got != want {
		w.t.Errorf("digest %s, want %s", got, want)
	}
}

func (w *outageWeb) crawl() {
	var seeds []string
	for i := range w.hosts {
		seeds = append(seeds, fmt.Sprintf(`"https://h%d.test/"`, i))
	}
	text := crawltest.Paper(fmt.Sprintf(wideOutageConfig, w.hosts)) +
		"[[quality]]\ndomain = \"*.test\"\nseeds = [" + strings.Join(seeds, ",") + "]\n"
	synctest.Test(w.t.(*testing.T), func(*testing.T) {
		w.other = w.reply
		if w.kill > 0 {
			away := w.to
			w.shared, w.to = NewShared(0), 0
			w.paperServers.crawl(text, w.kill)
			w.to = away
		}
		w.shared, w.begun = NewShared(0), time.Now()
		w.paperServers.crawl(text, 0)
	})
}

// reply is lost if it, or the request, falls into the outage.
func (w *outageWeb) reply(q question) reply {
	const latency = 3 * time.Second
	if now := time.Since(w.begun); w.to > 0 && now < w.to && now+latency > w.from {
		return w.lost
	}
	switch {
	case q.path == "/robots.txt":
		return reply{status: http.StatusNotFound, wait: latency}
	case q.path == "/":
		page := links(paths(1)...)
		page.wait = latency
		return page
	}
	return reply{status: http.StatusOK, body: "<title>x</title>", wait: latency}
}
