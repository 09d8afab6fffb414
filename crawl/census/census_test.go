package census

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl"
	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

const run = schema.RunID(7)

func testPace(t *testing.T, crawler ...string) Pace {
	t.Helper()
	text := "[user-agent]\ncrawler-name = \"t\"\ncontact-url = \"https://t.test/\"\n[crawler]\n" +
		"max-domain-requests = 100\nminimum-time-on-page = 100\n" + strings.Join(crawler, "\n") +
		"\n[[quality]]\ndomain = \"a.test\"\nseeds = [\"https://a.test/\"]\n"
	return NewPace(crawltest.Parse(t, text), &schema.Run{ID: run, Pages: 10, Requests: 400}, nil) // most failed
}

func TestPace(t *testing.T) {
	p := testPace(t)
	tests := []struct {
		name    string
		host    schema.Host
		waiting int
		pages   float64
		seconds float64
	}{
		{"nothing waits", schema.Host{}, 0, 0, 0},
		{"two requests a page", schema.Host{}, 10, 10, 2},
		{"as far as the budget goes", schema.Host{}, 5000, 50, 10},
		{"what is left of the budget", schema.Host{Run: run, RunRequests: 90}, 5000, 5, 1},
		{"one request a page", schema.Host{Run: run, RunRequests: 50, RunVisited: 50}, 5000, 50, 5},
		{"three a page", schema.Host{Run: run, RunRequests: 30, RunVisited: 10}, 10, 10, 3},
		{"of another run", schema.Host{Run: run - 1, RunRequests: 100, RunGivenUp: schema.GaveUpConnection}, 10, 10, 2},
		{"no budget left", schema.Host{Run: run, RunRequests: 100}, 10, 0, 0},
		{"given up", schema.Host{Run: run, RunGivenUp: schema.GaveUpConnection}, 10, 0, 0},
		{"Crawl-delay", schema.Host{CrawlDelay: 3 * time.Second}, 1, 1, 6},
		{"time-outs", schema.Host{Timeouts: 2}, 10, 10, 8},
		{"only its seeds, and their delay is long", schema.Host{Name: "a.test", CrawlDelay: 400 * time.Second}, 10, 1,
			800},
		{"its only seed was visited",
			schema.Host{Name: "a.test", Run: run, RunVisited: 1, RunRequests: 2, CrawlDelay: 400 * time.Second}, 10, 0, 0},
		{"its only seed was visited by another run",
			schema.Host{Name: "a.test", Run: run - 1, RunVisited: 1, CrawlDelay: 400 * time.Second}, 10, 1, 800},
		{"only seeds, and it has none", schema.Host{Name: "b.test", CrawlDelay: 400 * time.Second}, 10, 0, 0},
		{"robots.txt: two tries of 30 s are left, 5 s apart", schema.Host{Run: run, RobotsTries: 2}, 10, 10, 65},
		{"robots.txt: a copy stands until it is tried again", schema.Host{Run: run, RobotsTries: 4,
			RobotsAt: time.Now().Add(-25 * time.Hour), RobotsDue: time.Now().Add(time.Hour)}, 10, 10, 2},
		{"slow answers, and as long a rest", schema.Host{Smoothed: time.Second}, 10, 10, 40},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if pages, seconds := p.Of(&tt.host, tt.waiting); pages != tt.pages || seconds != tt.seconds {
				t.Errorf("Of = %v pages in %v s, want %v in %v s", pages, seconds, tt.pages, tt.seconds)
			}
		})
	}
}

// A host takes as long as its clock says, however fast it answers.
func TestPaceOfClock(t *testing.T) {
	for _, keys := range []string{"", "[politeness]\nadaptive-delay = false", "[politeness]\nmax-adaptive-delay = \"2s\"",
		"[politeness]\nmax-parallel-per-domain = 3\nadaptive-delay = false"} {
		p := testPace(t, keys)
		for _, answer := range []time.Duration{0, 300 * time.Millisecond, 5 * time.Second} {
			h := &schema.Host{Smoothed: answer}
			begun := time.Now()
			at := begun
			for range 20 { // two for a page
				o := &ring.Outcome{Step: ring.Step{Sent: at}, FirstByte: at.Add(answer), Done: at.Add(answer)}
				if p.cfg.Politeness.MaxParallelPerDomain > 1 {
					at = at.Add(p.cfg.FullDelay(h))
				} else {
					at = clock.ReadyAfter(p.cfg, h, at, o)
				}
			}
			if _, seconds := p.Of(h, 10); math.Abs(seconds-at.Sub(begun).Seconds()) > 0.001 {
				t.Errorf("%s: with answers in %v, 20 requests take %v, not %v s", keys, answer, at.Sub(begun), seconds)
			}
		}
	}
}

