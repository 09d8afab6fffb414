package crawl_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/schema/process"
)

// envServer makes the test binary serve a generated web, so that a benchmark can separate its own
// processor time from the server's. It holds a [servedConfig].
const envServer = "RIPPLE_TEST_SERVER"

// A servedConfig describes the web of a server in a process of its own.
type servedConfig struct {
	Dir     string // for the certificate of its authority
	Latency time.Duration
	Hosts   int
	Size    int  // of a page; 0: that of a usual one
	Log     bool // at its end it reports the smallest gap that it saw, and the number of connections
	Heavy   bool // every host has a robots.txt and [heavyPage]
	Ports   int  // beside the first
}

// serveAsChild prints its addresses and serves until its input ends.
func serveAsChild() error {
	var cfg servedConfig
	if err := json.Unmarshal([]byte(os.Getenv(envServer)), &cfg); err != nil {
		return err
	}
	options := []webtest.Option{webtest.WithLatency(cfg.Latency), webtest.WithMorePorts(cfg.Ports)}
	if !cfg.Log {
		options = append(options, webtest.WithoutLog())
	}
	s, err := webtest.New(options...)
	if err != nil {
		return err
	}
	if _, err = s.CAFile(cfg.Dir); err != nil {
		return err
	}
	if cfg.Heavy {
		serveHeavy(s)
	} else {
		s.Generate(1, webtest.GenConfig{Hosts: cfg.Hosts, Pages: 2000, Size: cfg.Size})
	}
	fmt.Println(strings.Join(s.Addrs(), " "))
	_, _ = io.Copy(io.Discard, os.Stdin)
	fmt.Println(smallestGap(s.Log()).Microseconds())
	fmt.Println(connections(s.Log()))
	return s.Close()
}

// smallestGap returns the shortest time from an answer of a host to the next request to it; an
// hour: there was none. For an answer that was not completed, the time at which it was given up is
// unknown.
func smallestGap(log []webtest.Entry) time.Duration {
	least, last := time.Hour, map[string]time.Time{}
	for _, e := range log {
		if at := last[e.Host]; !at.IsZero() {
			least = min(least, e.Arrived.Sub(at))
		}
		if last[e.Host] = e.FirstByte; e.Aborted {
			delete(last, e.Host)
		}
	}
	return least
}

// connections returns how many connections the requests used.
func connections(log []webtest.Entry) int {
	seen := map[uint64]bool{}
	for _, e := range log {
		seen[e.Conn] = true
	}
	return len(seen)
}

// A serverProcess is a server in a process of its own.
type serverProcess struct {
	addr string
	all  []string // addresses; the first one is that of addr
	ca   string   // path of the certificate of its authority
	in   io.Closer
	out  *bufio.Reader
}

func startServerOf(b *testing.B, cfg servedConfig) *serverProcess {
	b.Helper()
	cfg.Dir = b.TempDir()
	text, err := json.Marshal(cfg)
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envServer+"="+string(text))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	p := &serverProcess{ca: filepath.Join(cfg.Dir, "webtest-ca.pem"), in: in, out: bufio.NewReader(out)}
	p.all = strings.Fields(p.line(b))
	p.addr = p.all[0]
	return p
}

func (p *serverProcess) line(b *testing.B) string {
	b.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// smallestGap ends the server and returns the shortest time in ms that it saw between an answer and
// the next request to the same host.
func (p *serverProcess) smallestGap(b *testing.B) float64 {
	b.Helper()
	p.in.Close()
	us, err := strconv.ParseFloat(p.line(b), 64)
	if err != nil {
		b.Fatal(err)
	}
	return us / 1000
}

// BenchmarkWaiting crawls hosts that may be requested once a second and answer after 50 ms:
// politeness allows hosts / 1.05 pages a second. "of-ceiling" is the speed relative to that once
// every host has a connection, and "cores" is the processor use of this process, without the
// server.
func BenchmarkWaiting(b *testing.B) {
	server := startServerOf(b, servedConfig{Latency: 50 * time.Millisecond, Hosts: 1000})
	for _, hosts := range []int{1000, 50} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			for b.Loop() {
				text := crawltest.Complete(fmt.Sprintf(benchConfig, 100, 1000, 1_000_000, true), server.ca, server.addr)
				pages, cpu, took := crawlWindow(b, text+waitingSeeds(hosts))
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(pages/took.Seconds(), "pages/s")
				b.ReportMetric(pages/took.Seconds()/(float64(hosts)/1.05), "of-ceiling")
				b.ReportMetric(cpu.Seconds()/took.Seconds(), "cores")
			}
		})
	}
}

func waitingSeeds(hosts int) string {
	var seeds []string
	for i := range hosts {
		seeds = append(seeds, fmt.Sprintf("\"https://h%d.gen.test/\"", i))
	}
	return "[[quality]]\ndomain = \"*.gen.test\"\nseeds = [" + strings.Join(seeds, ",") + "]\n"
}

// crawlWindow counts visits and their processor time for some seconds of a crawl that has warmed
// up.
func crawlWindow(b *testing.B, text string) (pages float64, cpu, took time.Duration) {
	b.Helper()
	const warm, window = 6 * time.Second, 10500 * time.Millisecond // ten rounds
	var visited atomic.Int64
	store := crawltest.Open(b, stateFile(b))
	c, _, err := crawl.Begin(b.Context(), store, crawl.Options{Config: crawltest.Parse(b, text),
		Log: slog.New(slog.DiscardHandler), OnVisit: func(crawl.Event) { visited.Add(1) }})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(ctx)
		ended <- err
	}()
	time.Sleep(warm)
	before, cpuBefore, begun := visited.Load(), process.CPUTime(), time.Now()
	time.Sleep(window)
	pages, cpu, took = float64(visited.Load()-before), process.CPUTime()-cpuBefore, time.Since(begun)
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
	return pages, cpu, took
}
