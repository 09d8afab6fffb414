package show

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/cmd/ripple/answer"
	"github.com/sumi-ripple/ripple/cmd/ripple/statefile"
	"github.com/sumi-ripple/ripple/export"
	"github.com/sumi-ripple/ripple/kv/survey/surveytest"
	"github.com/sumi-ripple/ripple/schema"
)

// TestHostTrouble reports why a host is not requested, and when it is requested again.
func TestHostTrouble(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	tests := []struct {
		name string
		host func(h *schema.Host)
		want string
	}{
		{"suspended", func(h *schema.Host) { h.Throttles, h.SuspendedTo, h.SuspendedFor = 2, soon, time.Hour },
			`  trouble +asked Ripple to wait twice, again in .*\n  next request +in (59 min|1 h)`},
		{"robots.txt", func(h *schema.Host) {
			h.RobotsTries, h.RobotsDue, h.RobotsReason = 2, soon, schema.Reason{Cause: schema.CauseTimeout}
		}, `  trouble +robots.txt timed out twice, again in .*\n  next request +in `},
		{"given up", func(h *schema.Host) {
			h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseRefused}
		}, `  trouble +given up: connection refused\n  next request +in the next run\n`},
		{"slow", func(h *schema.Host) { h.LastByte, h.CrawlDelay, h.Timeouts = time.Now(), time.Minute, 2 },
			`  next request +in .*\n  delay +4 min 00 s \(Crawl-delay 1 min 00 s, doubled by 2 time-outs in a row\)\n`},
		{"asked long ago", func(h *schema.Host) { h.LastByte = soon.Add(-2 * time.Hour) }, `  next request +at any time\n`},
		{"never asked", func(*schema.Host) {}, `  next request +at any time: it was never requested\n`},
		{"budget", func(h *schema.Host) { h.RunRequests, h.RunThrottles = 1234, 3 },
			`  next request +in the next run\n(?s:.*)  budget +1,234 of 500 requests in run #1 ` +
				`\(max-domain-requests = 500\)\n  asked to wait +3 answers in run #1 \(429, or 503 with Retry-After\)\n`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := surveytest.New(t, surveytest.Minimal)
			w.Visit("a.test/", w.Links("b.test/"))
			w.Depth("b.test/", 1, 0)
			w.Host("b.test/", tt.host)
			r := &statefile.State{Survey: w.Survey(), Store: w.Store}
			d, err := answer.Inspector{State: r}.InspectHost("b.test", "", 20)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := Host(&b, d, "", 20); err != nil || !regexp.MustCompile(tt.want).MatchString(b.String()) {
				t.Errorf("%v; no %q in\n%s", err, tt.want, b.String())
			}
		})
	}
}

// TestDelaysAgree: the promised delay between two requests is the same in every output, even after
// time-outs.
func TestDelaysAgree(t *testing.T) {
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", w.Links("b.test/"))
	w.Depth("b.test/", 1, 0)
	w.Host("b.test/", func(h *schema.Host) { h.CrawlDelay, h.Timeouts, h.Smoothed = time.Minute, 2, 5*time.Minute })
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	d, err := answer.Inspector{State: r}.InspectHost("b.test", "", 20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := answer.NewStats(r, 10)
	if err != nil {
		t.Fatal(err)
	}
	var row strings.Builder
	err = answer.Inspector{State: r}.RunQuery(t.Context(), "SELECT delay_ms FROM hosts WHERE domain = 'b.test'", export.Endorsements,
		func(columns []string) answer.RowWriter { return answer.NewCSVRows(&row, columns) })
	agree := d.DelayMS == 240_000 && s.Slow[0].DelayMS == d.DelayMS && row.String() == "delay_ms\n240000\n"
	if err != nil || !agree {
		t.Errorf("inspect %d, stats %d, query %q; %v", d.DelayMS, s.Slow[0].DelayMS, row.String(), err)
	}
	var table strings.Builder // the wait after slow answers is no longer than max-adaptive-delay
	if err := printSlow(&table, s); err != nil || !strings.Contains(table.String(), "  4 min 00 s  ") {
		t.Errorf("stats tells no delay of 4 min; %v\n%s", err, table.String())
	}
}

// TestHostileHost has a peer write everything that a report on a host shows.
func TestHostileHost(t *testing.T) {
	const hostile = "x\x1b[31m\u202e\r\n\x07y"
	w := surveytest.New(t, surveytest.Minimal)
	w.Visit("a.test/", func(v *schema.Visit) {
		w.Links("b.test/")(v)
		v.Links[0].Anchor = hostile
	})
	w.Visit("b.test/", func(v *schema.Visit) { v.Title = hostile })
	w.Visit("b.test/2", func(v *schema.Visit) {
		v.State, v.Reason = schema.Failed, schema.Reason{Cause: schema.CauseTLS, Detail: hostile}
	})
	w.Host("b.test/", func(h *schema.Host) {
		h.RunGivenUp, h.RunGivenUpWhy = schema.GaveUpConnection, schema.Reason{Cause: schema.CauseTLS, Detail: hostile}
	})
	r := &statefile.State{Survey: w.Survey(), Store: w.Store}
	d, err := answer.Inspector{State: r}.InspectHost("b.test", "", 20)
	if err != nil {
		t.Fatal(err)
	}
	d.Robots = answer.KeptRobots{Status: 200, FetchedAt: &w.At, Text: hostile}
	var b strings.Builder
	if err := Host(&b, d, "", 20); err != nil || strings.ContainsAny(b.String(), "\x1b\u202e\r\x07") {
		t.Errorf("%v; not inert: %q", err, b.String())
	}
}
