package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/webtest"
	"github.com/sumi-ripple/ripple/kv"
)

const memoryConfig = `
[crawler]
max-depth = 0
max-concurrent-pages-open = 64
max-domain-requests = 1000000
max-pages = %d
[politeness]
minimum-time-per-address = "0s"
adaptive-delay = false
[traps]
max-per-prefix = 0
max-queries-per-path = 0
[[quality]]
domain = "*.gen.test"
seeds = ["%s"]
`

// BenchmarkMemory crawls like a user, in a process of its own, and measures the memory of that
// process: "anon-MB" is the peak of its own memory (RssAnon); "resident-MB" is the peak including
// mapped pages of the state file, which the system takes back whenever it needs them. "live-MB" is
// the most that a collection left, and "of-live" is anon-MB as a multiple of it.
func BenchmarkMemory(b *testing.B) {
	pages, hosts := crawltest.Number("RIPPLE_BENCH_PAGES", 30_000), crawltest.Number("RIPPLE_BENCH_HOSTS", 560)
	links := crawltest.Number("RIPPLE_BENCH_LINKS", 0)
	web := crawltest.Serve(b, webtest.WithoutLog())
	generated := web.Generate(1, webtest.GenConfig{
		Hosts: hosts, Pages: crawltest.Number("RIPPLE_BENCH_SITE", 2000), Links: links, Hrefs: links, Leave: 0.1,
	})
	program := filepath.Join(b.TempDir(), "ripple") // without test code
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for b.Loop() {
		path, state := crawltest.Files(b, web,
			fmt.Sprintf(memoryConfig, pages, strings.Join(generated.Seeds(), `", "`)))
		begun := time.Now()
		m := measured(b, exec.Command(program, "crawl", path, "-q"))
		took := time.Since(begun)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(pages)/took.Seconds(), "pages/s")
		b.ReportMetric(float64(m.cpu.Microseconds())/float64(pages), "cpu-us/page")
		b.ReportMetric(float64(urlsOf(b, state)), "URLs")
		b.ReportMetric(float64(m.anon)/1e6, "anon-MB")
		b.ReportMetric(float64(m.resident)/1e6, "resident-MB")
		b.ReportMetric(float64(m.live)/1e6, "live-MB")
		b.ReportMetric(float64(m.collections), "collections")
		b.ReportMetric(float64(m.anon)/float64(m.live), "of-live")
	}
}

func urlsOf(b *testing.B, state string) int {
	b.Helper()
	store, err := kv.Open(state, kv.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	return store.URLs()
}

// A footprint is the peak memory of a process, in bytes.
type footprint struct {
	anon, resident, live int64
	collections          int
	cpu                  time.Duration
}

// measured runs a command to its end and watches its memory.
func measured(b *testing.B, cmd *exec.Cmd) (m footprint) {
	b.Helper()
	cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
	told, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.follow(told)
	}()
	for over := false; !over; {
		select {
		case <-ended:
			over = true
		case <-time.After(20 * time.Millisecond):
			anon, total := residentOf(cmd.Process.Pid)
			m.anon, m.resident = max(m.anon, anon), max(m.resident, total)
		}
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return m
}

// follow reads how much each collection left: "gc 7 @0.1s 2%: ..., 4->5->3 MB, 6 MB goal, ...".
func (m *footprint) follow(told io.Reader) {
	for lines := bufio.NewScanner(told); lines.Scan(); {
		before, _, found := strings.Cut(lines.Text(), " MB, ")
		if !found || !strings.HasPrefix(before, "gc ") {
			fmt.Fprintln(os.Stderr, lines.Text())
			continue
		}
		m.collections++
		live, err := strconv.ParseInt(before[strings.LastIndex(before, ">")+1:], 10, 64)
		if err == nil {
			m.live = max(m.live, live<<20)
		}
	}
}

// residentOf returns the resident memory of a process: its own, and the total.
func residentOf(pid int) (anon, total int64) {
	f, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "RssAnon":
			anon = kb << 10
		case "VmRSS":
			total = kb << 10
		}
	}
	return anon, total
}