// The pages to visit never exceed what max-pages allows.
// A completed run visits nothing more, whatever waits for the next one.
func TestPaceOfCompleted(t *testing.T) {
	p := NewPace(testPace(t).cfg, &schema.Run{ID: run, Status: schema.RunCompleted}, nil)
	if pages, seconds := p.Of(&schema.Host{Name: "a.test", Run: run}, 10); pages != 0 || seconds != 0 {
		t.Errorf("Of = %v pages in %v s, want none", pages, seconds)
	}
}

func TestMaxPages(t *testing.T) {
	p, c := testPace(t, "max-pages = 40"), count{depth: -1} // 10 have been visited
	for _, name := range []string{"a.test", "b.test"} {
		c.add(p, 1, &schema.Host{Name: name, Generation: 1, Waiting: 20}, hush{})
	}
	if pages, _ := p.Of(&schema.Host{}, 45); pages != 30 || c.left(p).PagesToVisit != 30 || c.waiting != 40 {
		t.Errorf("%v pages of a host and %d of all will be visited, %d wait; want 30, 30, 40", pages,
			c.left(p).PagesToVisit, c.waiting)
	}
}

// The remaining time ends with that of the process.
func TestEndBy(t *testing.T) {
	for _, tt := range []struct{ limit, worked, eta, want time.Duration }{
		{0, time.Hour, 50 * time.Minute, 50 * time.Minute},
		{time.Hour, 5 * time.Minute, 50 * time.Minute, 50 * time.Minute},
		{time.Hour, 20 * time.Minute, 50 * time.Minute, 40 * time.Minute},
		{time.Hour, 2 * time.Hour, 50 * time.Minute, time.Millisecond},
		{time.Hour, 20 * time.Minute, 0, 0},
	} {
		l := Left{ETA: tt.eta.Seconds(), ETAHosts: []HostETA{{Seconds: tt.eta.Seconds()}}}
		l.endBy(tt.limit, tt.worked)
		if cut := tt.want < tt.eta; l.ETA != tt.want.Seconds() || l.ETAHosts[0].Seconds != l.ETA ||
			(l.ETALimit == "max-run-time = 1h0m0s") != cut {
			t.Errorf("%v of %v: %v s (%q) of %v are left, want %v", tt.worked, tt.limit, l.ETA, l.ETALimit, tt.eta,
				tt.want)
		}
	}
}

// Troubles list hosts with seeds first, even if given up, and then the hosts that take longest.
func TestTroubles(t *testing.T) { synctest.Test(t, testTroubles) }

func testTroubles(t *testing.T) {
	p, c := testPace(t), count{depth: -1}
	asked, soon := time.Now().Add(-12*time.Second), time.Now().Add(time.Minute)
	timeout := schema.Reason{Cause: schema.CauseTimeout}
	for _, h := range []schema.Host{
		{Name: "well.test"},
		{Name: "robots.test", Run: run, RobotsTries: 2, RobotsReason: timeout, RobotsDue: soon},
		{Name: "retry.test", RobotsAt: asked, Run: run, LastByte: time.Now(), CrawlDelay: time.Minute,
			Retries: []schema.Retry{{Reason: timeout}}},
		{Name: "given.test", Run: run, RunGivenUp: schema.GaveUpRobots},
		{Name: "quick.test", Run: run, RobotsAt: asked, Retries: []schema.Retry{{Reason: timeout, Due: soon}}},
	} {
		h.Generation, h.Waiting = 1, 1
		c.add(p, 1, &h, hush{})
	}
	c.add(p, 1, &schema.Host{Name: "silent.test", Generation: 1, Waiting: 50}, hush{asked: asked})
	var got []string
	for _, told := range c.told() {
		got = append(got, fmt.Sprintf("%s %s %v %.0f %.0f", told.Domain, told.Why, told.Robots, told.Again,
			told.Silent))
	}
	want := []string{
		"retry.test 1 page to be tried again: timeout false 60 0",
		"robots.test robots.txt timed out twice true 60 0",
		"silent.test  true 0 12",
	}
	if diff := cmp.Diff(want, got); diff != "" || c.troubled != 4 {
		t.Errorf("%d troubles: %s", c.troubled, diff)
	}
	given := &schema.Host{Name: "a.test", Run: run, RunGivenUp: schema.GaveUpRobots, RunGivenUpWhy: timeout}
	c.add(p, 1, given, hush{})
	first, seed := c.told()[0], Trouble{Domain: "a.test", Why: "given up: timeout", Over: true, Robots: true}
	if diff := cmp.Diff(seed, first); diff != "" || c.troubled != 5 {
		t.Errorf("of %d troubles, the first: %s", c.troubled, diff)
	}
}

