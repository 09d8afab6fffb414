package crawl_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A runningCrawl is a crawl of a web on loopback that is told things on its way.
type runningCrawl struct {
	*crawl.Crawl
	t      *testing.T
	server *webtest.Server
	ca     string
	result chan crawl.Result
}

const runningConfig = `
[crawler]
max-depth = 3
head-check = "never"
sitemaps = "off"
minimum-time-on-page = 100
%s
[user-agent]
crawler-name = "RunningBot"
[retry]
delay = "300ms"
[politeness]
adaptive-delay = false
[network]
ca-file = %q
connect-to = { "*.test" = %q }
[[quality]]
domain = "hub.test"
seeds = ["https://hub.test/"]
%s
`

func (c *runningCrawl) config(keys, more string) string {
	return fmt.Sprintf(runningConfig, keys, c.ca, c.server.Addr(), more)
}

func startCrawl(t *testing.T, keys, more string, serve func(*webtest.Server)) *runningCrawl {
	t.Helper()
	c := &runningCrawl{t: t, server: newServer(t), result: make(chan crawl.Result, 1)}
	serve(c.server)
	dir := t.TempDir()
	var err error
	if c.ca, err = c.server.CAFile(dir); err != nil {
		t.Fatal(err)
	}
	store := openStore(t, filepath.Join(dir, "state.bolt"))
	if c.Crawl, _, err = crawl.Begin(t.Context(), store, crawl.Options{Config: parse(t, c.config(keys, more)), Log: quiet()}); err != nil {
		t.Fatal(err)
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		res, err := c.Run(ctx)
		if err != nil {
			t.Error(err)
		}
		c.result <- res
	}()
	return c
}

// reload applies another configuration.
func (c *runningCrawl) reload(keys, more string) { c.Reload(parse(c.t, c.config(keys, more))) }

// await waits until the web was asked for something.
func (c *runningCrawl) await(host, path string) {
	c.t.Helper()
	for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(time.Millisecond) {
		for _, e := range c.server.Log() {
			if e.Host == host && e.Path == path {
				return
			}
		}
	}
	c.t.Fatalf("%s%s was never asked", host, path)
}

func (c *runningCrawl) asked(host string) (paths []string) {
	for _, e := range c.server.Log() {
		if e.Host == host && e.Path != "/robots.txt" {
			paths = append(paths, e.Path)
		}
	}
	return paths
}

func ten(prefix string) (urls []string) {
	for i := range 10 {
		urls = append(urls, fmt.Sprintf("%s/%d", prefix, i))
	}
	return urls
}

func serveTens(s *webtest.Server) {
	s.Host("hub.test").Page("/", a(append(ten("https://one.test"), append(ten("https://two.test"), "https://hub.test/last")...)...))
	s.Host("hub.test").Page("/last", a("https://three.test/"))
	s.Host("three.test").Page("/", a("https://four.test/"))
	s.Host("four.test").Page("/", a("https://four.test/deep"))
	s.Host("four.test").Page("/deep", "x")
	for _, u := range ten("") {
		s.Host("one.test").Page(u, "x")
		s.Host("two.test").Page(u, "x")
	}
	s.Host("two.test").Page("/1", "x").Times(1, 500, nil)
	s.Host("new.test").Page("/", a("/more"))
	s.Host("new.test").Page("/more", "x")
}

// TestReload changes the configuration of a running crawl.
func TestReload(t *testing.T) {
	c := startCrawl(t, "", "", serveTens)
	c.await("two.test", "/3")
	c.reload("", "[[blacklist]]\ndomain = \"two.test\"\n[[quality]]\ndomain = \"new.test\"\nseeds = [\"https://new.test/\"]\n")
	c.await("new.test", "/more")
	if res := <-c.result; !res.Walked {
		t.Errorf("the walk ended early: %s", res.Reason)
	}
	if got := len(c.asked("one.test")); got != 10 {
		t.Errorf("one.test was asked %d times, want 10", got)
	}
	if got := c.asked("two.test"); len(got) >= 10 || strings.Count(strings.Join(got, " ")+" ", "/1 ") != 1 {
		t.Errorf("two.test was asked for %v: it is blacklisted, and so is its retry", got)
	}
	if got := c.asked("four.test"); len(got) == 0 {
		t.Error("four.test was not reached")
	}
	rules := []webtest.Rule{webtest.MinGap(100*time.Millisecond, 0), webtest.MaxOpen(1, 0), webtest.RobotsFirst()}
	for _, bad := range webtest.CheckLog(c.server.Log(), rules...) {
		t.Error(bad)
	}
}

