package crawl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/schema/process"
)

// envServer makes the test binary serve a generated web, so that a benchmark can
// tell its own processor time from the server's. It names the folder for the
// certificate of its authority.
const envServer = "RIPPLE_TEST_SERVER"

// serveAsChild prints its address and serves until its input ends.
func serveAsChild() int {
	s, err := webtest.New(webtest.WithLatency(50*time.Millisecond), webtest.WithoutLog())
	if err == nil {
		_, err = s.CAFile(os.Getenv(envServer))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s.Generate(1, webtest.GenConfig{Hosts: 1000, Pages: 2000})
	fmt.Println(s.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = s.Close()
	return 0
}

// startServer returns the address and the certificate of a server in a process
// of its own.
func startServer(b *testing.B) (addr, ca string) {
	b.Helper()
	dir := b.TempDir()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envServer+"="+dir)
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
	addr, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(addr), filepath.Join(dir, "webtest-ca.pem")
}

// BenchmarkWaiting crawls hosts that may be asked once a second and answer after
// 50 ms: politeness allows hosts / 1.05 pages a second. "of-ceiling" is the share
// of that which is reached once every host has a connection, and "cores" what
// this process, without the server, needs for it.
func BenchmarkWaiting(b *testing.B) {
	addr, ca := startServer(b)
	for _, hosts := range []int{1000, 50} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			for b.Loop() {
				text := crawltest.Complete(fmt.Sprintf(benchConfig, 100, 1000, 1_000_000, true), ca, addr)
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

// crawlWindow counts what is visited, and the processor time that takes, for
// some seconds of a crawl that has warmed up.
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