func TestCount(t *testing.T) {
	p, c := testPace(t), count{depth: -1}
	for _, h := range []schema.Host{
		{Name: "done.test", Generation: 1},
		{Name: "far.test", Generation: 1, Waiting: 10, Queues: waitAt(schema.Rank{Depth: 3}.Priority())},
		{Name: "near.test", Generation: 1, Waiting: 500, CrawlDelay: 2 * time.Second,
			Queues: waitAt(schema.PrioritySitemap, schema.Rank{Depth: 1, BySitemap: true, Revisit: true}.Priority())},
		{Name: "old.test", Generation: 0, Waiting: 10},
		{Name: "used.test", Generation: 1, Waiting: 10, Run: run, RunRequests: 100},
		{Name: "left.test", Generation: 1, Waiting: 10, Run: run, RunGivenUp: schema.GaveUpConnection},
		{Name: "rest.test", Generation: 1, Waiting: 1, Run: run, Throttles: 1, SuspendedTo: time.Now().Add(time.Hour),
			SuspendedFor: time.Hour,
			Queues:       waitAt(schema.Rank{Depth: 2}.Priority())},
	} {
		c.add(p, 1, &h, hush{})
	}
	if c.waiting != 511 || c.suspended != 1 || c.givenUp != 1 || c.depth != 1 {
		t.Errorf("count = %+v", c)
	}
	if len(c.slowest) != 3 || c.slowest[0].Domain != "rest.test" ||
		c.slowest[1] != (HostETA{Domain: "near.test", ToVisit: 50, Seconds: 200}) {
		t.Errorf("slowest = %+v", c.slowest)
	}
}

// TestRestOfAWrongClock has a rest of ten minutes that ends in thirty years: the crawl waits ten minutes, and
// the census says so.
func TestRestOfAWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, soon := testPace(t), time.Now().Add(10*time.Minute)
		h := &schema.Host{Run: run, Throttles: 1, SuspendedTo: time.Now().AddDate(30, 0, 0), SuspendedFor: 10 * time.Minute}
		if got := p.Trouble(h).Until; !got.Equal(soon) {
			t.Errorf("it rests until %v, want %v", got, soon)
		}
		if got := clock.Ready(p.cfg, h); !got.Equal(soon) {
			t.Errorf("it may be asked at %v, want %v", got, soon)
		}
		if got := Suspended(h); got != 10*time.Minute {
			t.Errorf("it rests for %v", got)
		}
		if _, seconds := p.Of(h, 1); seconds > 601 {
			t.Errorf("it takes %v s", seconds)
		}
		if clock.Clamp(p.cfg, h, time.Now()); !h.SuspendedTo.Equal(soon) {
			t.Errorf("the crawl waits until %v", h.SuspendedTo)
		}
	})
}

func waitAt(priorities ...uint8) (queues []schema.Queue) {
	for _, p := range priorities {
		queues = append(queues, schema.Queue{Priority: p})
	}
	return queues
}

// A crawl that fetches nothing always says why.
func TestWaitOf(t *testing.T) {
	later := time.Now().Add(time.Minute)
	tests := []struct {
		name    string
		status  crawl.Status
		waiting int
		next    string
		want    Reason
	}{
		{"asks", crawl.Status{Open: 1, Next: later, Paused: true}, 9, "a.test", 0},
		{"is about to ask", crawl.Status{Waking: 1, Next: later}, 9, "a.test", 0},
		{"commits", crawl.Status{Pending: 1, Next: later}, 9, "a.test", 0},
		{"away", crawl.Status{Open: 1, Away: later, Next: later}, 9, "a.test", ForNetwork},
		{"away, and is paused", crawl.Status{Paused: true, Away: later, Next: later}, 9, "a.test", Paused},
		{"away, and stops", crawl.Status{Stopped: true, Away: later, Next: later}, 9, "a.test", Stopping},
		{"has means for no more", crawl.Status{Open: 2, Short: 3, Next: later}, 9, "a.test", ForMeans},
		{"has means for no more, and stops", crawl.Status{Short: 3, Stopped: true}, 9, "", Stopping},
		{"waits", crawl.Status{Next: later}, 9, "a.test", ForHosts},
		{"stopping", crawl.Status{Stopped: true, Paused: true}, 9, "", Stopping},
		{"paused", crawl.Status{Paused: true, Full: true, Next: later}, 9, "a.test", Paused},
		{"full", crawl.Status{Full: true, Next: later}, 9, "a.test", ForDisk},
		{"has no room", crawl.Status{Open: 1, Next: later, NoRoom: &crawl.NoRoom{Since: later}}, 9, "a.test", ForDisk},
		{"has no room, and is paused", crawl.Status{Paused: true, NoRoom: &crawl.NoRoom{}}, 9, "a.test", Paused},
		{"has no room, and stops", crawl.Status{Stopped: true, NoRoom: &crawl.NoRoom{}}, 9, "a.test", Stopping},
		{"decides", crawl.Status{}, 9, "", ForDecision},
		{"empty", crawl.Status{}, 0, "", ForNothing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := waitOf(&tt.status, tt.waiting, nextHost{tt.next, "Crawl-delay 10"})
			if got.Reason != tt.want || got.Host != "" != (tt.want == ForHosts) {
				t.Errorf("waitOf = %+v, want reason %d", got, tt.want)
			}
		})
	}
}
