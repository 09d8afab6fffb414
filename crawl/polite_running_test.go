package crawl_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A runningCrawl is a crawl of a web on loopback that gets commands while it is running.
type runningCrawl struct {
	*crawl.Crawl
	t      *testing.T
	server *webtest.Server
	result chan crawl.Result
}

const runningConfig = `
[crawler]
max-depth = 3
%s
[retry]
delay = "300ms"
[politeness]
adaptive-delay = false
[[quality]]
domain = "hub.test"
seeds = ["https://hub.test/"]
%s
`

func (c *runningCrawl) config(keys, more string) string {
	return crawltest.Config(c.t, c.server, fmt.Sprintf(runningConfig, keys, more))
}

func startCrawl(t *testing.T, keys string, serve func(*webtest.Server)) *runningCrawl {
	t.Helper()
	return startCrawlOn(t, nil, keys, serve)
}

func startCrawlOn(t *testing.T, m *crawl.Shared, keys string, serve func(*webtest.Server)) *runningCrawl {
	t.Helper()
	c := &runningCrawl{t: t, server: crawltest.Serve(t), result: make(chan crawl.Result, 1)}
	serve(c.server)
	store := crawltest.Open(t, stateFile(t))
	var err error
	if c.Crawl, _, err = crawl.Begin(t.Context(), store, crawl.Options{Config: crawltest.Parse(t, c.config(keys, "")),
		Log: slog.New(slog.DiscardHandler), Shared: m}); err != nil {
		t.Fatal(err)
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
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
func (c *runningCrawl) reload(keys, more string) {
	c.Reload(crawltest.Parse(c.t, c.config(keys, more)))
}

// await waits until the web gets a request.
func (c *runningCrawl) await(host, path string) {
	c.t.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
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
	s.Host("hub.test").Page("/", crawltest.Anchors(append(ten("https://one.test"),
		append(ten("https://two.test"), "https://hub.test/last")...)...))
	s.Host("hub.test").Page("/last", crawltest.Anchors("https://three.test/"))
	s.Host("three.test").Page("/", crawltest.Anchors("https://four.test/"))
	s.Host("four.test").Page("/", crawltest.Anchors("https://four.test/deep"))
	s.Host("four.test").Page("/deep", "x")
	for _, u := range ten("") {
		s.Host("one.test").Page(u, "x")
		s.Host("two.test").Page(u, "x")
	}
	s.Host("two.test").Page("/1", "x").Times(1, 500, nil)
	s.Host("new.test").Page("/", crawltest.Anchors("/more"))
	s.Host("new.test").Page("/more", "x")
}

// held serves a web with one page that is answered only when it is released: until then the crawl
// keeps running.
func held() (serve func(*webtest.Server), release func()) {
	held := make(chan struct{})
	return func(s *webtest.Server) {
		serveTens(s)
		s.Host("two.test").Handle("/3", func(http.ResponseWriter, *http.Request) { <-held })
	}, sync.OnceFunc(func() { close(held) })
}

// long serves a web that takes a minute to crawl.
func long(s *webtest.Server) {
	serveTens(s)
	for i := range 600 {
		s.Host("hub.test").Page(fmt.Sprintf("/long/%d", i), crawltest.Anchors(fmt.Sprintf("/long/%d", i+1)))
	}
	s.Host("hub.test").Page("/last", crawltest.Anchors("/long/0"))
}

// reloaded is in a configuration that is applied later: every request shows whether it is.
const reloaded = "[user-agent]\ncrawler-version = \"2.0\"\n"

// isReloaded reports whether a request was sent under a configuration with [reloaded].
func isReloaded(e webtest.Entry) bool { return e.UserAgent == "TestBot/2.0" }

// TestReload changes the configuration of a running crawl.
func TestReload(t *testing.T) {
	t.Parallel()
	serve, release := held()
	defer release()
	c := startCrawl(t, "", serve)
	c.await("two.test", "/3")
	c.reload("", reloaded+"[[blacklist]]\ndomain = \"two.test\"\n[[quality]]\ndomain = \"new.test\"\n"+
		"seeds = [\"https://new.test/\"]\n")
	release()
	c.await("new.test", "/more")
	if res := <-c.result; !res.Walked {
		t.Errorf("the walk ended early: %s", res.Run.End)
	}
	if got := len(c.asked("one.test")); got != 10 {
		t.Errorf("one.test was asked %d times, want 10", got)
	}
	if got := c.asked("two.test"); len(got) >= 10 {
		t.Errorf("two.test was asked for %v before it was blacklisted", got)
	}
	for _, e := range c.server.Log() {
		if e.Host == "two.test" && isReloaded(e) {
			t.Errorf("%s was asked for: two.test is blacklisted, and so is its retry", e.Path)
		}
	}
	if got := c.asked("four.test"); len(got) == 0 {
		t.Error("four.test was not reached")
	}
	rules := []webtest.Rule{webtest.MinGap(100*time.Millisecond, 0), webtest.MaxOpen(1, 0), webtest.RobotsFirst()}
	for _, bad := range webtest.CheckLog(c.server.Log(), rules...) {
		t.Error(bad)
	}
}

// TestReloadsAtOnce reloads a crawl several times before it can apply the first configuration.
func TestReloadsAtOnce(t *testing.T) {
	t.Parallel()
	c := startCrawl(t, "", serveTens)
	c.await("one.test", "/2")
	for i := range 6 {
		c.reload(fmt.Sprintf("max-domain-requests = %d", 500+i), "")
	}
	if res := <-c.result; !res.Walked {
		t.Errorf("the walk ended early: %s", res.Run.End)
	}
	if one, two := len(c.asked("one.test")), len(c.asked("two.test")); one != 10 || two != 11 {
		t.Errorf("asked %d and %d times, want 10 and 11", one, two)
	}
}

// TestReloadRefused keeps the present configuration.
func TestReloadRefused(t *testing.T) {
	t.Parallel()
	c := startCrawl(t, "", serveTens)
	c.await("one.test", "/2")
	c.reload("", "[[blacklist]]\ndomain = \"two.test\"\n[url]\nmax-length = 500\n")
	res := <-c.result
	if !res.Walked || len(c.asked("two.test")) != 11 {
		t.Errorf("ended with %q, two.test was asked %d times", res.Run.End, len(c.asked("two.test")))
	}
}

// TestReloadSlower requests no host earlier than the new delay allows.
func TestReloadSlower(t *testing.T) {
	t.Parallel()
	serve, release := held()
	defer release()
	c := startCrawl(t, "", serve)
	c.await("two.test", "/3")
	c.reload("minimum-time-on-page = 400", reloaded)
	release()
	if res := <-c.result; !res.Walked {
		t.Errorf("the walk ended early: %s", res.Run.End)
	}
	judged := 0
	slower := func(_ string, log []webtest.Entry) (lines []string) {
		for i := 1; i < len(log); i++ {
			before, e := log[i-1], log[i]
			if !isReloaded(before) {
				continue
			}
			judged++
			if gap := e.Arrived.Sub(before.FirstByte); gap < 400*time.Millisecond {
				lines = append(lines, fmt.Sprintf("%s %v after the answer before", e.Path, gap))
			}
		}
		return lines
	}
	for _, bad := range webtest.CheckLog(c.server.Log(), slower) {
		t.Error(bad)
	}
	if judged < 5 {
		t.Errorf("%d gaps were judged", judged)
	}
}

// TestPauseHolds keeps a paused crawl silent, even over a reload.
func TestPauseHolds(t *testing.T) {
	t.Parallel()
	serve, release := held()
	defer release()
	c := startCrawl(t, "", serve)
	c.await("two.test", "/3")
	if err := c.Pause(); err != nil {
		t.Fatal(err)
	}
	release()
	for open := 1; open > 0; { // open requests finish
		st, err := c.Status()
		if err != nil {
			t.Fatal(err)
		}
		open = st.Open
	}
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
		t.Errorf("the walk ended early: %s", res.Run.End)
	}
}

// TestMaxRunTime ends the process's work, and a resumed crawl continues.
func TestMaxRunTime(t *testing.T) {
	t.Parallel()
	c := startCrawl(t, "max-run-time = \"600ms\"", long)
	if res := <-c.result; res.Walked || res.Run.End.String() != "max-run-time = 600ms" {
		t.Errorf("walked %t, %q", res.Walked, res.Run.End)
	}
	c = startCrawl(t, "", long)
	c.await("one.test", "/1")
	c.reload("max-run-time = \"1ms\"", "")
	if res := <-c.result; res.Walked || res.Run.End.String() != "max-run-time = 1ms" {
		t.Errorf("walked %t, %q", res.Walked, res.Run.End)
	}
}

// TestMaxRunTimeOfProcess crawls again in one process, as a node does that has lost a lease: the
// time of the earlier work counts.
func TestMaxRunTimeOfProcess(t *testing.T) {
	t.Parallel()
	m := crawl.NewShared(0)
	for n := range 2 {
		c := startCrawlOn(t, m, "max-run-time = \"600ms\"", long)
		res := <-c.result
		if again := res.Run.Running < 500*time.Millisecond; res.Walked || again != (n == 1) {
			t.Errorf("crawl %d: walked %t, %q after %s", n+1, res.Walked, res.Run.End, res.Run.Running)
		}
	}
}

// TestReloadPromisesMore lengthens the delay by a reload: it applies from the next request on.
func TestReloadPromisesMore(t *testing.T) {
	t.Parallel()
	c := startCrawl(t, "minimum-time-on-page = 1000", func(s *webtest.Server) {
		s.Host("hub.test").Page("/", crawltest.Anchors(ten("https://hub.test")...))
		for _, u := range ten("") {
			s.Host("hub.test").Page(u, "x")
		}
	})
	c.await("hub.test", "/0")
	at := time.Now()
	c.reload("minimum-time-on-page = 4000\nmax-pages = 3", "")
	<-c.result
	all := c.server.Log()
	for i := 1; i < len(all); i++ {
		if rest := all[i].Arrived.Sub(all[i-1].FirstByte); all[i].Arrived.After(at) && rest < 3900*time.Millisecond {
			t.Errorf("%s was asked %v after the answer before it", all[i].Path, rest)
		}
	}
	if last := all[len(all)-1]; last.Arrived.Before(at) {
		t.Error("nothing was asked after the reload")
	}
}
