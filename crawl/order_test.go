package crawl

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sumi-ripple/ripple/crawl/crawltest"
	"github.com/sumi-ripple/ripple/schema"
	"github.com/sumi-ripple/ripple/schema/weburl"
)

// near is what breadth-first search says of a page: its smallest depth and its
// distance by redirects.
type near struct{ depth, hops int }

// search is the oracle: depths and hops as two independent shortest distances
// over the pages that are visited, until nothing changes.
func (w *paperWeb) search(maxDepth int) map[string]near {
	own := func(u string) bool {
		h := weburl.Host(u)
		return h == "h0.test" || h == "h1.test"
	}
	found := map[string]near{"https://h0.test/p0": {}, "https://h1.test/p0": {}}
	for changed := true; changed; {
		changed = false
		improve := func(u string, n near) {
			if own(u) {
				n.depth = 0
			}
			if n.depth > maxDepth+1 {
				return
			}
			old, ok := found[u]
			if !ok {
				old = near{255, 255}
			}
			best := near{min(old.depth, n.depth), min(old.hops, n.hops)}
			if best != old {
				found[u], changed = best, true
			}
		}
		for _, u := range slices.Sorted(maps.Keys(found)) {
			n := found[u]
			if n.depth > maxDepth || n.hops > schema.MaxRedirects {
				continue
			}
			if to, ok := w.redirect[u]; ok && to != u {
				improve(to, near{max(1, n.depth), n.hops + 1})
			}
			for _, to := range w.links[u] {
				if to != u {
					improve(to, near{n.depth + 1, 0})
				}
			}
		}
	}
	return found
}

// TestDepthsAreShortestDistances crawls random webs in random orders, with random
// batches and kills, and compares with breadth-first search.
func TestDepthsAreShortestDistances(t *testing.T) {
	t.Parallel()
	seed, webs := crawltest.Seed(t), 60
	if crawltest.Full() {
		webs = 1500
	}
	t.Logf("%d webs", webs)
	for i := range webs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		web, maxDepth := randomWeb(r), r.IntN(4)
		p := newPaper(t, r, web, twoOrigins(maxDepth))
		got, visited := p.run(r.IntN(4))
		want := web.search(maxDepth)
		if !maps.Equal(got, want) {
			t.Fatalf("web %d of seed %d, max-depth %d: %s", i, seed, maxDepth, difference(got, want))
		}
		for u, n := range want {
			if should := n.depth <= maxDepth && n.hops <= schema.MaxRedirects; visited[u] != should {
				t.Fatalf("web %d of seed %d: %s at %v: visited %t", i, seed, u, n, visited[u])
			}
		}
	}
}

func difference(got, want map[string]near) string {
	var b strings.Builder
	for _, u := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[u]; !ok || g != want[u] {
			fmt.Fprintf(&b, "\n%s: %v, want %v", u, g, want[u])
		}
	}
	for u, g := range got {
		if _, ok := want[u]; !ok {
			fmt.Fprintf(&b, "\n%s: %v, want none", u, g)
		}
	}
	return b.String()
}
