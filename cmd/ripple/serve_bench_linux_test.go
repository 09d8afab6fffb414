package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sumi-ripple/ripple/cmd/ripple/rippletest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
)

// A watchedCrawl is a crawl of many hosts, as fast as this machine allows, in a process of its own.
// The web and the viewers are in this process.
type watchedCrawl struct {
	b   *testing.B
	cmd *exec.Cmd
	url string // of its streams
	key string // its token
}

func crawlManyHosts(b *testing.B) *watchedCrawl {
	b.Helper()
	web, err := webtest.New()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { web.Close() })
	const hosts = 400
	web.Generate(1, webtest.GenConfig{Hosts: hosts, Pages: 100_000, Links: 20, Hrefs: 30, Size: 6000, Endless: true})
	dir, err := os.MkdirTemp("", "watch") // short enough for a socket
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	if _, err := web.CAFile(dir); err != nil {
		b.Fatal(err)
	}
	text := strings.Replace(rippletest.SmallConfig(web.Addr(), false, []string{"max-concurrent-pages-open=100",
		"max-domain-requests=100000"}), `domain = "a.test"`, `domain = "*.gen.test"`, 1)
	var seeds []string
	for i := range hosts {
		seeds = append(seeds, fmt.Sprintf("%q", fmt.Sprintf("https://h%d.gen.test/", i)))
	}
	text = strings.Replace(text, `["https://a.test/"]`, "["+strings.Join(seeds, ", ")+"]", 1)
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	c := &watchedCrawl{b: b, cmd: ripple("crawl", "--listen", "127.0.0.1:0", path)}
	said, err := c.cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	lines := bufio.NewScanner(said)
	for c.key == "" && lines.Scan() {
		c.url, c.key, _ = strings.Cut(deskAddress(lines.Text()), " ")
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // ends with the crawl
	return c
}

// used returns the processor time of the crawl, and how many pages it has visited.
func (c *watchedCrawl) used() (cpu time.Duration, pages float64) {
	c.b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		c.b.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	for _, field := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			c.b.Fatal(err)
		}
		cpu += time.Duration(n) * 10 * time.Millisecond
	}
	r, err := http.NewRequest("GET", c.url+"api/v1/status", nil)
	if err != nil {
		c.b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		c.b.Fatal(err)
	}
	defer a.Body.Close()
	status, err := io.ReadAll(a.Body)
	if err != nil {
		c.b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), `"pages_requested":`)
	digits, _, _ := strings.Cut(rest, ",")
	pages, err = strconv.ParseFloat(digits, 64)
	if err != nil {
		c.b.Fatalf("%v: %s", err, status)
	}
	return cpu, pages
}

// look keeps 16 streams open for a while.
func (c *watchedCrawl) look(ctx context.Context) *errgroup.Group {
	var g errgroup.Group
	for range 16 {
		g.Go(func() error {
			r, err := http.NewRequestWithContext(ctx, "GET", c.url+"api/v1/events", nil)
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+c.key)
			a, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			defer a.Body.Close()
			_, _ = io.Copy(io.Discard, a.Body)
			return nil
		})
	}
	return &g
}

// BenchmarkWatched compares the cost of a page in a crawl with 16 streams and in one without,
// alternating in one run, so that other load on the machine and the size of the map affect both
// alike.
func BenchmarkWatched(b *testing.B) {
	const turn = 5 * time.Second
	c := crawlManyHosts(b)
	time.Sleep(turn) // until all hosts are met
	var cost [2]time.Duration
	var visited [2]float64
	measure := func(which int) {
		cpu, pages := c.used()
		time.Sleep(turn)
		cpu2, pages2 := c.used()
		cost[which] += cpu2 - cpu
		visited[which] += pages2 - pages
	}
	for b.Loop() {
		measure(0)
		ctx, cancel := context.WithCancel(b.Context())
		g := c.look(ctx)
		time.Sleep(time.Second)
		measure(1)
		cancel()
		if err := g.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	alone, watched := cost[0].Seconds()/visited[0], cost[1].Seconds()/visited[1]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(alone*1e6, "cpu-us/page")
	b.ReportMetric(watched*1e6, "watched-cpu-us/page")
	b.ReportMetric(watched/alone, "of-alone")
	b.ReportMetric((visited[0]+visited[1])/float64(2*b.N)/turn.Seconds(), "pages/s")
}
