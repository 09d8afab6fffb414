package crawl

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sumi-ripple/ripple/schema"
)

// TestClockJumps moves every stored clock by a year, back and forth, between two starts. That
// causes at most one early request to each host, and no host waits for a clock that never runs out.
func TestClockJumps(t *testing.T) {
	year := 366 * 24 * time.Hour
	for name, by := range map[string]time.Duration{"ahead": year, "behind": -year} {
		for _, after := range []time.Duration{1500 * time.Millisecond, 4 * time.Second, 9 * time.Second} {
			t.Run(fmt.Sprintf("%s after %v", name, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { crawlOverJump(t, by, after) })
			})
		}
	}
}

func crawlOverJump(t *testing.T, by, after time.Duration) {
	s := newPaperServers(t)
	hosts := []string{"a.test", "slow.test", "busy.test", "failing.test"}
	s.host["a.test"] = func(q question) reply {
		if q.path == "/" {
			return links("/1", "/2", "/3", "https://slow.test/", "https://busy.test/", "https://failing.test/")
		}
		return site("", 8)(q)
	}
	s.host["slow.test"] = site("User-agent: *\nCrawl-delay: 3\n", 4)
	s.host["busy.test"] = throttling(5, 2, http.Header{"Retry-After": {"20"}})
	s.host["failing.test"] = func(q question) reply {
		if q.path == "/1" && q.n < 2 {
			return reply{status: http.StatusInternalServerError}
		}
		return site("", 4)(q)
	}
	cfg := politeConfig(map[string]string{"retry": "delay = \"5s\""})
	began := time.Now()
	s.crawl(cfg, after)
	known := map[string]bool{}
	for _, host := range hosts {
		if len(s.arrivals(host)) > 0 {
			known[host] = true
			s.changeHost(host, func(h *schema.Host) { jump(h, by) })
		}
	}
	s.crawl(cfg, 0)
	if took := time.Since(began); took > 3*time.Minute {
		t.Errorf("the crawl took %v: it waited for a clock", took)
	}
	if n := len(s.visits()); n < 20 {
		t.Errorf("%d visits", n)
	}
	for _, host := range hosts {
		early, at := 0, s.arrivals(host)
		for i := 1; i < len(at); i++ {
			if at[i]-at[i-1] < 1 {
				early++
			}
		}
		if early > 1 {
			t.Errorf("%s: %d early requests: %s", host, early, seconds(at))
		}
	}
}

// jump moves the clocks of a host, as if the wall clock had been wrong.
func jump(h *schema.Host, by time.Duration) {
	for _, clock := range []*time.Time{&h.LastByte, &h.LastEnd, &h.SuspendedTo, &h.RobotsAt, &h.RobotsDue} {
		if !clock.IsZero() {
			*clock = clock.Add(by)
		}
	}
	for i := range h.Retries {
		h.Retries[i].Due = h.Retries[i].Due.Add(by)
	}
}
