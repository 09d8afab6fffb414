package record

import (
	"fmt"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/schema"
)

// What robots.txt of other hosts redirect to is asked only where the host's own robots.txt, which is asked first,
// allows it, and at most at ten addresses. A robots.txt needs no permission.
func TestTargetsOfOthers(t *testing.T) {
	inTurn(t, "", func(r *Recorder, _ turn) {
		h := r.hostOf(t, r.met(t, "https://b.test/"))
		refuses := func(url string, want schema.Cause) {
			t.Helper()
			if got, err := r.book.refuses(h, "https://b.test"+url); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", url, got, err, want)
			}
		}
		refuses("/robots.txt", schema.CauseNone)
		refuses("/buy?robots.txt", schema.CauseRobots)
		if next := r.hosts.live.of(h.ID).next; len(next) != 1 || next[0].URL != "https://b.test/robots.txt" {
			t.Errorf("asked first is %+v", next)
		}
		refuses("/buy?robots.txt", schema.CauseRobots)
		if next := r.hosts.live.of(h.ID).next; len(next) != 1 {
			t.Errorf("it is asked for %d times", len(next))
		}
		h.RobotsAt = r.in.now.Add(-time.Minute)
		ok(t, r.in.tx.Hosts.PutRobots(h.ID, schema.RobotsCopy{At: h.RobotsAt, Status: 200,
			Text: []byte("User-agent: *\nDisallow: /buy\n")}))
		refuses("/buy?robots.txt", schema.CauseDenied)
		for n := range 9 {
			refuses(fmt.Sprintf("/other/%d", n), schema.CauseNone)
		}
		refuses("/other/9", schema.CauseManyTargets)
		refuses("/x/robots.txt", schema.CauseManyTargets)
		refuses("/other/3", schema.CauseNone)
		refuses("/robots.txt", schema.CauseNone)
	})
}

// A redirect that the host it leads to does not permit, or that is one too many, is tried once in a run.
func TestTargetRefusedIsFinal(t *testing.T) {
	for cause, final := range map[schema.Cause]bool{
		schema.CauseManyTargets: true, schema.CauseDenied: true, schema.CauseRobots: false, schema.CauseTimeout: false,
	} {
		inTurn(t, "[retry]\nmax-retries = 3\n", func(r *Recorder, _ turn) {
			h := r.hostOf(t, r.met(t, "https://b.test/"))
			r.book.tryLater(h, schema.Reason{Cause: cause, Host: "c.test"})
			if got := clock.TriedOut(r.in.set.Config, h); got != final {
				t.Errorf("%v: tried out %t, want %t", cause, got, final)
			}
			if h.BeginRun(r.in.run.ID + 1); clock.TriedOut(r.in.set.Config, h) {
				t.Errorf("%v: tried out in the next run", cause)
			}
		})
	}
}
