package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/clock"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// How long a copy of robots.txt decides, and when the file is asked for again.
func TestRulesStand(t *testing.T) {
	const day = 24 * time.Hour
	tests := []struct {
		name   string
		age    time.Duration
		tries  uint8
		due    time.Duration // of the next try
		stands bool
	}{
		{"fresh", time.Hour, 0, 0, true},
		{"old", 2 * day, 0, 0, false},
		{"old, and a try is due", 2 * day, 1, -time.Minute, false},
		{"old, between two tries", 2 * day, 1, time.Minute, true},
		{"old, after the last try", 2 * day, 100, time.Minute, true},
		{"old, and long after the last try", 2 * day, 100, -time.Minute, false},
		{"too old, after the last try", 31 * day, 100, time.Minute, false},
	}
	inTurn(t, "[politeness]\nrobots-ttl = \"24h\"\n", func(r *Recorder, _ turn) {
		h := r.hostOf(t, r.met(t, "https://a.test/"))
		ok(t, r.in.tx.Hosts.PutRobots(h.ID,
			schema.RobotsCopy{Status: 200, Text: []byte("User-agent: *\nDisallow: /x")}))
		for _, tt := range tests {
			h.RobotsAt, h.RobotsTries, h.RobotsDue = r.in.now.Add(-tt.age), tt.tries, r.in.now.Add(tt.due)
			rules, err := r.robots.rules(h)
			if err != nil || (rules != nil) != tt.stands {
				t.Errorf("%s: rules %v, %v; want some: %t", tt.name, rules, err, tt.stands)
			}
			if rules, err := r.robots.ofVisit(h); err != nil || rules == nil || rules.Check("/x").Allowed {
				t.Errorf("%s: a visit under way is not decided by the copy", tt.name)
			}
		}
	})
}

// Of a robots.txt that another host is to be asked for, the host that waits for it
// hears even if the other is never asked.
func TestRedirectedRobots(t *testing.T) {
	inTurn(t, "", func(r *Recorder, turn turn) {
		h := r.hostOf(t, r.met(t, "https://a.test/"))
		to := targetOf(r, mustParse(t, r, "https://b.test/robots.txt"))
		o := &ring.Outcome{Step: ring.Step{Kind: ring.Robots, Host: h.ID, For: h.ID, URL: "https://a.test/robots.txt",
			Settings: r.in.set}}
		ok(t, r.robots.apply(h, o, judge.RobotsVerdict{Act: judge.AskAt, Next: o.Follow(), At: &to}))
		id, err := r.hosts.find("b.test")
		ok(t, err)
		at, err := r.hosts.load(id)
		ok(t, err)
		ok(t, r.robots.permit(at, r.hosts.live.of(id)))
		next := r.hosts.live.of(id).next
		if len(next) != 1 || next[0].Host != id || next[0].For != 0 || !r.hosts.live.of(h.ID).robots {
			t.Fatalf("the other host is asked %+v, and a.test waits: %t", next, r.hosts.live.of(h.ID).robots)
		}
		step := next[0]
		r.hosts.live.of(id).next = nil
		at.RunGivenUp = schema.GaveUpRobots // its own robots.txt cannot be had: this one may
		ok(t, turn.drop(&step))
		if next := r.hosts.live.of(id).next; len(next) != 1 || h.RobotsTries != 0 {
			t.Fatalf("%d requests are left, after %d tries", len(next), h.RobotsTries)
		}
		at.RunGivenUp = schema.GaveUpConnection
		ok(t, turn.drop(&step))
		ok(t, r.robots.serveOn())
		if !clock.TriedOut(r.in.set.Config, h) || h.RobotsReason.Cause != schema.CauseTargetGivenUp || r.hosts.live.of(h.ID).robots {
			t.Errorf("after %d tries, because of %v", h.RobotsTries, h.RobotsReason)
		}
	})
}

// However long the robots.txt of many hosts are, what is kept of them in memory is bounded, and they are obeyed.
func TestParsedRobotsAreBounded(t *testing.T) {
	text := []byte("User-agent: *\nDisallow: /x\n" + strings.Repeat("Disallow: /"+strings.Repeat("y", 2000)+"\n", 240))
	for i := range 240 { // or they are one rule
		copy(text[40+2012*i:], fmt.Sprintf("%04d", i))
	}
	inTurn(t, "", func(r *Recorder, _ turn) {
		for i := range 200 {
			h := r.hostOf(t, r.met(t, fmt.Sprintf("https://h%d.test/", i)))
			h.RobotsAt = r.in.now
			ok(t, r.in.tx.Hosts.PutRobots(h.ID, schema.RobotsCopy{At: h.RobotsAt, Status: 200, Text: text}))
			if rules, err := r.robots.rules(h); err != nil || rules.Check("/x").Allowed || !rules.Check("/y").Allowed {
				t.Fatalf("host %d: %v, %v", i, rules, err)
			}
			size := 0
			for _, rules := range r.robots.parsed {
				size += rules.Size()
			}
			if size > 64<<20 || size < 400_000 {
				t.Fatalf("after %d hosts, their rules take %d bytes", i+1, size)
			}
		}
	})
}
