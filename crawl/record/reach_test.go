package record

import (
	"testing"

	"github.com/sumi-ripple/ripple/kv"
	"github.com/sumi-ripple/ripple/schema"
)

// A depth that sinks travels on over the links of the pages that were visited, as many
// in one transaction as it is told to, and queues what comes within reach.
func TestTravel(t *testing.T) {
	inTurn(t, "[crawler]\nmax-depth = 2\n", func(r *Recorder, turn turn) {
		var pages []schema.ID
		for _, host := range []string{"b", "c", "d", "e"} {
			pages = append(pages, r.met(t, "https://"+host+".test/"))
		}
		link := func(i int) []schema.Link {
			return []schema.Link{{To: pages[i+1], Kinds: schema.Kinds(0).Add(schema.LinkAnchor)}}
		}
		for i := range 2 { // without a depth, nothing is carried
			v := &schema.Visit{
				URL: pages[i], Run: r.in.run.ID, State: schema.Processed, Status: 200, Requests: 1, Links: link(i),
				Length: -1,
			}
			ok(t, turn.settle(r.hostOf(t, pages[i]), v))
		}
		want := func(what string, depths ...uint8) {
			t.Helper()
			for i, want := range depths {
				if got, _ := r.in.store.Depth(pages[i]); got != want {
					t.Errorf("%s: page %d has depth %d, want %d", what, i, got, want)
				}
			}
		}
		ok(t, r.reach.relax(pages[0], way{depth: 1, hops: 0}))
		want("before it travels", 1, 255, 255)
		ok(t, r.reach.travel(1))
		want("one page on", 1, 2, 255)
		ok(t, r.reach.travel(1))
		want("two pages on", 1, 2, 3)
		if len(r.reach.work) > 0 || r.hostOf(t, pages[2]).Waiting > 0 {
			t.Error("a page beyond max-depth is under way, or waits")
		}
		ok(t, r.reach.relax(pages[2], way{depth: 2, hops: 0}))
		if r.hostOf(t, pages[2]).Waiting != 1 {
			t.Error("a page that came within reach does not wait")
		}
		ok(t, r.reach.relax(pages[3], way{depth: 4, hops: 0}))
		want("beyond max-depth + 1", 1, 2, 2, 255)
	})
}

// A page that an earlier run left may be found to be beyond max-depth while it is being asked: then it leads nowhere,
// not even by a redirect, which is not a step.
func TestTooDeepToRedirect(t *testing.T) {
	inTurn(t, "[crawler]\nmax-depth = 2\n", func(r *Recorder, turn turn) {
		deep, away := r.met(t, "https://deep.test/"), r.met(t, "https://away.test/")
		ok(t, r.reach.relax(deep, way{depth: 3, hops: 0}))
		ok(t, turn.settle(r.hostOf(t, deep), &schema.Visit{
			URL: deep, Run: r.in.run.ID, State: schema.Processed, Status: 301, Requests: 1, RedirectTo: away,
			Links: []schema.Link{{To: away, Kinds: schema.Kinds(0).Add(schema.LinkRedirect)}}, Length: -1,
		}))
		if depth, _ := r.in.store.Depth(away); depth != kv.NoDepth {
			t.Errorf("what it redirects to has depth %d", depth)
		}
	})
}
