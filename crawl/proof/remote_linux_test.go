package proof

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv/survey"
)

const (
	outageHosts = 12 // the second half of them is found late
	outagePages = 25
	hostGap     = 100 * time.Millisecond
)

const outageConfig = `
[crawler]
max-depth = 4
max-concurrent-pages-open = 8
%s
[state]
path = %q
[network]
connect-to = {}
allow-private = ["10.0.0.0/8"]
[retry]
max-retries = 0
timeout = "5s"
connect-timeout = "4s"
[politeness]
adaptive-delay = false
[[quality]]
domain = "h0.test"
seeds = [%s]
`

// A remoteWeb is a web in another network than the crawler, with a name server.
type remoteWeb struct {
	*twoNetworks
	web    *webtest.Server
	portal *portal // in front of it
	names  *nameServer
	dir    string
	conf   string // resolv.conf of the crawler
}

func newRemoteWeb(t *testing.T) *remoteWeb {
	t.Helper()
	w := &remoteWeb{twoNetworks: newTwoNetworks(t), dir: t.TempDir()}
	w.portal = &portal{Listener: w.listen("0.0.0.0:443")}
	w.web = crawltest.Serve(t, webtest.WithListener(w.portal))
	w.names = w.nameServer()
	w.conf = filepath.Join(w.dir, "resolv.conf")
	w.ask(resolver)
	for i := range outageHosts {
		w.host(i)
	}
	return w
}

// host adds a line of pages that all hosts have. Each host of the first half links to one of the
// second half late.
func (w *remoteWeb) host(i int) {
	h := w.web.Host(fmt.Sprintf("h%d.test", i))
	var links []string
	for p := range outagePages {
		links = append(links, fmt.Sprintf("/%d", p))
		h.Page(fmt.Sprintf("/%d", p), fmt.Sprintf("<title>page %d</title>", p))
	}
	if i == 0 {
		for other := range outageHosts / 2 {
			links = append(links, fmt.Sprintf("https://h%d.test/", other))
		}
	}
	if late := i + outageHosts/2; late < outageHosts {
		h.Page(fmt.Sprintf("/%d", outagePages*2/3), crawltest.Anchors(fmt.Sprintf("https://h%d.test/", late)))
	}
	h.Page("/", crawltest.Anchors(links...))
}

// line adds a line of further pages after the last page of a host.
func (w *remoteWeb) line(host, pages int) {
	h := w.web.Host(fmt.Sprintf("h%d.test", host))
	var links []string
	for p := range pages {
		links = append(links, fmt.Sprintf("/late/%d", p))
		h.Page(links[p], "<title>a late page</title>")
	}
	h.Page(fmt.Sprintf("/%d", outagePages-1), crawltest.Anchors(links...))
}

// othersAsked counts the requests to pages outside such lines.
func (w *remoteWeb) othersAsked() (n int) {
	for _, e := range w.web.Log() {
		if !strings.HasPrefix(e.Path, "/late/") {
			n++
		}
	}
	return n
}

