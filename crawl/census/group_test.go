package census

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/schema"
)

// Every host with remaining pages is in one group, by the reason it waits. The group names the first host
// that may be requested.
func TestGroups(t *testing.T) { synctest.Test(t, testGroups) }

func testGroups(t *testing.T) {
	p, c := testPace(t), count{depth: -1} // 100 ms between two requests
	now := time.Now()
	timeout := schema.Reason{Cause: schema.CauseTimeout}
	for _, h := range []schema.Host{
		{Name: "new.test"},
		{Name: "ready.test", LastByte: now.Add(-time.Second)},
		{Name: "delay.test", LastByte: now},
		{Name: "sooner.test", LastByte: now.Add(-40 * time.Millisecond)},
		{Name: "crawl.test", LastByte: now, CrawlDelay: 2500 * time.Millisecond},
		{Name: "slow.test", LastByte: now, LastEnd: now, Smoothed: 3 * time.Second},
		{Name: "timeouts.test", LastByte: now, Timeouts: 3},
		{Name: "rest.test", Run: run, Throttles: 1, SuspendedTo: now.Add(time.Minute), SuspendedFor: time.Minute},
		{Name: "robots.test", Run: run, RobotsTries: 2, RobotsReason: timeout, RobotsDue: now.Add(5 * time.Second)},
		{Name: "some.test", Run: run, LastByte: now,
			Retries: []schema.Retry{{Reason: timeout, Due: now.Add(time.Hour)}}},
		{Name: "budget.test", Run: run, RunRequests: 100},
		{Name: "given.test", Run: run, RunGivenUp: schema.GaveUpRobots, RunGivenUpWhy: timeout},
		{Name: "idle.test", Waiting: -1},
	} {
		h.Generation, h.Waiting = 1, h.Waiting+1
		c.add(p, 1, &h, hush{})
	}
	only := schema.Host{Name: "only.test", Generation: 1, Run: run, LastByte: now,
		Retries: []schema.Retry{{Reason: timeout, Due: now.Add(30 * time.Second)}}}
	c.add(p, 1, &only, hush{})
	time.Sleep(10 * time.Millisecond)
	var got []string
	for _, g := range c.grouped() {
		got = append(got, fmt.Sprintf("%s %d %d %.2f %s %s", g.Reason, g.Hosts, g.Pages, g.Next, g.First, g.Why))
	}
	want := []string{
		"ready 2 2 0.00 new.test ",
		"delay 3 4 0.05 sooner.test ",
		"crawl_delay 1 1 2.49 crawl.test Crawl-delay 2.5",
		"slow 1 1 2.99 slow.test it answers in 3s",
		"timeouts 1 1 0.79 timeouts.test 3 time-outs in a row",
		"rest 1 1 59.99 rest.test ",
		"robots 1 1 4.99 robots.test robots.txt timed out twice",
		"retries 1 1 29.99 only.test 1 page to be tried again: timeout",
		"budget 1 1 0.00  ",
		"given_up 1 1 0.00  ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The host that is requested next waits for its rest, which has a cause and a beginning.
func TestWhyNext(t *testing.T) {
	p, began := testPace(t), time.Now().UTC().Truncate(time.Second)
	h := schema.Host{LastByte: began, Throttles: 2, SuspendedTo: began.Add(time.Hour), SuspendedFor: time.Hour}
	if got, want := p.whyNext(&h), "asked Ripple to wait twice, since "+began.Format(time.RFC3339); got != want {
		t.Errorf("it waits because it has %q, want %q", got, want)
	}
	if got := p.whyNext(&schema.Host{LastByte: time.Now()}); got != "" {
		t.Errorf("by its delay it waits because of %q", got)
	}
}

// A host whose robots.txt redirects to another one waits for that: its clock, its rest, its own robots.txt.
func TestRobotsElsewhere(t *testing.T) { synctest.Test(t, testRobotsElsewhere) }

func testRobotsElsewhere(t *testing.T) {
	now := time.Now()
	since := now.Add(-time.Minute).UTC().Truncate(time.Second)
	others := map[string]*schema.Host{
		"clock.test": {LastByte: now, CrawlDelay: 8 * time.Second},
		"rest.test":  {Throttles: 2, SuspendedTo: now.Add(time.Hour), SuspendedFor: time.Hour},
		"tries.test": {Run: run, RobotsTries: 2, RobotsReason: schema.StatusReason(503), RobotsDue: now.Add(30 * time.Second)},
		"waits.test": {Run: run, LastByte: now.Add(2 * time.Second), RobotsFrom: "a.test", RobotsSince: since},
	}
	p := testPace(t)
	p.find = func(name string) *schema.Host { return others[name] }
	at := since.Format(time.RFC3339)
	for _, tt := range []struct {
		to, why string
		again   time.Duration
	}{
		{"clock.test", "", 8 * time.Second},
		{"rest.test", " (asked Ripple to wait twice)", time.Hour},
		{"tries.test", " (robots.txt answered 503 Service Unavailable twice)", 30 * time.Second},
		{"waits.test", " (robots.txt redirects to a.test, no answer from there since " + at + ")", 2100 * time.Millisecond},
		{"unknown.test", "", 100 * time.Millisecond},
	} {
		h := schema.Host{Name: "x.test", Run: run, LastByte: now, RobotsFrom: tt.to, RobotsSince: since}
		trouble, d := p.Trouble(&h), p.Delay(&h)
		want := "robots.txt redirects to " + tt.to + ", no answer from there since " + at + tt.why
		if trouble.String() != want || trouble.Until.Sub(now) != tt.again {
			t.Errorf("trouble: %q, again in %v, want %q, %v", trouble, trouble.Until.Sub(now), want, tt.again)
		}
		want = "robots.txt redirects to " + tt.to + ", no answer from there yet" + tt.why
		if d.Why != want || !d.Since.Equal(since) || d.Until.Sub(now) != tt.again {
			t.Errorf("delay: %+v, want %q", d, want)
		}
	}
}
