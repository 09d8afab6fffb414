package record

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/judge"
	"github.com/sumi-ripple/ripple/crawl/ring"
	"github.com/sumi-ripple/ripple/schema"
)

// errandOf is one of the other shard of two.
func errandOf(r *Recorder, id uint64, url string) ring.Errand {
	own := r.in.store.Part().Shard
	return ring.Errand{From: 1 - own, To: own, ID: id, URL: url}
}

// permit has a host asked for what others wait for, as when it is planned.
func permit(t *testing.T, r *Recorder, h *schema.Host) {
	t.Helper()
	ok(t, r.robots.permit(h, r.hosts.live.of(h.ID)))
}

// An errand is a step in the line of its host, once, unless the host is not asked.
func TestErrandBegins(t *testing.T) {
	r, foreign := newShard(t, filepath.Join(t.TempDir(), "state.bolt"), "[[blacklist]]\ndomain = \"black.test\"\n")
	var name string // of another host of the shard
	for i := 0; name == ""; i++ {
		if h := fmt.Sprintf("gone%d.test", i); !r.in.store.ForeignName(h) {
			name = h
		}
	}
	gone := ring.Report{Cause: schema.CauseTargetGivenUp}
	for i, tt := range []struct {
		url  string
		want *ring.Report // nil: it is asked
	}{
		{"https://a.test/robots.txt", nil},
		{"https://www.a.test/x", nil},
		{"https://" + name + "/robots.txt", &gone},
		{"https://" + foreign + "/robots.txt", &gone},
		{"https://black.test/robots.txt", &gone},
		{"https://A.test/robots.txt", &gone},
		{"nonsense", &gone},
	} {
		r.turn(t, func(turn turn) {
			h := r.hostOf(t, r.met(t, "https://"+name+"/"))
			h.RunGivenUp = schema.GaveUpConnection
			asked := r.hostOf(t, r.met(t, "https://a.test/"))
			asked.RobotsAt = r.in.now // it has none
			ok(t, r.in.tx.Hosts.PutRobots(asked.ID, schema.RobotsCopy{At: asked.RobotsAt, Status: 404}))
			live := r.hosts.live.of(asked.ID)
			live.next = nil
			e := errandOf(r, uint64(i), tt.url)
			for range 2 {
				ok(t, turn.delegated.begin(e))
			}
			permit(t, r, h)
			permit(t, r, asked)
			ok(t, r.robots.serveOn())
			got, known := r.Report(e)
			if known != (tt.want != nil) || known && !cmp.Equal(got, *tt.want) {
				t.Errorf("%s: report %+v, %t; want %+v", tt.url, got, known, tt.want)
			}
			if want := 0; len(live.next) != want && known || len(live.next) != 1 && !known {
				t.Errorf("%s: %d steps", tt.url, len(live.next))
			}
		})
	}
}

// What comes of an errand is kept for who wants it, however it ends, unless it was cut short.
func TestErrandEnds(t *testing.T) {
	r, _ := newShard(t, filepath.Join(t.TempDir(), "state.bolt"), "")
	r.turn(t, func(turn turn) {
		h := r.hostOf(t, r.met(t, "https://a.test/"))
		live := r.hosts.live.of(h.ID)
		next := mustParse(t, r, "https://b.test/to")
		for i, tt := range []struct {
			name    string
			outcome ring.Outcome
			want    *ring.Report // nil: there is none
			asked   int          // steps that follow
		}{
			{"a text", ring.Outcome{Status: 200, Robots: []byte("User-agent: *")},
				&ring.Report{Status: 200, Body: []byte("User-agent: *")}, 0},
			{"a redirect", ring.Outcome{Status: 301, Location: &ring.Target{URL: next}},
				&ring.Report{Status: 301, Location: "https://b.test/to"}, 0},
			{"a fault", ring.Outcome{Status: 503}, &ring.Report{Status: 503}, 0},
			{"silence", ring.Outcome{Cause: fetch.Timeout, Detail: "10s"},
				&ring.Report{Cause: fetch.Timeout, Detail: "10s"}, 0},
			{"cut short", ring.Outcome{Cause: fetch.Cancelled}, nil, 1},
			{"a dead connection", ring.Outcome{Cause: fetch.Reset, Stale: true}, nil, 1},
		} {
			live.next = nil
			clear(r.robots.targets)
			e := errandOf(r, uint64(i), "https://a.test/robots.txt")
			ok(t, turn.delegated.begin(e))
			permit(t, r, h)
			o := tt.outcome
			o.Step, o.RetryAfter, o.FirstByte, o.Done = live.next[0], -1, r.in.now, r.in.now
			live.next = nil
			ok(t, turn.apply(&o))
			ok(t, r.robots.serveOn())
			got, known := r.Report(e)
			if known != (tt.want != nil) || known && !cmp.Equal(got, *tt.want) || len(live.next) != tt.asked {
				t.Errorf("%s: report %+v, %t, and %d steps; want %+v", tt.name, got, known, len(live.next), tt.want)
			}
			if _, open := turn.delegated.open[keyOf(&e)]; open != (tt.asked > 0) {
				t.Errorf("%s: open: %t", tt.name, open)
			}
		}
		live.next = nil
		clear(r.robots.targets)
		e := errandOf(r, 99, "https://a.test/robots.txt")
		ok(t, turn.delegated.begin(e))
		permit(t, r, h)
		h.RunGivenUp = schema.GaveUpConnection
		ok(t, turn.drop(&live.next[0]))
		ok(t, r.robots.serveOn())
		if got, known := r.Report(e); !known || got.Cause != schema.CauseTargetGivenUp {
			t.Errorf("dropped: %+v, %t", got, known)
		}
	})
}

