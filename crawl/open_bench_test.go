package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema/process"
)

const openConfig = `
[crawler]
max-depth = 0
head-check = "never"
sitemaps = "off"
minimum-time-on-page = 1000
max-domain-requests = 1000000
[retry]
timeout = "2m"
[politeness]
minimum-time-per-address = "0s"
adaptive-delay = false
[network]
max-open = %d
http2 = %t
connect-to = { %s }
`

// BenchmarkOpen crawls hosts that may be requested once a second and answer after a while, with
// many requests open. The limit is the least of hosts / (1 s + latency), max-open / latency, and
// what the processors can do, which is measured just before each run at no latency. "of-limit" is
// the speed relative to that; "of-cpu" compares the processor time of a request, which is more
// meaningful on a busy machine. "of-open" is the mean share of max-open that is open: where it is
// 1, the time for connections, which the limit does not include, accounts for the rest. The server
// is a process of its own.
func BenchmarkOpen(b *testing.B) {
	for _, tt := range []struct{ hosts, open int }{{500, 1000}, {20_000, 100}, {20_000, 1000}, {20_000, 10_000}} {
		for _, latency := range []time.Duration{5, 50, 300, 1000} {
			latency *= time.Millisecond
			b.Run(fmt.Sprintf("hosts=%d/open=%d/latency=%v", tt.hosts, tt.open, latency), func(b *testing.B) {
				for b.Loop() {
					w := servedFor(b, 0, tt.hosts)
					able, least, _ := w.rate(b, tt.open)
					gap := w.smallestGap(b)
					w = servedFor(b, latency, tt.hosts)
					rate, cpu, used := w.rate(b, tt.open)
					limit := min(able, float64(tt.hosts)/(time.Second+latency).Seconds(), float64(tt.open)/latency.Seconds())
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(able, "able/s")
					b.ReportMetric(rate, "requests/s")
					b.ReportMetric(rate/limit, "of-limit")
					b.ReportMetric(least/cpu, "of-cpu")
					b.ReportMetric(used/float64(tt.open), "of-open")
					b.ReportMetric(cpu, "cpu-us/request")
					b.ReportMetric(min(gap, w.smallestGap(b)), "smallest-gap-ms")
				}
			})
		}
	}
}

// BenchmarkOpenMemory opens as many requests as possible, none of which is answered, and measures
// what each costs.
func BenchmarkOpenMemory(b *testing.B) {
	const open = 5000
	for _, http2 := range []bool{true, false} {
		b.Run(fmt.Sprintf("http2=%t", http2), func(b *testing.B) {
			for b.Loop() {
				w := servedFor(b, time.Minute, 2*open)
				stop, c := w.begin(b, open, http2)
				debug.FreeOSMemory()
				before := heldNow()
				run := inBackground(c)
				for st := (crawl.Status{}); st.Open < open*9/10; time.Sleep(100 * time.Millisecond) {
					var err error
					if st, err = c.Status(); err != nil {
						b.Fatal(err)
					}
				}
				runtime.GC()
				st, err := c.Status()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(heldNow()-before)/float64(st.Open), "B/open")
				stop()
				<-run
			}
		})
	}
}

// heldNow returns the bytes of the heap and the stacks.
func heldNow() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// A servedWeb is a generated web in a process of its own.
type servedWeb struct {
	*serverProcess
	hosts int
}

func servedFor(b *testing.B, latency time.Duration, hosts int) *servedWeb {
	b.Helper()
	return &servedWeb{startServerOf(b, servedConfig{Latency: latency, Hosts: hosts, Size: 2000, Log: true, Ports: 15}), hosts}
}

// begin prepares a crawl of all hosts.
func (w *servedWeb) begin(b *testing.B, open int, http2 bool) (stop context.CancelFunc, c *stoppable) {
	b.Helper()
	var at []string // the same number of hosts at every port
	for i := range w.hosts {
		at = append(at, fmt.Sprintf("\"h%d.gen.test\" = %q", i, w.all[i%len(w.all)]))
	}
	text := fmt.Sprintf(openConfig, open, http2, strings.Join(at, ", "))
	text = crawltest.Complete(text, w.ca, w.addr) + waitingSeeds(w.hosts)
	running, _, err := crawl.Begin(b.Context(), crawltest.Open(b, stateFile(b)), crawl.Options{
		Config: crawltest.Parse(b, text), Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	return cancel, &stoppable{running, ctx}
}

// A stoppable crawl ends with its context.
type stoppable struct {
	*crawl.Crawl
	ctx context.Context
}

func inBackground(c *stoppable) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(c.ctx)
		ended <- err
	}()
	return ended
}

// Minimum duration of a crawl, and of its measurement: in the first half minute half of all slots
// are reserved for hosts that have answered (package slots), and counts over a second or two are
// not meaningful.
const (
	runsFor    = 30 * time.Second
	watchedFor = 10 * time.Second
)

// rate returns how many requests a second are sent, the microseconds of processor time that each
// takes, and the mean number of open requests. If that takes long enough, it counts between the
// same two requests of every crawl, so that each has met as many hosts by then. With few hosts,
// which were all requested first at one time, it counts whole rounds of them.
func (w *servedWeb) rate(b *testing.B, open int) (rate, cpu, used float64) {
	b.Helper()
	stop, c := w.begin(b, open, true)
	run := inBackground(c)
	first, _ := w.await(b, c, uint64(min(120*open, 2*w.hosts)), time.Now().Add(runsFor))
	busy, begun := process.CPUTime(), time.Now()
	last, used := w.await(b, c, first+uint64(min(20*open, max(w.hosts, 3000))), begun.Add(watchedFor))
	sent := float64(last - first)
	busy, took := process.CPUTime()-busy, time.Since(begun)
	stop()
	if err := <-run; err != nil && !errors.Is(err, context.Canceled) {
		b.Fatal(err)
	}
	return sent / took.Seconds(), float64(busy.Microseconds()) / sent, used
}

// await waits until many requests have been sent, and until a time. It returns how many have been
// sent, and the mean number that were open.
func (w *servedWeb) await(b *testing.B, c *stoppable, many uint64, until time.Time) (sent uint64, used float64) {
	b.Helper()
	for looks := 1.0; ; looks++ {
		st, err := c.Status()
		if err != nil {
			b.Fatal(err)
		}
		used += float64(st.Open)
		if st.Sent >= many && !time.Now().Before(until) {
			return st.Sent, used / looks
		}
		time.Sleep(100 * time.Millisecond)
	}
}
