package show

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/cmd/ripple/term"
	"github.com/sumi-ripple/ripple/crawl/census"
)

func TestStatusLines(t *testing.T) {
	tests := []struct {
		name   string
		status census.Status
		want   []string
	}{
		{"begins", census.Status{RunID: 1, Status: "running", Left: census.Left{Depth: -1}}, []string{
			"run #1 · 0 s",
			"  pages   0 done · 0 to visit · 0.0/s",
			"  asked   0 requests · 0 fetching",
			"  hosts   0 active · 0 waiting · 0 suspended",
		}},
		{"works", census.Status{
			RunID: 2, Status: "running", Elapsed: 3725, Pages: 12847, Requests: 20113,
			Fetching: 9, PagesWaiting: 9000, Rendered: 1200, Unrendered: 3,
			PagesPerSecond: 12.34,
			Hosts:          census.Hosts{Active: 8, Waiting: 120, Suspended: 2, GivenUp: 3},
			Errors:         map[string]int{"dead_link": 12, "timeout": 3, "tls_error": 2, "dns_failure": 1, "other": 0},
			Left: census.Left{PagesToVisit: 4751, Depth: 1, MaxDepth: 3, ETA: 4800, ETAHosts: []census.HostETA{
				{Domain: "a.test", ToVisit: 4000, Seconds: 4800}, {Domain: "b.test", ToVisit: 100, Seconds: 120},
			}},
		}, []string{
			"run #2 · 1 h 02 min · depth 1 of 3",
			"  pages   12,847 done · 4,751 to visit · 12.3/s · 1,200 rendered · 3 not rendered",
			"  asked   20,113 requests · 9 fetching",
			"  hosts   8 active · 120 waiting · 2 suspended · 3 given up",
			"  errors  12 dead links · 3 time-outs · 2 TLS errors · 1 DNS failure",
			"  ETA     about 1 h 20 min: a.test (4,000 to visit)",
		}},
		{"waits for the disk", census.Status{RunID: 1, Status: "running", Waits: "waiting for the disk",
			Condition: census.Condition{Name: "disk", Cause: census.CauseDisk, Label: "waiting for the disk"}}, []string{
			"waiting for the disk · run #1 · 0 s · depth 0 of 0",
			"  waiting for the disk",
			"  pages   0 done · 0 to visit",
			"  asked   0 requests · 0 fetching",
			"  hosts   0 active · 0 waiting · 0 suspended",
		}},
		{"waits", census.Status{RunID: 1, Status: "running", Troubled: 7, Troubles: []census.Trouble{
			{Domain: "c.test", Why: "given up: connection refused", Over: true},
			{Domain: "git.docs.test", Why: "robots.txt timed out twice", Robots: true, Again: 38.4},
			{Domain: "a.test", Why: "robots.txt timed out", Robots: true, Silent: 12},
			{Domain: "held.test", Why: "connection refused", Held: 4, Silent: 9},
			{Domain: "b.test", Robots: true, Silent: 3},
		}, Left: census.Left{ETA: 0.4}}, []string{
			"run #1 · 0 s · depth 0 of 0",
			"  pages   0 done · 0 to visit · 0.0/s",
			"  asked   0 requests · 0 fetching",
			"  hosts   0 active · 0 waiting · 0 suspended",
			"  ETA     a moment",
			"  trouble c.test: given up: connection refused",
			"  trouble git.docs.test: robots.txt timed out twice, again in 38 s",
			"  trouble a.test: robots.txt timed out, requested again 12 s ago",
			"  trouble held.test: connection refused 4 s ago; it is not known yet whether the network of this machine is at fault",
			"  trouble b.test: robots.txt was requested 3 s ago, no answer yet; and 2 further hosts",
		}},
		{"ends before", census.Status{RunID: 1, Left: census.Left{PagesToVisit: 900, ETA: 300,
			ETALimit: "max-run-time = 1h0m0s", ETAHosts: []census.HostETA{{Domain: "a.test", ToVisit: 900, Seconds: 300}}}}, []string{
			"run #1 · 0 s · depth 0 of 0",
			"  pages   0 done · 900 to visit · 0.0/s",
			"  asked   0 requests · 0 fetching",
			"  hosts   0 active · 0 waiting · 0 suspended",
			"  ETA     about 5 min 00 s, when the crawl stops: max-run-time = 1h0m0s",
		}},
		{"hostile", census.Status{
			RunID: 1, Status: "paused", Waits: "paused", Condition: census.Condition{Name: "paused", Label: "paused"},
			Left:     census.Left{ETA: 9, ETAHosts: []census.HostETA{{Domain: "a\x1b[2J.test", ToVisit: 1, Seconds: 9}}},
			Troubles: []census.Trouble{{Domain: "a\x1b[2J.test", Why: "\x1b[2J"}},
		}, []string{
			"run #1 · 0 s · depth 0 of 0 · paused",
			"  pages   0 done · 0 to visit",
			"  asked   0 requests · 0 fetching",
			"  hosts   0 active · 0 waiting · 0 suspended",
			"  ETA     about 9 s: a[2J.test (1 to visit)",
			"  trouble a[2J.test: [2J, again in a moment",
			"  paused",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.status.Condition.Name == "" {
				tt.status.Condition = census.Condition{Name: "running", Fetches: true}
			}
			if diff := cmp.Diff(tt.want, StatusLines(&tt.status)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The block stays below the output, and disappears without a trace.
func TestScreen(t *testing.T) {
	var b bytes.Buffer
	s := term.NewScreen(&b)
	_, _ = s.Write([]byte("one\n"))
	s.Show([]string{"status", strings.Repeat("x", 300)})
	_, _ = s.Write([]byte("two\n"))
	s.Show(nil)
	_, _ = s.Write([]byte("three\n"))
	long := strings.Repeat("x", 78) + "…"
	want := "one\n" + "status\n" + long + "\n" + "\r\x1b[2A\x1b[J" + "two\nstatus\n" + long + "\n" + "\r\x1b[2A\x1b[J" +
		"three\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

// Without a terminal, a log contains the status now and then, as facts for programs.
func TestProgress(t *testing.T) {
	tests := []struct{ format, want string }{
		{"json", `"msg":"progress","status":{"run_id":1,`},
		{"json", `"troubles":[{"domain":"a.test","why":"robots.txt timed out","robots":true,"again_seconds":5,`},
		{"text", `progress run=1 done=0 to_visit=0`},
		{"text", `trouble="a.test: robots.txt timed out, again in 5 s"`},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		said := term.NewVoice(&b)
		said.LogFormat = tt.format
		v := NewStatus(said, said.Logger())
		v.told = time.Now().Add(-term.TellEvery)
		v.See(census.Status{RunID: 1, Troubled: 1, Troubles: []census.Trouble{
			{Domain: "a.test", Why: "robots.txt timed out", Robots: true, Again: 5},
		}})
		if !strings.Contains(b.String(), tt.want) {
			t.Errorf("%s is not in %s", tt.want, b.String())
		}
	}
}

// A narrow terminal shows all words, and after it has become narrower nothing is left over.
func TestScreenNarrow(t *testing.T) {
	var b bytes.Buffer
	s := term.NewScreen(&b)
	width := 40
	s.Size = func() (int, int) { return width, 24 }
	s.Show([]string{"  ETA     about 4 s: docs.python.docs.test (298 to visit)",
		"  pages   1 done · 2 to visit · 3.0/s · 4"})
	want := "  ETA     about 4 s:\n          docs.python.docs.test (298 to\n          visit)\n" +
		"  pages   1 done · 2 to visit · 3.0/s\n          4\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
	b.Reset()
	width = 20 // now the second and the fourth line take two rows
	s.Show(nil)
	if want := "\r\x1b[7A\x1b[J"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// Messages on a terminal are broken between words; a command stays whole.
func TestTold(t *testing.T) {
	long := "https://a.test/" + strings.Repeat("x", 40)
	tests := []struct {
		name string
		told term.Remark
		want string
	}{
		{"short", term.Remark{Text: "run #1 completed"}, "run #1 completed\n"},
		{"long", term.Remark{Text: "  2 hosts failed: three connection failures in a row (a.test)"},
			"  2 hosts failed: three connection\n    failures in a row (a.test)\n"},
		{"two lines", term.Remark{Text: "run #1\n  pages   1 done · 2 to visit · 3.0/s · 4"},
			"run #1\n  pages   1 done · 2 to visit · 3.0/s ·\n    4\n"},
		{"a long word", term.Remark{Text: "  wrote " + long}, "  wrote\n    " + long + "\n"},
		{"a command", term.Remark{Text: "  go on with:      ripple crawl my-long-config.toml", Facts: []any{"command", "x"}},
			"  go on with:      ripple crawl my-long-config.toml\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			said := term.NewVoice(&b)
			said.Stderr.Term, said.Stderr.Size = true, func() (int, int) { return 40, 24 }
			if said.Tell(tt.told); b.String() != tt.want {
				t.Errorf("got  %q\nwant %q", b.String(), tt.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000",
		-100: "-100"} {
		if got := term.Commas(n); got != want {
			t.Errorf("commas(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0 s", 1500 * time.Microsecond: "2 ms", 59 * time.Second: "59 s", 61 * time.Second: "1 min 01 s",
		90 * time.Minute: "1 h 30 min", 24 * time.Hour: "24 h 00 min", 48 * time.Hour: "2 days",
		71 * time.Hour: "2 days 23 h",
	} {
		if got := term.Span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0 s", 100 * time.Millisecond: "100 ms", time.Second: "1 s", 1500 * time.Millisecond: "1.5 s",
		2 * time.Second: "2 s", 59900 * time.Millisecond: "59.9 s", time.Minute: "1 min 00 s",
	} {
		if got := term.Gap(d); got != want {
			t.Errorf("gap(%v) = %q, want %q", d, got, want)
		}
	}
	for path, want := range map[string]string{
		"a/b.toml": "a/b.toml", "a b": `"a b"`, "": `""`, "x\x1b[2J": `"x\x1b[2J"`,
	} {
		if got := term.Shown(path); got != want {
			t.Errorf("shown(%q) = %s, want %s", path, got, want)
		}
	}
}

// Centuries are formatted as such.
func TestLongTimes(t *testing.T) {
	for n, want := range map[float64]string{0: "0 s", 90: "1 min 30 s", 1e9: "11574 days 1 h", 1e11: "106751 days 23 h"} {
		if got := seconds(n); got != want {
			t.Errorf("%g s: %q, want %q", n, got, want)
		}
	}
}

// Pages that a new run keeps for another reason than min-age are not called younger than that.
func TestKeptText(t *testing.T) {
	for _, tt := range []struct {
		young, fresh int
		want         string
	}{
		{7, 0, "7 pages younger than 24 h are kept"},
		{0, 1, "0 pages younger than 24 h are kept, and 1 older one that its server calls fresh"},
		{1, 2, "1 page younger than 24 h is kept, and 2 older ones that their servers call fresh"},
	} {
		if got := KeptText(tt.young, tt.fresh, "24 h"); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