// Neither errands nor reports fill the memory.
func TestErrandsAreBounded(t *testing.T) {
	r, _ := newShard(t, filepath.Join(t.TempDir(), "state.bolt"), "")
	r.turn(t, func(turn turn) {
		es := turn.delegated
		for i := range uint64(maxErrands + 5) {
			ok(t, es.begin(errandOf(r, i, "https://a.test/robots.txt")))
		}
		if len(es.open) != maxErrands {
			t.Errorf("%d errands are open", len(es.open))
		}
		body := make([]byte, 1<<20)
		for i := range uint64(maxReports + 5) {
			es.keep(errandKey{1, i}, ring.Report{Body: body})
		}
		size := 0
		for _, rep := range es.reports {
			size += len(rep.Body)
		}
		if size != es.size || size > maxReportBytes || len(es.reports) != len(es.oldest) || len(es.reports) == 0 {
			t.Errorf("%d reports of %d bytes, counted as %d and %d", len(es.reports), size, len(es.oldest), es.size)
		}
		for i := range uint64(maxReports + 5) {
			es.keep(errandKey{2, i}, ring.Report{})
		}
		if len(es.reports) != maxReports || len(es.oldest) != maxReports || es.size != 0 {
			t.Errorf("%d reports are kept, counted as %d, of %d bytes", len(es.reports), len(es.oldest), es.size)
		}
	})
}

// A host of another shard, to which a robots.txt redirects, has its step go round until that
// shard reports; it has no clock here, and nothing counts for it.
func TestErrandIsSent(t *testing.T) {
	r, foreign := newShard(t, filepath.Join(t.TempDir(), "state.bolt"), "")
	r.turn(t, func(turn turn) {
		h := r.hostOf(t, r.met(t, "https://a.test/"))
		to := targetOf(r, mustParse(t, r, "https://"+foreign+"/robots.txt"))
		step := ring.Step{Kind: ring.Robots, Host: h.ID, For: h.ID, URL: "https://a.test/robots.txt",
			Settings: r.in.set}
		o := &ring.Outcome{Step: step, Status: 302, Location: &to, RetryAfter: -1}
		ok(t, r.robots.apply(h, o, judge.Robots(o, h.Name, false)))
		id, err := r.hosts.find(foreign)
		ok(t, err)
		live := r.hosts.live.of(id)
		own := r.in.store.Part().Shard
		step = live.next[0]
		want := ring.Errand{From: own, To: 1 - own, ID: step.Errand.ID, URL: "https://" + foreign + "/robots.txt"}
		if *step.Errand != want || !r.hosts.live.of(h.ID).robots {
			t.Fatalf("errand %+v, want %+v", *step.Errand, want)
		}
		last := time.Duration(0)
		for range 10 { // it has no report
			waits := ring.Outcome{Step: live.next[0], Moved: true, RetryAfter: -1}
			live.next = nil
			ok(t, turn.apply(&waits))
			wait := live.ready.Sub(r.in.now)
			if len(live.next) != 1 || wait < last || wait < firstErrandWait || wait > lastErrandWait {
				t.Fatalf("%d steps, the first after %v, which was %v", len(live.next), wait, last)
			}
			last = wait
		}
		told := ring.Outcome{Step: live.next[0], FirstByte: r.in.now, Done: r.in.now, RetryAfter: -1}
		told.Bring(ring.Report{Status: 200, Body: []byte("User-agent: *\nDisallow: /x"), Age: time.Hour})
		live.next = nil
		ok(t, turn.apply(&told))
		ok(t, r.robots.serveOn())
		rules, err := r.robots.rules(h)
		if err != nil || rules == nil || rules.Check("/x").Allowed || r.hosts.live.of(h.ID).robots {
			t.Errorf("the rules of a.test are %v, %v", rules, err)
		}
		if age := r.in.now.Sub(h.RobotsAt); age < time.Hour || age > time.Hour+time.Second {
			t.Errorf("an answer that is an hour old is taken to be %v old", age)
		}
		at, err := r.hosts.load(id)
		if err != nil || at.Requests != 0 || !at.LastByte.IsZero() || r.Run().Requests != 0 {
			t.Errorf("%+v, %v, and %d requests of the run", at, err, r.Run().Requests)
		}
	})
}
