package record

import (
	"slices"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// What a host is asked, in order: its address, robots.txt, its sitemaps, its pages.
func TestDecide(t *testing.T) {
	inTurn(t, "[politeness]\nminimum-time-per-address = \"1s\"\n", func(r *Recorder, turn turn) {
		h := r.hostOf(t, r.met(t, "https://a.test/"))
		live := r.hosts.live.of(h.ID)
		decide := func() decision {
			t.Helper()
			d, err := r.plan.decide(h, live)
			ok(t, err)
			ok(t, turn.act(h, &d))
			return d
		}
		if d := decide(); d.step == nil || d.step.Kind != ring.Resolve {
			t.Fatalf("first %+v, want a look-up", d)
		}
		live.resolved = true
		if d := decide(); d.step == nil || d.step.Kind != ring.Robots || d.step.URL != "https://a.test/robots.txt" {
			t.Fatalf("then %+v, want robots.txt", d)
		}
		if d := decide(); d.step != nil || !d.wake.IsZero() || d.again {
			t.Errorf("while robots.txt is under way, %+v is decided, want nothing", d)
		}
		live.robots, h.RobotsAt = false, r.in.now
		ok(t, r.in.tx.Hosts.PutRobots(h.ID, schema.RobotsCopy{Status: 404}))
		if d := decide(); d.sitemaps == nil || !d.again {
			t.Errorf("with robots.txt, %+v is decided, want the sitemaps", d)
		}
		for _, want := range []string{"https://a.test/sitemap.xml", "https://a.test/sitemap_index.xml",
			"https://a.test/sitemap-index.xml", "https://a.test/wp-sitemap.xml",
			"https://a.test/"} {
			d := decide()
			if d.step == nil || d.step.URL != want {
				t.Fatalf("%+v is decided, want %s", d.step, want)
			}
			r.hosts.live.opened(live, d.step.ID)
		}
		if r.quotas.pages != 1 {
			t.Errorf("%d pages are reserved, want 1", r.quotas.pages)
		}
	})
}

// A host that robots.txt cannot be had of is given up, and not asked again.
func TestDecideGivesUp(t *testing.T) {
	inTurn(t, "[politeness]\nminimum-time-per-address = \"0s\"\n", func(r *Recorder, turn turn) {
		h := r.hostOf(t, r.met(t, "https://a.test/"))
		live := r.hosts.live.of(h.ID)
		h.RobotsTries, h.RobotsDue = 1, r.in.now.Add(time.Minute)
		if d, err := r.plan.decide(h, live); err != nil || !d.wake.Equal(h.RobotsDue) {
			t.Errorf("between two tries %+v, %v, want a wake", d, err)
		}
		h.RobotsTries = 100
		d, err := r.plan.decide(h, live)
		if ok(t, err); d.giveUp != schema.GaveUpRobots || !d.again {
			t.Fatalf("after the last try %+v", d)
		}
		ok(t, turn.act(h, &d))
		live.goOn(ring.Step{Kind: ring.Get, ID: 1, Host: h.ID})
		if d, err := r.plan.decide(h, live); err != nil || d.drop == nil || !d.again {
			t.Errorf("a visit goes on at a host that is given up: %+v, %v", d, err)
		}
		if d, err := r.plan.decide(h, live); err != nil || d.step != nil || d.again {
			t.Errorf("a host that is given up is asked: %+v, %v", d, err)
		}
	})
}

// A page that robots.txt forbids is settled, with the next one asked in the same
// decision, and leaves the line.
func TestDecideSettles(t *testing.T) {
	text := "[crawler]\nsitemaps = \"off\"\n[politeness]\nminimum-time-per-address = \"0s\"\n"
	inTurn(t, text, func(r *Recorder, turn turn) {
		first, second := r.met(t, "https://a.test/x/1"), r.met(t, "https://a.test/y")
		h := r.hostOf(t, first)
		h.RobotsAt = r.in.now
		rules := []byte("User-agent: *\nDisallow: /x\nDisallow: /$")
		ok(t, r.in.tx.Hosts.PutRobots(h.ID, schema.RobotsCopy{Status: 200, Text: rules}))
		for _, id := range []schema.ID{first, second} {
			ok(t, r.reach.relax(id, way{depth: 1, hops: 0}))
		}
		d, err := r.plan.decide(h, r.hosts.live.of(h.ID))
		ok(t, err)
		if len(d.settle) != 2 || d.settle[1].URL != first || d.step == nil || d.step.ID != second {
			t.Fatalf("%+v is decided", d)
		}
		ok(t, turn.act(h, &d))
		v, err := r.in.tx.Visits.At(r.in.store.Latest(first))
		if ok(t, err); v.Reason.Cause != schema.CauseDenied || v.Requests != 0 {
			t.Errorf("recorded as %v after %d requests", v.Reason, v.Requests)
		}
		if h.Waiting != 1 {
			t.Errorf("%d wait, want the one that is asked", h.Waiting)
		}
	})
}

func TestAtWWW(t *testing.T) {
	got := atWWW([]string{"https://a.test/", "https://a.test/index", "https://www.a.test/"}, "a.test")
	want := []string{"https://www.a.test/index", "https://www.a.test/", "https://a.test/", "https://a.test/index"}
	if !slices.Equal(got, want) {
		t.Errorf("atWWW = %q, want %q", got, want)
	}
}