// ask sets which name server the crawler uses.
func (w *remoteWeb) ask(server string) {
	w.t.Helper()
	if err := os.WriteFile(w.conf, []byte("nameserver "+server+"\noptions timeout:2 attempts:2\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// A remoteCrawl is a crawler in its own network.
type remoteCrawl struct {
	*remoteWeb
	cmd   *exec.Cmd
	state string
	said  chan []string // its printed status
	ended chan error
}

func (w *remoteWeb) crawl(keys string) *remoteCrawl {
	w.t.Helper()
	ca, err := w.web.CAFile(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	c := &remoteCrawl{
		remoteWeb: w, state: filepath.Join(w.dir, "state.bolt"), said: make(chan []string, 1),
		ended: make(chan error, 1),
	}
	path := filepath.Join(w.dir, "config.toml")
	text := crawltest.Complete(fmt.Sprintf(outageConfig, keys, c.state, `"https://h0.test/"`), ca, "")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	c.cmd = child(path, envWatch+"=network", envLog+"="+c.log(), envResolv+"="+w.conf)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = within(w.crawler, c.cmd.Start)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		var lines []string
		for s := bufio.NewScanner(out); s.Scan(); {
			lines = append(lines, s.Text())
		}
		c.said <- lines
		c.ended <- c.cmd.Wait()
	}()
	w.t.Cleanup(func() { _ = c.cmd.Process.Kill() })
	return c
}

func (c *remoteCrawl) log() string { return filepath.Join(c.dir, "log.json") }

// logged returns the crawler's log messages.
func (c *remoteCrawl) logged() (messages []string) {
	text, _ := os.ReadFile(c.log())
	for _, line := range strings.Split(string(text), "\n") {
		var entry struct{ Msg string }
		if json.Unmarshal([]byte(line), &entry) == nil {
			messages = append(messages, entry.Msg)
		}
	}
	return messages
}

func (c *remoteCrawl) told(text string) (times int) {
	for _, m := range c.logged() {
		if strings.Contains(m, text) {
			times++
		}
	}
	return times
}

// until waits for a condition.
func (c *remoteCrawl) until(what string, happened func() bool) {
	c.t.Helper()
	for began := time.Now(); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > patience {
			c.t.Fatalf("no %s after %v; the crawler told: %q", what, patience, c.logged())
		}
	}
}

// answers waits for a number of further answers.
func (c *remoteCrawl) answers(more int) {
	c.t.Helper()
	before := len(c.web.Log())
	c.until("answers", func() bool { return len(c.web.Log()) >= before+more })
}

const (
	toldAway  = "the network of this machine is away"
	toldThere = "the network is available again"
)

func (c *remoteCrawl) away() {
	c.t.Helper()
	c.until("outage", func() bool { return c.told(toldAway) > 0 })
}

// stop suspends the crawler for longer than its time-outs.
func (c *remoteCrawl) stop() {
	c.t.Helper()
	c.signal(syscall.SIGSTOP)
	time.Sleep(7 * time.Second)
}

func (c *remoteCrawl) resume() {
	c.t.Helper()
	told := func() int { return c.told("this process came late") + c.told("this machine was suspended") }
	before := told() // it may have happened before, on a very busy machine
	c.signal(syscall.SIGCONT)
	c.until("word of the suspension", func() bool { return told() > before })
}

func (c *remoteCrawl) signal(s os.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// end waits for the end of the crawl, and checks what is the same in all crawls.
func (c *remoteCrawl) end() {
	c.t.Helper()
	select {
	case err := <-c.ended:
		if err != nil {
			c.t.Fatal(err)
		}
	case <-time.After(patience):
		c.t.Fatalf("the crawl does not end; it told: %q", c.logged())
	}
	crawltest.Verify(c.t, c.state)
	rules := []webtest.Rule{webtest.MinGap(hostGap, 5*time.Millisecond), webtest.MaxOpen(1, 0), webtest.RobotsFirst()}
	for _, bad := range webtest.CheckLog(c.web.Log(), rules...) {
		c.t.Error(bad)
	}
}

// wantOutages checks that outages were reported once each, in the log and in the status.
func (c *remoteCrawl) wantOutages(n int) {
	c.t.Helper()
	if away, there := c.told(toldAway), c.told(toldThere); away != n || there != n {
		c.t.Errorf("told %d times that the network is away and %d times that it is there, want %d: %q", away, there, n,
			c.logged())
	}
	want := strings.TrimSpace(strings.Repeat("away: true away: false ", n))
	if said := strings.Join(<-c.said, " "); said != want {
		c.t.Errorf("the status said %q, want %q", said, want)
	}
}

// wantBlameless checks that no host was blamed.
func (c *remoteCrawl) wantBlameless() {
	c.t.Helper()
	crawltest.EachPage(c.t, c.state, func(p *survey.Page) {
		if p.Error != "" || p.Retries > 0 {
			c.t.Errorf("%s: %s, %d retries", p.URL, p.Error, p.Retries)
		}
	})
}
