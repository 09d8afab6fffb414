package record

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/sumi-ripple/ripple/crawl/answers"
	"github.com/sumi-ripple/ripple/crawl/fetch"
	"github.com/sumi-ripple/ripple/crawl/render"
	"github.com/sumi-ripple/ripple/crawl/ring"
)

// newRenderingShard is a shard whose pages are rendered, with a host of the other one.
func newRenderingShard(t *testing.T) (*Recorder, string) {
	t.Helper()
	r, foreign := newShard(t, filepath.Join(t.TempDir(), "state.bolt"), "[[blacklist]]\ndomain = \"black.test\"\n")
	r.in.set.Answers = answers.New(t.TempDir(), 1<<20)
	t.Cleanup(func() { ok(t, r.in.set.Answers.Close()) })
	return r, foreign
}

// What scripts of another shard want is asked for once, together with what the shard's own pages
// want, and what has an answer is not asked for.
func TestLend(t *testing.T) {
	r, _ := newRenderingShard(t)
	r.turn(t, func(turn turn) {
		live := r.hosts.live.of(r.hostOf(t, r.met(t, "https://a.test/")).ID)
		e := errandOf(r, 0, "https://a.test/lib.js")
		e.Kind = ring.Asset
		for range 3 {
			ok(t, turn.delegated.begin(e))
		}
		page := ring.Outcome{Step: ring.Step{Fetched: &ring.Fetched{}}, Missing: []render.Resource{e.Resource()}}
		ok(t, turn.renderQueue.fetch(&page))
		if len(live.assets) != 1 || len(turn.renderQueue.line.usual.hosts) != 0 {
			t.Fatalf("%d requests wait, and %d pages go on", len(live.assets), len(turn.renderQueue.line.usual.hosts))
		}
		turn.renderQueue.answer(e.Resource(), &render.Answer{Status: 200})
		live.assets = nil
		ok(t, turn.delegated.begin(e))
		if len(live.assets) != 0 || len(turn.renderQueue.line.usual.hosts) != 1 || len(turn.renderQueue.lent) != 0 {
			t.Errorf("%d requests wait, %d pages go on, %d are lent", len(live.assets), len(turn.renderQueue.line.usual.hosts),
				len(turn.renderQueue.lent))
		}
		e.URL = "https://black.test/lib.js"
		ok(t, turn.delegated.begin(e))
		a, known := r.in.set.Answers.Answer(render.Request{Method: "GET", Resource: e.Resource()})
		if !known || a.Refused != "blacklist" {
			t.Errorf("of a host on the blacklist: %+v, %t", a, known)
		}
	})
}

// However much other shards want, only so much is asked for at a time, and of one host less, so
// that a slow one keeps nobody from the others. What the shard's own pages want is not bounded.
func TestLendIsBounded(t *testing.T) {
	r, _ := newRenderingShard(t)
	r.turn(t, func(turn turn) {
		var own []string // hosts of the shard
		for i := 0; len(own) < 20; i++ {
			if name := fmt.Sprintf("own%d.test", i); !r.in.store.ForeignName(name) {
				own = append(own, name)
			}
		}
		waiting := func(host string) int {
			return len(r.hosts.live.of(r.hostOf(t, r.met(t, "https://"+host+"/")).ID).assets)
		}
		total := 0
		e := errandOf(r, 0, "")
		e.Kind = ring.Asset
		for _, host := range own {
			for i := range maxLent + 5 {
				e.URL = fmt.Sprintf("https://%s/%d.js", host, i)
				ok(t, turn.delegated.begin(e))
				if lends := r.Lends(e.Resource()); lends != (i < maxLent && total < maxErrands) {
					t.Fatalf("the %dth of %s is asked for: %t, with %d in all", i, host, lends, total)
				} else if lends {
					total++
				}
			}
		}
		if total != maxErrands || waiting(own[0]) != maxLent {
			t.Errorf("%d requests wait, %d of one host", total, waiting(own[0]))
		}
		turn.renderQueue.answer(render.Resource{URL: "https://" + own[0] + "/0.js"}, &render.Answer{Status: 200})
		last := own[len(own)-1]
		e.URL = "https://" + last + "/more.js"
		ok(t, turn.delegated.begin(e))
		if !r.Lends(e.Resource()) || waiting(last) != 1 {
			t.Error("one that has its answer leaves no room for another")
		}
		page := ring.Outcome{Step: ring.Step{Fetched: &ring.Fetched{}},
			Missing: []render.Resource{{URL: "https://" + own[0] + "/own.js"}}}
		ok(t, turn.renderQueue.fetch(&page))
		if waiting(own[0]) != maxLent+1 {
			t.Error("what the shard's own page wants is not asked for")
		}
	})
}

// What scripts want of a host of another shard is that one's to ask: again after a while, as long
// as it has nothing to report, and at once where the letter was cut short.
func TestEntrusted(t *testing.T) {
	r, foreign := newRenderingShard(t)
	r.turn(t, func(turn turn) {
		wanted := render.Resource{URL: "https://" + foreign + "/lib.js", Accept: "text/csv"}
		page := ring.Outcome{Step: ring.Step{Fetched: &ring.Fetched{}}, Missing: []render.Resource{wanted}}
		ok(t, turn.renderQueue.fetch(&page))
		h := r.hostOf(t, r.met(t, "https://"+foreign+"/"))
		live := r.hosts.live.of(h.ID)
		step := func() ring.Step {
			t.Helper()
			d, err := turn.plan.decide(h, live)
			ok(t, err)
			if d.step == nil || !d.step.Entrusted() || d.step.Kind != ring.Asset || d.step.Errand.Resource() != wanted {
				t.Fatalf("the step is %+v", d.step)
			}
			return *d.step
		}
		for i, wait := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second} {
			ok(t, turn.sent(h, live, &ring.Outcome{Step: step(), Moved: true}))
			d, err := turn.plan.decide(h, live)
			ok(t, err)
			if got := d.wake.Sub(r.in.now); d.step != nil || got != wait {
				t.Errorf("after letter %d the next one waits for %v, want %v", i+1, got, wait)
			}
			r.in.now = r.in.now.Add(wait)
		}
		ok(t, turn.sent(h, live, &ring.Outcome{Step: step(), Cause: fetch.Cancelled}))
		o := ring.Outcome{Step: step()}
		o.Bring(ring.Report{Status: 200, Body: []byte("link /b")})
		ok(t, turn.sent(h, live, &o))
		a, known := r.in.set.Answers.Answer(render.Request{Method: "GET", Resource: wanted})
		if !known || string(a.Body) != "link /b" || a.Status != 200 {
			t.Errorf("the answer is %+v, %t", a, known)
		}
		if d, err := turn.plan.decide(h, live); err != nil || d.step != nil || len(turn.renderQueue.line.usual.hosts) != 1 {
			t.Errorf("then %+v, %v; %d pages go on", d.step, err, len(turn.renderQueue.line.usual.hosts))
		}
	})
}

// A shard that is refused the errand, as by one of another terrain, gives its page nothing.
func TestEntrustedIsRefused(t *testing.T) {
	o := ring.Outcome{Step: ring.Step{Kind: ring.Asset}}
	o.Bring(ring.Report{Cause: fetch.Timeout, Body: []byte("x")})
	if o.Answer == nil || o.Answer.Refused == "" || o.Answer.Body != nil {
		t.Errorf("the answer is %+v", o.Answer)
	}
}
