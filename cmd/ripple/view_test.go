package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/config"
)

func TestStatusLines(t *testing.T) {
	tests := []struct {
		name   string
		status crawlStatus
		want   []string
	}{
		{"begins", crawlStatus{RunID: 1, Status: "running", Depth: -1}, []string{
			"run #1 · 0s",
			"  pages   0 done · 0 waiting · 0.0/s",
			"  hosts   0 active · 0 waiting · 0 suspended",
		}},
		{"works", crawlStatus{
			RunID: 2, Status: "running", Elapsed: 3725, PagesVisited: 12847, PagesWaiting: 4751, PagesPerSecond: 12.34, Depth: 1,
			Hosts:  hostStatus{Active: 8, Waiting: 120, Suspended: 2, GivenUp: 3},
			Errors: map[string]int{"dead_link": 12, "timeout": 3, "other": 0},
			ETA:    4800, ETAHosts: []hostETA{{"a.test", 4000, 4800}, {"b.test", 100, 120}},
		}, []string{
			"run #2 · 1 h 02 min · depth 1",
			"  pages   12,847 done · 4,751 waiting · 12.3/s",
			"  hosts   8 active · 120 waiting · 2 suspended · 3 given up",
			"  errors  12 dead link · 3 timeout",
			"  ETA     about 1 h 20 min: a.test (4,000 waiting)",
		}},
		{"hostile", crawlStatus{RunID: 1, Status: "paused", Depth: 0, Waits: "paused", ETA: 9, ETAHosts: []hostETA{{"a\x1b[2J.test", 1, 9}}}, []string{
			"run #1 · 0s · depth 0 · paused",
			"  pages   0 done · 0 waiting · 0.0/s",
			"  hosts   0 active · 0 waiting · 0 suspended",
			"  ETA     about 9 s: a[2J.test (1 waiting)",
			"  paused",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, statusLines(&tt.status)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A crawl that fetches nothing always says why.
func TestWaits(t *testing.T) {
	later := time.Now().Add(12*time.Second + 500*time.Millisecond)
	tests := []struct {
		name   string
		hosts  hostStatus
		status crawl.Status
		next   string
		want   string
	}{
		{"asks", hostStatus{Waiting: 3}, crawl.Status{Open: 1, Next: later}, "a.test", ""},
		{"waits", hostStatus{Waiting: 3}, crawl.Status{Next: later}, "a.test", "3 hosts wait, next in 12 s: a.test"},
		{"one", hostStatus{Waiting: 1}, crawl.Status{Next: later}, "a.test", "1 host waits, next in 12 s: a.test"},
		{"suspended", hostStatus{Waiting: 2, Suspended: 2}, crawl.Status{Next: later}, "a.test",
			"2 hosts asked for patience and wait, next in 12 s: a.test"},
		{"soon", hostStatus{Waiting: 1}, crawl.Status{Next: time.Now()}, "a.test", "1 host waits, next in a moment: a.test"},
		{"paused", hostStatus{Waiting: 1}, crawl.Status{Paused: true, Next: later}, "a.test", `paused; "ripple unpause" goes on`},
		{"stopping", hostStatus{}, crawl.Status{Stopped: true}, "", "stopping"},
		{"full", hostStatus{Waiting: 1}, crawl.Status{Full: true, Next: later}, "a.test", "the disk is behind"},
		{"empty", hostStatus{}, crawl.Status{}, "", "nothing is left to ask"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := waits(&crawlStatus{Hosts: tt.hosts}, &tt.status, tt.next); got != tt.want {
				t.Errorf("waits = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCensus(t *testing.T) {
	cfg, _, err := config.Parse([]byte(smallConfig("127.0.0.1:1", false, []string{"max-domain-requests=100"})), t.TempDir(),
		func(string) ([]byte, error) { return newWeb(t).CAPEM(), nil })
	if err != nil {
		t.Fatal(err)
	}
	c := census{depth: -1}
	for _, h := range []schema.Host{
		{Name: "done.test", Generation: 1},
		{Name: "far.test", Generation: 1, Waiting: 10, Queues: []schema.Queue{{Priority: 4}}},
		{Name: "near.test", Generation: 1, Waiting: 500, Queues: []schema.Queue{{Priority: 64 + 2}}, CrawlDelay: 2 * time.Second},
		{Name: "old.test", Generation: 0, Waiting: 10},
		{Name: "used.test", Generation: 1, Waiting: 10, Run: 7, RunRequests: 100},
		{Name: "left.test", Generation: 1, Waiting: 10, Run: 7, RunGivenUp: schema.GaveUpConnection},
		{Name: "rest.test", Generation: 1, Waiting: 1, Run: 7, Throttles: 1, SuspendedTo: time.Now().Add(time.Hour), Queues: []schema.Queue{{Priority: 4}}},
	} {
		c.add(cfg, 7, 1, &h, 2)
	}
	if c.waiting != 511 || c.suspended != 1 || c.givenUp != 1 || c.depth != 1 {
		t.Errorf("census = %+v", c)
	}
	if len(c.slowest) != 3 || c.slowest[0].Domain != "rest.test" || c.slowest[1].Domain != "near.test" || c.slowest[1].Seconds != 200 {
		t.Errorf("slowest = %+v", c.slowest)
	}
}

// The block stays below what is written, and is gone without a trace.
func TestScreen(t *testing.T) {
	var b bytes.Buffer
	s := newScreen(&b)
	_, _ = s.Write([]byte("one\n"))
	s.show([]string{"status", strings.Repeat("x", 300)})
	_, _ = s.Write([]byte("two\n"))
	s.show(nil)
	_, _ = s.Write([]byte("three\n"))
	long := strings.Repeat("x", 78) + "…"
	want := "one\n" + "status\n" + long + "\n" + "\r\x1b[2A\x1b[J" + "two\nstatus\n" + long + "\n" + "\r\x1b[2A\x1b[J" + "three\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := commas(n); got != want {
			t.Errorf("commas(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 1500 * time.Microsecond: "2ms", 59 * time.Second: "59 s", 61 * time.Second: "1 min 01 s",
		90 * time.Minute: "1 h 30 min", 24 * time.Hour: "24 h 00 min", 50 * time.Hour: "2 days",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
	for path, want := range map[string]string{"a/b.toml": "a/b.toml", "a b": `"a b"`, "": `""`, "x\x1b[2J": `"x\x1b[2J"`} {
		if got := shown(path); got != want {
			t.Errorf("shown(%q) = %s, want %s", path, got, want)
		}
	}
}
