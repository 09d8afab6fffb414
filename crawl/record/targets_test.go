package record

import (
	"fmt"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// What robots.txt of other hosts redirect to is asked only where the host's own robots.txt, which is asked first,
// allows it, and at most at ten addresses a run, whatever is killed. A robots.txt needs no permission.
func TestTargetsOfOthers(t *testing.T) {
	inTurn(t, "", func(r *Recorder, _ turn) {
		h := r.hostOf(t, r.met(t, "https://b.test/"))
		refuses := func(url string, known bool, want schema.Cause) {
			t.Helper()
			if got, is, err := r.robots.refuses(h, "https://b.test"+url); err != nil || got != want || is != known {
				t.Errorf("%s: %v, known: %t, %v; want %v, %t", url, got, is, err, want, known)
			}
		}
		refuses("/robots.txt", true, schema.CauseNone)
		refuses("/buy?robots.txt", false, schema.CauseNone)
		h.RobotsAt = r.in.now.Add(-time.Minute)
		ok(t, r.in.tx.Hosts.PutRobots(h.ID, schema.RobotsCopy{At: h.RobotsAt, Status: 200,
			Text: []byte("User-agent: *\nDisallow: /buy\n")}))
		refuses("/buy?robots.txt", true, schema.CauseDenied)
		for n := range 9 {
			refuses(fmt.Sprintf("/other/%d", n), true, schema.CauseNone)
		}
		clear(r.robots.targets) // as after a kill
		refuses("/other/9", true, schema.CauseManyTargets)
		refuses("/x/robots.txt", true, schema.CauseManyTargets)
		refuses("/other/3", true, schema.CauseNone)
		refuses("/robots.txt", true, schema.CauseNone)
		h.BeginRun(r.in.run.ID + 1)
		refuses("/other/9", true, schema.CauseNone)
		h.RunGivenUp = schema.GaveUpConnection
		refuses("/robots.txt", true, schema.CauseTargetGivenUp)
	})
}

// Where a host's robots.txt cannot be had, nothing but another robots.txt is asked of it for others.
func TestTargetsOfAHostWithoutRobots(t *testing.T) {
	for _, tt := range []struct {
		unreachable string
		why         schema.Cause
		want        schema.Cause
	}{
		{"disallow", schema.CauseTimeout, schema.CauseRobots},
		{"allow", schema.CauseTimeout, schema.CauseNone},
		{"disallow", schema.CauseRedirectLoop, schema.CauseRedirectLoop},
		{"allow", schema.CauseRedirectLoop, schema.CauseRedirectLoop},
	} {
		inTurn(t, "[politeness]\nrobots-unreachable = \""+tt.unreachable+"\"\n", func(r *Recorder, _ turn) {
			h := r.hostOf(t, r.met(t, "https://b.test/"))
			h.RobotsTries, h.RobotsReason = 1, schema.Reason{Cause: tt.why}
			h.RobotsDue = r.in.now.Add(time.Minute)
			if _, known, err := r.robots.refuses(h, "https://b.test/x"); known || err != nil {
				t.Errorf("%v: it is decided between two tries (%v)", tt, err)
			}
			h.RobotsTries = 100
			if got, known, err := r.robots.refuses(h, "https://b.test/x"); got != tt.want || !known || err != nil {
				t.Errorf("%v: %v, %t, %v", tt, got, known, err)
			}
			if got, known, err := r.robots.refuses(h, "https://b.test/robots.txt"); got != 0 || !known || err != nil {
				t.Errorf("%v: of another robots.txt %v, %t, %v", tt, got, known, err)
			}
		})
	}
}

// An answer is asked for once for all who are sent there, and kept for robots-ttl from its first byte; one that
// says nothing, for the delay of a retry.
func TestTargetAnswersAll(t *testing.T) {
	for _, tt := range []struct {
		outcome ring.Outcome
		serves  time.Duration
	}{
		{ring.Outcome{Status: 200, Robots: []byte("User-agent: *\nDisallow: /x\n")}, 24 * time.Hour},
		{ring.Outcome{Status: 404}, 24 * time.Hour},
		{ring.Outcome{Status: 503}, 5 * time.Second},
		{ring.Outcome{Cause: fetch.Timeout}, 5 * time.Second},
	} {
		inTurn(t, "[politeness]\nrobots-ttl = \"24h\"\n[retry]\ndelay = \"5s\"\n", func(r *Recorder, turn turn) {
			at := r.hostOf(t, r.met(t, "https://b.test/"))
			live := r.hosts.live.of(at.ID)
			asker := func(n int) *schema.Host { return r.hostOf(t, r.met(t, fmt.Sprintf("https://a%d.test/", n))) }
			send := func(n int) {
				h := asker(n)
				ok(t, r.robots.ask(at.ID, "https://b.test/robots.txt", waiter{step: ring.Step{
					Kind: ring.Robots, Host: at.ID, For: h.ID, URL: "https://b.test/robots.txt", Settings: r.in.set,
				}}))
				ok(t, r.robots.permit(at, live))
			}
			for n := range 3 {
				send(n)
			}
			if len(live.next) != 1 {
				t.Fatalf("three are sent there, and it is asked %d times", len(live.next))
			}
			o := tt.outcome
			o.Step, o.RetryAfter = live.next[0], -1
			o.FirstByte, o.Done = r.in.now.Add(-time.Second), r.in.now
			live.next = nil
			ok(t, turn.apply(&o))
			ok(t, r.robots.serveOn())
			answered := func(n int, want bool) {
				t.Helper()
				h := asker(n)
				if got := h.RobotsTries > 0 || h.RobotsAt.Equal(o.FirstByte.Truncate(time.Millisecond)); got != want {
					t.Errorf("%d, %v: a%d has an answer: %t", o.Status, o.Cause, n, got)
				}
			}
			for n := range 3 {
				answered(n, true)
			}
			r.in.now = o.FirstByte.Add(tt.serves - time.Millisecond)
			send(3)
			answered(3, true)
			r.in.now = o.FirstByte.Add(tt.serves)
			send(4)
			if answered(4, false); len(live.next) != 1 {
				t.Errorf("%d, %v: it is asked %d times once the answer is old", o.Status, o.Cause, len(live.next))
			}
		})
	}
}

// What is kept of answers is bounded.
func TestTargetsAreBounded(t *testing.T) {
	inTurn(t, "", func(r *Recorder, _ turn) {
		keep := func(n, size int) {
			for i := range n {
				tg := &target{url: fmt.Sprint(size, i), answer: ring.Report{Body: make([]byte, size)}}
				r.robots.targets[tg.url] = tg
				r.robots.keep(tg)
			}
		}
		keep(100, 1<<20)
		if n := len(r.robots.targets); n != 32 || len(r.robots.kept) != n || r.robots.keptBytes != 32<<20 {
			t.Errorf("%d answers of %d bytes are kept", n, r.robots.keptBytes)
		}
		keep(5000, 0)
		if n := len(r.robots.targets); n != maxAnswers || len(r.robots.kept) != n || r.robots.keptBytes != 0 {
			t.Errorf("%d answers of %d bytes are kept", n, r.robots.keptBytes)
		}
		other := robotsCache{targets: map[string]*target{}}
		if other.inherit(&r.robots); len(other.targets) != maxAnswers {
			t.Errorf("%d answers are taken over", len(other.targets))
		}
	})
}

// A redirect that the host it leads to does not permit, or that is one too many, is tried once in a run.
func TestTargetRefusedIsFinal(t *testing.T) {
	for cause, final := range map[schema.Cause]bool{
		schema.CauseManyTargets: true, schema.CauseDenied: true, schema.CauseRobots: true, schema.CauseTimeout: false,
		schema.CauseTargetGivenUp: true, schema.CauseRedirectLoop: true, schema.CauseStatus: false,
	} {
		inTurn(t, "[retry]\nmax-retries = 3\n", func(r *Recorder, _ turn) {
			h := r.hostOf(t, r.met(t, "https://b.test/"))
			r.robots.tryLater(h, schema.Reason{Cause: cause, Host: "c.test"})
			if got := clock.TriedOut(r.in.set.Config, h); got != final {
				t.Errorf("%v: tried out %t, want %t", cause, got, final)
			}
			if h.BeginRun(r.in.run.ID + 1); clock.TriedOut(r.in.set.Config, h) {
				t.Errorf("%v: tried out in the next run", cause)
			}
		})
	}
}