// TestReloadsAtOnce tells a crawl several times, before it could heed the first.
func TestReloadsAtOnce(t *testing.T) {
	c := startCrawl(t, "", "", serveTens)
	c.await("one.test", "/2")
	for i := range 6 {
		c.reload(fmt.Sprintf("max-domain-requests = %d", 500+i), "")
	}
	if res := <-c.result; !res.Walked {
		t.Errorf("the walk ended early: %s", res.Reason)
	}
	if one, two := len(c.asked("one.test")), len(c.asked("two.test")); one != 10 || two != 11 {
		t.Errorf("asked %d and %d times, want 10 and 11", one, two)
	}
}

// TestReloadRefused keeps the configuration that it has.
func TestReloadRefused(t *testing.T) {
	c := startCrawl(t, "", "", serveTens)
	c.await("one.test", "/2")
	c.reload("", "[[blacklist]]\ndomain = \"two.test\"\n[url]\nmax-length = 500\n")
	res := <-c.result
	if !res.Walked || len(c.asked("two.test")) != 11 {
		t.Errorf("ended with %q, two.test was asked %d times", res.Reason, len(c.asked("two.test")))
	}
}

// TestReloadSlower asks no host earlier than the new delay allows.
func TestReloadSlower(t *testing.T) {
	var since atomic.Int64
	c := startCrawl(t, "", "", serveTens)
	c.await("one.test", "/3")
	cfg := parse(t, strings.Replace(c.config("", ""), "minimum-time-on-page = 100", "minimum-time-on-page = 400", 1))
	since.Store(time.Now().UnixNano())
	c.Reload(cfg)
	if res := <-c.result; !res.Walked {
		t.Errorf("the walk ended early: %s", res.Reason)
	}
	slower := func(_ string, log []webtest.Entry) (lines []string) {
		for i := 1; i < len(log); i++ {
			if from := time.Unix(0, since.Load()).Add(150 * time.Millisecond); log[i-1].Arrived.After(from) && log[i].Arrived.Sub(log[i-1].FirstByte) < 400*time.Millisecond {
				lines = append(lines, fmt.Sprintf("%s %v after the answer before", log[i].Path, log[i].Arrived.Sub(log[i-1].FirstByte)))
			}
		}
		return lines
	}
	for _, bad := range webtest.CheckLog(c.server.Log(), slower) {
		t.Error(bad)
	}
}

// TestPauseHolds keeps a paused crawl silent, also over a reload.
func TestPauseHolds(t *testing.T) {
	c := startCrawl(t, "", "", serveTens)
	c.await("one.test", "/1")
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // what is open comes in
	before := len(c.server.Log())
	c.reload("max-domain-requests = 400", "")
	time.Sleep(400 * time.Millisecond)
	if now := len(c.server.Log()); now != before {
		t.Errorf("%d requests while paused", now-before)
	}
	if err := c.Unpause(); err != nil {
		t.Fatal(err)
	}
	if res := <-c.result; !res.Walked {
		t.Errorf("the walk ended early: %s", res.Reason)
	}
}

// TestMaxRunTime ends the process's work, and a resumed one goes on.
func TestMaxRunTime(t *testing.T) {
	c := startCrawl(t, "max-run-time = \"600ms\"", "", serveTens)
	if res := <-c.result; res.Walked || res.Reason != "max-run-time = 600ms" {
		t.Errorf("walked %t, %q", res.Walked, res.Reason)
	}
	c = startCrawl(t, "", "", serveTens)
	c.await("one.test", "/1")
	c.reload("max-run-time = \"1ms\"", "")
	if res := <-c.result; res.Walked || res.Reason != "max-run-time = 1ms" {
		t.Errorf("walked %t, %q", res.Walked, res.Reason)
	}
}
